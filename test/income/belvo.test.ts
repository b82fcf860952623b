/** A provider's API as a source of incomes, against answers in its documented form over real HTTP. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, it } from 'node:test';
import { toApplicationId } from '../../src/applications/rules/ids.ts';
import { DEFAULT_INCOME_RULES } from '../../src/applications/rules/policy.ts';
import { judgeIncome } from '../../src/income/rules/judge-income.ts';
import { belvoSource } from '../../src/income/sources/belvo.ts';

/** The form of the documentation (Incomes, version 1.223); the values are made up. */
const STREAM = {
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
const INCOMES = { id: '0d3ffb69', link: 'link-1', income_source_type: 'BANK', income_streams: [STREAM] };
const TOKEN = [
  { code: 'token_required', message: 'A MFA token is required', session: 'session-1', expiry: 9663 },
];

type Answer = { readonly status: number; readonly body: unknown };
let answer: Answer = { status: 500, body: '' };
const requests: {
  method: string | undefined;
  url: string | undefined;
  auth: string | undefined;
  body: unknown;
}[] = [];
const server = createServer(async (request, response) => {
  let text = '';
  for await (const part of request) text += part;
  const { method, url, headers } = request;
  requests.push({ method, url, auth: headers.authorization, body: JSON.parse(text) });
  const { status, body } = answer;
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}).listen(0, '127.0.0.1');
after(() => server.close());
await new Promise((done) => server.once('listening', done));

const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const source = belvoSource({ url, secretId: 'id', secretPassword: 'password' });
const request = { applicationId: toApplicationId(128), currency: 'COP', link: 'link-1' };
const signal = () => AbortSignal.timeout(5_000);
const answered = (next: Answer) => {
  answer = next;
  return source.observe(request, signal());
};

it('a person without a link has to open one', async () => {
  assert.deepEqual(await source.observe({ ...request, link: null }, signal()), {
    kind: 'next_step',
    step: 'open_link',
    session: '',
  });
});

it('the incomes of a link are whole months of the lower of mean and median', async () => {
  const observed = await answered({ status: 201, body: INCOMES });
  assert.deepEqual(requests.at(-1), {
    method: 'POST',
    url: '/api/incomes/',
    auth: `Basic ${Buffer.from('id:password').toString('base64')}`,
    body: { link: 'link-1', minimum_confidence_level: 'MEDIUM', save_data: false },
  });
  assert.ok(observed.kind === 'observed');
  assert.deepEqual([observed.confidence, observed.reader], [0.95, 'belvo incomes 1.223']);
  const calendar = { lastWhole: '2026-10', latest: '2026-11' };
  const assess = () => assert.fail('not scored again');
  const declared = { income: 3_300_000, currency: 'COP', decision: 'approved', assess } as const;
  const judged = judgeIncome(declared, observed.observations, calendar, DEFAULT_INCOME_RULES);
  assert.deepEqual([judged.reason, judged.observed], ['confirmed', 325_000_000]);
});

it('a bank that asks for a code needs the person, whose code goes on with the session', async () => {
  const step = await answered({ status: 428, body: TOKEN });
  assert.deepEqual(step, { kind: 'next_step', step: 'enter_code', session: 'session-1' });
  answer = { status: 200, body: [INCOMES] };
  const observed = await source.resume(request, 'session-1', '123456', signal());
  assert.equal(observed.kind, 'observed');
  assert.deepEqual(requests.at(-1)?.body, {
    session: 'session-1',
    token: '123456',
    link: 'link-1',
    save_data: false,
  });
  assert.equal(requests.at(-1)?.method, 'PATCH');
});

it('a busy or silent provider is asked again, and what does not fit the form counts as nothing', async () => {
  for (const status of [500, 503, 429, 408]) {
    assert.equal((await answered({ status, body: '' })).kind, 'wait', `${status}`);
  }
  const nothing: readonly [Answer, string][] = [
    [{ status: 201, body: { ...INCOMES, income_streams: [] } }, 'no_income'],
    [{ status: 201, body: { ...INCOMES, income_streams: [{ ...STREAM, confidence: 'LOW' }] } }, 'no_income'],
    [
      { status: 201, body: { ...INCOMES, income_streams: [{ ...STREAM, monthly_average: 'much' }] } },
      'unknown_form',
    ],
    [{ status: 201, body: 'no JSON' }, 'unknown_form'],
    [{ status: 401, body: {} }, 'status_401'],
    [{ status: 302, body: {} }, 'status_302'],
    [{ status: 428, body: {} }, 'status_428'],
  ];
  for (const [next, reason] of nothing) {
    assert.deepEqual(await answered(next), { kind: 'nothing', reason });
  }
  assert.equal((await answered({ status: 201, body: `"${'x'.repeat(3_000_000)}"` })).kind, 'wait');
  const dead = belvoSource({ url: 'http://127.0.0.1:1', secretId: 'id', secretPassword: 'p' });
  assert.equal((await dead.observe(request, signal())).kind, 'wait');
});
