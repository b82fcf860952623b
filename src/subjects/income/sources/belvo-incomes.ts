/** What Belvo's answers say, by the documented forms: what does not fit counts as nothing. */
import { Type } from 'typebox';
import Value from 'typebox/value';
import type { Holder } from '../../../domain/document/holder.ts';
import { monthNumber } from '../../../domain/document/month.ts';
import type { Observation } from '../rules/judge-income.ts';
import type { SourceAnswer } from './income-source.ts';

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
export function accessIn(value: unknown): string | null {
  return Value.Check(ACCESS, value) ? value.access : null;
}

/** The ids of links; null: the answer has another form. */
export function linksIn(value: unknown): string[] | null {
  return Value.Check(LINKS, value) ? value.results.map(({ id }) => id) : null;
}

/** The session that waits for the code of the bank; null: none does. */
export function sessionIn(value: unknown): string | null {
  return Value.Check(TOKEN_REQUIRED, value) ? value[0]!.session : null;
}

/** Whose the accounts of a link are; `unread`: the provider has not read it yet; null: the answer has another form. */
export function holderIn(value: unknown): Holder | 'unread' | null {
  if (!Value.Check(OWNERS, value)) return null;
  const [owner] = value.results;
  if (owner === undefined) return 'unread';
  return { name: owner.display_name ?? null, idNumber: owner.document_id?.document_number ?? null };
}

/** The streams of income that are certain enough. */
export function observedIn(value: unknown, holder: Holder): SourceAnswer {
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
