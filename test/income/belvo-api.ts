/** Belvo's API over real HTTP: answers in the form of its documentation, with made-up values. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BelvoAccount } from '../../src/subjects/income/sources/belvo.ts';

/** The form of the documentation (Incomes, version 1.223); the values are made up. */
export const STREAM = {
  account_id: 'EBACA-89077589',
  income_type: 'DEPOSIT',
  frequency: 'WEEKLY',
  monthly_average: 3_310_000.5,
  monthly_median: 3_250_000,
  average_income_amount: 820_000,
  last_income_amount: 810_000,
  currency: 'COP',
  last_income_description: 'PAGO PLATAFORMA',
  last_income_date: '2026-11-14',
  stability: 0.91,
  regularity: 0.8,
  trend: 0.01,
  lookback_periods: 12,
  full_periods: 4,
  periods_with_income: 4,
  number_of_incomes: 17,
  confidence: 'HIGH',
};
export const INCOMES = {
  id: '0d3ffb69',
  link: 'link-1',
  income_source_type: 'BANK',
  income_streams: [STREAM],
};
export const TOKEN = [
  { code: 'token_required', message: 'A MFA token is required', session: 'session-1', expiry: 9663 },
];

export const LINK = { id: 'link-1', institution: 'erebor_mx_retail', access_mode: 'single', status: 'valid' };
export const OWNER = {
  id: '2b22f123',
  link: 'link-1',
  display_name: 'Ana Pérez Gómez',
  document_id: { document_type: 'CC', document_number: '52345678' },
};
/** A page of a list. */
export const page = (...results: unknown[]) => ({
  count: results.length,
  next: null,
  previous: null,
  results,
});

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** What each call is answered with, by its method and the first part of its path. */
export type Answers = Readonly<Record<string, Answer>>;

export const GOOD: Answers = {
  'POST token': { status: 200, body: { access: 'access.token', refresh: 'refresh' } },
  'GET links': { status: 200, body: page(LINK) },
  'GET owners': { status: 200, body: page(OWNER) },
  'POST incomes': { status: 201, body: INCOMES },
  'PATCH incomes': { status: 200, body: [INCOMES] },
};

interface Request {
  readonly call: string;
  readonly url: string;
  readonly auth: string | undefined;
  readonly body: unknown;
}

/** Listens until `close`. `answers` may be set at any time. */
export async function startBelvoApi() {
  const requests: Request[] = [];
  const api = {
    answers: GOOD,
    requests,
    account: null as unknown as BelvoAccount,
    close: () => server.close(),
  };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const { method, url = '', headers } = request;
    const call = `${method} ${/^\/api\/(\w+)\//.exec(url)?.[1]}`;
    requests.push({ call, url, auth: headers.authorization, body: text === '' ? null : JSON.parse(text) });
    const { status, body } = api.answers[call] ?? { status: 404, body: {} };
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  api.account = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ secretId: 'id', secretPassword: 'password', returnUrl: 'https://wa.me/573000000000' },
  };
  return api;
}
