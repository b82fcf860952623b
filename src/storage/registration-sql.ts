/** The statements of registration and the forms of their results. */
import { CRITERIA } from '../domain/policy.ts';
import type { Database } from './database.ts';
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
import type { PreparedBatch } from './prepared-batch.ts';

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
    $24, $25, $26, $27, $28, $29)`;

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
  const values = registerValues(policyId, batches);
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
    failed = !(error instanceof Error && 'severity' in error && error.severity === 'ERROR');
    throw error;
  } finally {
    client.release(failed);
  }
}

/** In the order of the function's parameters. */
function registerValues(policyId: number, batches: readonly PreparedBatch[]): unknown[] {
  const all = batches.flatMap(({ candidates }) => candidates);
  const numbers = batches.flatMap(({ candidates }, index) => candidates.map(() => index + 1));
  return [
    policyId,
    uuidArray(batches.map(({ id }) => id.replaceAll('-', ''))),
    integerArray(batches.map(({ keyId }) => keyId)),
    uuidArray(batches.map(({ idempotency }) => idempotency?.digest ?? null)),
    uuidArray(batches.map(({ idempotency }) => idempotency?.bodyDigest ?? null)),
    byteaArray(batches.map(({ idempotency }) => idempotency?.draft ?? null)),
    integerArray(batches.map(({ candidates }) => candidates.length)),
    smallintArray(numbers),
    smallintArray(all.map(({ position }) => position)),
    smallintArray(all.map(({ turn }) => turn)),
    uuidArray(all.map(({ phoneIndex }) => phoneIndex)),
    uuidArray(all.map(({ idNumberIndex }) => idNumberIndex)),
    arrayLiteral(all.map(({ assessment }) => assessment.decision)),
    arrayLiteral(all.map(({ messageType }) => messageType)),
    smallintArray(all.map(({ assessment }) => assessment.score)),
    ...CRITERIA.map((criterion) => smallintArray(all.map(({ assessment }) => assessment.points[criterion]))),
    booleanArray(all.map(({ application }) => application.messaging_optin)),
    textArray(all.map(({ application }) => application.num_debts)),
    textArray(all.map(({ application }) => application.debt_age)),
    textArray(all.map(({ application }) => application.prior_history)),
    textArray(all.map(({ application }) => application.currency)),
    textArray(all.map(({ application }) => application.platform)),
    arrayLiteral(all.map(({ application }) => application.income)),
    arrayLiteral(all.map(({ application }) => application.debt_amount)),
    byteaArray(all.map(({ sealed }) => sealed)),
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

const READ_RECEIPT = `
  SELECT batch_id, outcomes, daily_cap, body_digest, draft FROM batch_receipts
  WHERE batch_id = $1 OR (api_key_id = $2 AND idempotency_digest = $3)`;

/** What the receipt of this batch, or of the batch that had its Idempotency-Key first, answers; null without. */
export async function readReceipt(database: Database, batch: PreparedBatch): Promise<Verdict | null> {
  const { rows } = await database.query<{
    batch_id: string;
    outcomes: number[];
    daily_cap: number | null;
    body_digest: string | null;
    draft: Buffer | null;
  }>({
    text: READ_RECEIPT,
    values: [batch.id, batch.keyId, batch.idempotency?.digest ?? null],
    types: RESULT_TYPES,
  });
  const receipt = rows[0];
  if (receipt === undefined) return null;
  const answer = { outcomes: receipt.outcomes, dailyCap: receipt.daily_cap };
  if (receipt.batch_id === batch.id) return { kind: 'done', ...answer };
  if (receipt.body_digest?.replaceAll('-', '') !== batch.idempotency?.bodyDigest) return { kind: 'mismatch' };
  return { kind: 'replay', ...answer, draft: receipt.draft as Buffer };
}
