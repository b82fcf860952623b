/** The statements of registration and the forms of their results. */
import { CRITERIA } from '../domain/policy.ts';
import { type Database, isReadOnly } from './database.ts';
import {
  arrayLiteral,
  booleanArray,
  byteaArray,
  integerArray,
  RESULT_TYPES,
  smallintArray,
  textArray,
  uuidArray,
} from './pg-encoding.ts';
import type { PreparedBatch, PreparedCandidate } from './prepared-batch.ts';

/** By candidate: an application's id, or one of these. */
export const DUPLICATE = 0;
export const OVER_QUOTA = -1;

export type Verdict =
  | { readonly kind: 'done'; readonly outcomes: readonly number[]; readonly dailyCap: number | null }
  | {
      readonly kind: 'replay';
      readonly outcomes: readonly number[];
      readonly dailyCap: number | null;
      readonly draft: Buffer;
    }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'dead_key' }
  | { readonly kind: 'alone' };

const REGISTER = `
  SELECT batch, verdict, outcomes, daily_cap, draft FROM register_batches(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
    $24, $25, $26, $27, $28, $29, $30)`;

interface VerdictRow {
  batch: number;
  verdict: Verdict['kind'];
  outcomes: number[] | null;
  daily_cap: number | null;
  draft: Buffer | null;
}

/**
 * One statement for all the batches; the verdicts come in their order. `sent` becomes true before anything
 * can have reached the server: an error after that leaves the outcome in doubt unless the server answered.
 */
export async function callRegister(
  database: Database,
  policyId: number,
  batches: readonly PreparedBatch[],
  sent: { value: boolean },
): Promise<Verdict[]> {
  return call(database, registerValues(policyId, false, batches), sent);
}

/**
 * Registers a batch of which an earlier try is in doubt, or gives that try's answer. Once this resolves, the
 * earlier try cannot be registered any more, however late it comes.
 */
export async function resendRegister(
  database: Database,
  policyId: number,
  batch: PreparedBatch,
): Promise<Verdict> {
  const [verdict] = await call(database, registerValues(policyId, true, [batch]), { value: false });
  return verdict as Verdict;
}

async function call(database: Database, values: unknown[], sent: { value: boolean }): Promise<Verdict[]> {
  const client = await database.connect();
  let failed = true;
  try {
    sent.value = true;
    const { rows } = await client.query<VerdictRow>({
      name: 'register_batches',
      text: REGISTER,
      values,
      types: RESULT_TYPES,
    });
    failed = false;
    const verdicts: Verdict[] = [];
    for (const row of rows) verdicts[row.batch - 1] = verdictOf(row);
    return verdicts;
  } catch (error) {
    failed =
      !(error instanceof Error && 'severity' in error && error.severity === 'ERROR') || isReadOnly(error);
    throw error;
  } finally {
    client.release(failed);
  }
}

/** In the order of the function's parameters. */
function registerValues(policyId: number, resend: boolean, batches: readonly PreparedBatch[]): unknown[] {
  const candidates =
    batches.length === 1 ? (batches[0]?.candidates ?? []) : batches.flatMap((batch) => batch.candidates);
  const numbers = batches.flatMap((batch, index) => batch.candidates.map(() => index + 1));
  return [
    policyId,
    resend,
    uuidArray(batches, ({ id }) => id.replaceAll('-', '')),
    integerArray(batches, ({ keyId }) => keyId),
    uuidArray(batches, ({ idempotency }) => idempotency?.digest ?? null),
    uuidArray(batches, ({ idempotency }) => idempotency?.bodyDigest ?? null),
    byteaArray(batches, ({ idempotency }) => idempotency?.draft ?? null),
    byteaArray(batches, ({ envelope }) => envelope),
    integerArray(batches, (batch) => batch.candidates.length),
    smallintArray(numbers, (number) => number),
    ...candidateColumns(candidates),
  ];
}

/** The a_* parameters of `register_batches`, in its order, but for a_batch. */
export function candidateColumns(candidates: readonly PreparedCandidate[]): (Buffer | string)[] {
  return [
    smallintArray(candidates, ({ position }) => position),
    booleanArray(candidates, ({ followsOpen }) => followsOpen),
    uuidArray(candidates, ({ phoneIndex }) => phoneIndex),
    uuidArray(candidates, ({ idNumberIndex }) => idNumberIndex),
    arrayLiteral(candidates, ({ assessment }) => assessment.decision),
    arrayLiteral(candidates, ({ messageType }) => messageType),
    smallintArray(candidates, ({ assessment }) => assessment.score),
    ...CRITERIA.map((criterion) =>
      smallintArray(candidates, ({ assessment }) => assessment.points[criterion]),
    ),
    booleanArray(candidates, ({ application }) => application.messaging_optin),
    textArray(candidates, ({ application }) => application.num_debts),
    textArray(candidates, ({ application }) => application.debt_age),
    textArray(candidates, ({ application }) => application.prior_history),
    textArray(candidates, ({ application }) => application.currency),
    textArray(candidates, ({ application }) => application.platform),
    arrayLiteral(candidates, ({ application }) => application.income),
    arrayLiteral(candidates, ({ application }) => application.debt_amount),
  ];
}

function verdictOf(row: VerdictRow): Verdict {
  const outcomes = row.outcomes ?? [];
  switch (row.verdict) {
    case 'done':
      return { kind: 'done', outcomes, dailyCap: row.daily_cap };
    case 'replay':
      return { kind: 'replay', outcomes, dailyCap: row.daily_cap, draft: row.draft as Buffer };
    default:
      return { kind: row.verdict };
  }
}
