/**
 * Belvo's incomes as a source, by its documented API: `POST /api/incomes/` for a link, `PATCH /api/incomes/` with the
 * code of the bank where the answer is 428. https://developers.belvo.com/apis/belvoopenapispec/incomes
 */
import { Type } from 'typebox';
import Value from 'typebox/value';
import { monthNumber } from '../../documents/rules/month.ts';
import type { Observation } from '../rules/judge-income.ts';
import type { IncomeSource, SourceAnswer } from './income-source.ts';

/** The account of the operator. `url` has no slash at its end. */
export interface BelvoAccount {
  readonly url: string;
  readonly secretId: string;
  readonly secretPassword: string;
}

const VERSION = 'belvo incomes 1.223';
const MOST_BYTES = 2_000_000;
const SOON_MS = 30_000;
/** Streams with less are left out. */
const LEAST = 'MEDIUM';
const CONFIDENCE: Readonly<Record<string, number>> = { HIGH: 0.95, MEDIUM: 0.8, LOW: 0.4 };

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
const TOKEN_REQUIRED = Type.Array(
  Type.Object({ code: Type.Literal('token_required'), session: Type.String() }),
  {
    minItems: 1,
  },
);

/** The source of an account. Its answers are checked: what does not fit the documented form counts as nothing. */
export function belvoSource(account: BelvoAccount): IncomeSource {
  return {
    name: 'belvo',
    observe: async ({ link }, signal) =>
      link === null
        ? { kind: 'next_step', step: 'open_link', session: '' }
        : ask(account, 'POST', { link, minimum_confidence_level: LEAST, save_data: false }, signal),
    resume: async ({ link }, session, answer, signal) =>
      ask(account, 'PATCH', { session, token: answer, link, save_data: false }, signal),
  };
}

async function ask(
  { url, secretId, secretPassword }: BelvoAccount,
  method: 'POST' | 'PATCH',
  body: object,
  signal: AbortSignal,
): Promise<SourceAnswer> {
  const again = { kind: 'wait', retryAfterMs: SOON_MS } as const;
  let status: number;
  let value: unknown;
  try {
    const response = await fetch(`${url}/api/incomes/`, {
      method,
      redirect: 'manual',
      signal,
      headers: {
        Authorization: `Basic ${Buffer.from(`${secretId}:${secretPassword}`).toString('base64')}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    status = response.status;
    value = await jsonOf(response);
  } catch {
    return again;
  }
  if (status >= 500 || status === 429 || status === 408) return again;
  if (status === 428 && Value.Check(TOKEN_REQUIRED, value)) {
    return { kind: 'next_step', step: 'enter_code', session: value[0]!.session };
  }
  if (status !== 200 && status !== 201) return { kind: 'nothing', reason: `status_${status}` };
  return observedIn(Array.isArray(value) ? value[0] : value);
}

/** The value of an answer; undefined where it is no JSON. Throws where it is too long. */
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

function observedIn(value: unknown): SourceAnswer {
  if (!Value.Check(INCOMES, value)) return { kind: 'nothing', reason: 'unknown_form' };
  const streams = value.income_streams.filter(({ confidence }) => (CONFIDENCE[confidence] ?? 0) >= 0.8);
  if (streams.length === 0) return { kind: 'nothing', reason: 'no_income' };
  return {
    kind: 'observed',
    observations: streams.map(observationOf),
    confidence: Math.min(...streams.map(({ confidence }) => CONFIDENCE[confidence] ?? 0)),
    reader: VERSION,
  };
}

/** A stream tells no months but their mean and median: the lower one stands for each of its whole months. */
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
