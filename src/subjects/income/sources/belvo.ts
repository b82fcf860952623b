/**
 * Observes incomes by Belvo's documented API over the network (docs/income.md, "Sources"). The person opens Belvo's
 * hosted widget, which makes a link to a bank (`POST /api/token/`, `GET /api/links/`). Then the owner and the incomes
 * of the link are read (`GET /api/owners/`, `POST /api/incomes/`), with the code of the bank if the answer is 428
 * (`PATCH /api/incomes/`). https://developers.belvo.com/apis/belvoopenapispec
 */
import { randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import Value from 'typebox/value';
import type { Holder } from '../../../domain/document/holder.ts';
import { monthNumber } from '../../../domain/document/month.ts';
import type { Observation } from '../rules/judge-income.ts';
import type { Provider, SourceAnswer } from './income-source.ts';

// First part: what Belvo's answers say, by the documented forms. An answer in another form counts as nothing.

const VERSION = 'belvo incomes 1.223';
const CONFIDENCE: Readonly<Record<string, number>> = { HIGH: 0.95, MEDIUM: 0.8, LOW: 0.4 };
const LEAST_CONFIDENCE = 0.8;

const OPTIONAL_TEXT = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const STREAM = Type.Object({
  account_id: Type.String(),
  currency: Type.String(),
  monthly_average: Type.Number(),
  monthly_median: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
  last_income_date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
  full_periods: Type.Integer({ minimum: 0 }),
  confidence: Type.String(),
});
const INCOMES = Type.Object({ income_streams: Type.Array(STREAM, { maxItems: 1_000 }) });
const OWNER = Type.Object({
  display_name: OPTIONAL_TEXT,
  document_id: Type.Optional(Type.Union([Type.Object({ document_number: OPTIONAL_TEXT }), Type.Null()])),
});
const OWNERS = Type.Object({ results: Type.Array(OWNER, { maxItems: 1_000 }) });
const LINKS = Type.Object({
  results: Type.Array(Type.Object({ id: Type.String({ minLength: 1, maxLength: 100 }) }), {
    maxItems: 1_000,
  }),
});
const TOKEN_REQUIRED = Type.Array(
  Type.Object({ code: Type.Literal('token_required'), session: Type.String() }),
  { minItems: 1 },
);
const ACCESS = Type.Object({ access: Type.String({ minLength: 1, maxLength: 1_500 }) });

/** The access token of a widget; null: there is none. */
function accessIn(value: unknown): string | null {
  return Value.Check(ACCESS, value) ? value.access : null;
}

/** The ids of links; null: the answer has another form. */
function linksIn(value: unknown): string[] | null {
  return Value.Check(LINKS, value) ? value.results.map(({ id }) => id) : null;
}

/** The session that waits for the code of the bank; null: there is none. */
function sessionIn(value: unknown): string | null {
  return Value.Check(TOKEN_REQUIRED, value) ? value[0]!.session : null;
}

/** Whose the accounts of a link are. `unread`: Belvo has not read it yet; null: the answer has another form. */
function holderIn(value: unknown): Holder | 'unread' | null {
  if (!Value.Check(OWNERS, value)) return null;
  const [owner] = value.results;
  if (owner === undefined) return 'unread';
  return { name: owner.display_name ?? null, idNumber: owner.document_id?.document_number ?? null };
}

/** The observations of the streams of income that are certain enough. */
function observedIn(value: unknown, holder: Holder): SourceAnswer {
  if (!Value.Check(INCOMES, value)) return { kind: 'nothing', reason: 'unknown_form' };
  const sure = ({ confidence }: { readonly confidence: string }) => CONFIDENCE[confidence] ?? 0;
  const streams = value.income_streams.filter((stream) => sure(stream) >= LEAST_CONFIDENCE);
  if (streams.length === 0) return { kind: 'nothing', reason: 'no_income' };
  return {
    kind: 'observed',
    observations: streams.map(observationOf),
    confidence: Math.min(...streams.map(sure)),
    reader: VERSION,
    holder,
  };
}

/** A stream does not tell its months, only their mean and median. The lower one of both stands for each whole month. */
function observationOf(stream: Type.Static<typeof STREAM>, index: number): Observation {
  const {
    monthly_average: mean,
    monthly_median: median,
    last_income_date: last,
    full_periods: periods,
  } = stream;
  const amount = Math.floor(Math.min(mean, median ?? mean) * 100);
  const month = last.slice(0, 7);
  return {
    source: `belvo ${index + 1}`,
    currency: stream.currency,
    issued: month,
    months: Array.from({ length: Math.min(periods, 12) }, (_, ago) => ({
      month: monthBefore(month, ago + 1),
      amount,
    })),
  };
}

function monthBefore(month: string, count: number): string {
  const number = monthNumber(month) - count;
  return `${Math.floor(number / 12)}-${String((number % 12) + 1).padStart(2, '0')}`;
}

// Second part: calls to Belvo's API. The callers check the answers.

/** The operator's account at Belvo. `url` has no slash at its end. */
export interface BelvoAccount {
  readonly url: string;
  readonly secretId: string;
  readonly secretPassword: string;
  /** Where the person goes after the link; null: the page of the widget stays open. */
  readonly returnUrl: string | null;
}

/** An answer of the API; `value` is undefined if it is no JSON. */
interface BelvoAnswer {
  readonly status: number;
  readonly value: unknown;
}

const MOST_BYTES = 2_000_000;

/** Calls the API. Null if it does not answer, is busy, or answers too much: ask again. */
async function callBelvo(
  { url, secretId, secretPassword }: BelvoAccount,
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  body: object | null,
  signal: AbortSignal,
): Promise<BelvoAnswer | null> {
  try {
    const response = await fetch(`${url}/api/${path}`, {
      method,
      redirect: 'manual',
      signal,
      headers: {
        Authorization: `Basic ${Buffer.from(`${secretId}:${secretPassword}`).toString('base64')}`,
        ...(body !== null && { 'Content-Type': 'application/json' }),
      },
      ...(body !== null && { body: JSON.stringify(body) }),
    });
    const { status } = response;
    const value = await jsonOf(response);
    return status >= 500 || status === 429 || status === 408 ? null : { status, value };
  } catch {
    return null;
  }
}

/** The value of an answer; undefined if it is no JSON. Throws if it is too long. */
async function jsonOf(response: Response): Promise<unknown> {
  let bytes = 0;
  const parts: Uint8Array[] = [];
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > MOST_BYTES) throw new Error('the answer is too long');
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString());
  } catch {
    return undefined;
  }
}

const WIDGET = 'https://widget.belvo.io/';
const SOON_MS = 30_000;
const AGAIN = { kind: 'wait', retryAfterMs: SOON_MS } as const;
/** Streams with less confidence are left out. */
const LEAST = 'MEDIUM';

/**
 * How far a check has come. `person` is the name that the link has at Belvo. Nobody can guess it, so nobody can connect
 * an account for somebody else.
 */
type Session =
  | { readonly person: string }
  | { readonly person: string; readonly link: string; readonly code: string };

/** The provider with this account. Answers in another form than the documented one count as nothing. */
export function belvoProvider(account: BelvoAccount): Provider {
  return {
    name: 'belvo',
    observe: (_request, signal) => openLink(account, randomUUID(), signal),
    async resume(_request, text, code, signal) {
      const session = JSON.parse(text) as Session;
      if ('link' in session) return ask(account, session, code, signal);
      const found = await linkOf(account, session.person, signal);
      if (typeof found !== 'string') return found ?? openLink(account, session.person, signal);
      return ask(account, { person: session.person, link: found, code: '' }, null, signal);
    },
  };
}

/** The address of the widget. It is good for ten minutes, and for one link. */
async function openLink(account: BelvoAccount, person: string, signal: AbortSignal): Promise<SourceAnswer> {
  const { secretId, secretPassword, returnUrl } = account;
  const answer = await callBelvo(
    account,
    'POST',
    'token/',
    {
      id: secretId,
      password: secretPassword,
      scopes: 'read_institutions,write_links',
      fetch_resources: ['ACCOUNTS', 'TRANSACTIONS', 'OWNERS'],
      credentials_storage: 'store',
      stale_in: '30d',
      ...(returnUrl !== null && {
        widget: { callback_urls: { success: returnUrl, exit: returnUrl, event: returnUrl } },
      }),
    },
    signal,
  );
  if (answer === null) return AGAIN;
  const access = accessIn(answer.value);
  if (access === null) return nothing(answer.status);
  const link = `${WIDGET}?${new URLSearchParams({ access_token: access, external_id: person })}`;
  const session: Session = { person };
  return { kind: 'next_step', step: 'open_link', session: JSON.stringify(session), link };
}

/** The link that the person has made; null: there is none yet. */
async function linkOf(
  account: BelvoAccount,
  person: string,
  signal: AbortSignal,
): Promise<string | SourceAnswer | null> {
  const answer = await callBelvo(account, 'GET', `links/?external_id=${person}`, null, signal);
  if (answer === null) return AGAIN;
  const links = linksIn(answer.value);
  return links === null ? nothing(answer.status) : (links[0] ?? null);
}

/** Asks for the incomes of a link. After a refused code the bank sends another one. */
async function ask(
  account: BelvoAccount,
  session: Extract<Session, { link: string }>,
  code: string | null,
  signal: AbortSignal,
): Promise<SourceAnswer> {
  const { link, person } = session;
  const owners = await callBelvo(account, 'GET', `owners/?link=${encodeURIComponent(link)}`, null, signal);
  const holder = owners && holderIn(owners.value);
  // Belvo reads the owner soon after the link is made, so the answer may come later.
  if (owners === null || holder === 'unread') return AGAIN;
  if (holder === null) return nothing(owners.status);
  const body = { link, save_data: false };
  const goesOn = code !== null && session.code !== '';
  const answer = goesOn
    ? await callBelvo(account, 'PATCH', 'incomes/', { ...body, session: session.code, token: code }, signal)
    : await callBelvo(account, 'POST', 'incomes/', { ...body, minimum_confidence_level: LEAST }, signal);
  if (answer === null) return AGAIN;
  const { status, value } = answer;
  const waiting = status === 428 ? sessionIn(value) : null;
  if (waiting !== null) {
    const next: Session = { person, link, code: waiting };
    return { kind: 'next_step', step: 'enter_code', session: JSON.stringify(next) };
  }
  if (goesOn && status === 400) return ask(account, session, null, signal);
  if (status !== 200 && status !== 201) return nothing(status);
  return observedIn(Array.isArray(value) ? value[0] : value, holder);
}

function nothing(status: number): SourceAnswer {
  return { kind: 'nothing', reason: status === 200 || status === 201 ? 'unknown_form' : `status_${status}` };
}
