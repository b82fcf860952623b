/**
 * Calls the registering statement `register_batches`, and reads its results (D15-D18;
 * `sql/functions/applications/register.sql`, which writes the tables).
 */
import {
  type ApplicationId,
  applicationIdAt,
  type BatchId,
  toBatchId,
} from '../../../domain/application/ids.ts';
import type { Outcome } from '../../../domain/application/read-application.ts';
import type { KeyId } from '../../../domain/partner/credential.ts';
import { type Database, isReadOnly, isUndone } from '../../../ground/postgres/database.ts';
import {
  arrayLiteral,
  bigintArray,
  booleanArray,
  byteaArray,
  integerArray,
  smallintArray,
  textArray,
  uuidArray,
} from '../../../ground/postgres/gathering.ts';
import type { PreparedBatch, PreparedCandidate } from './prepared-batch.ts';

/** The outcome that the store gives a candidate: its application, or why there is none. */
type StoredOutcome =
  | { readonly kind: Extract<Outcome['kind'], 'registered'>; readonly id: ApplicationId }
  | { readonly kind: Extract<Outcome['kind'], 'duplicate' | 'over_quota'> };

/** The outcomes of candidates that were not registered, by their letters in `batch_receipts`. */
const REFUSALS = {
  D: { kind: 'duplicate' },
  Q: { kind: 'over_quota' },
} as const satisfies Record<string, StoredOutcome>;

/** A registered batch, as its receipt has it. */
export class RegisteredBatch {
  readonly id: BatchId;
  readonly #outcomes: string | null;

  /** `outcomes` as in `batch_receipts`. */
  constructor(id: BatchId, outcomes: string | null) {
    this.id = id;
    this.#outcomes = outcomes;
  }

  /** Whether any of these candidates was registered. */
  hasRegistered(candidates: readonly { readonly position: number }[]): boolean {
    return candidates.some(({ position }) => this.isRegistered(position));
  }

  /** Whether the candidate at a position was registered. */
  isRegistered(position: number): boolean {
    const letter = this.#outcomes?.[position];
    return letter !== 'D' && letter !== 'Q';
  }

  /** The outcome of the candidate at a position. */
  outcomeAt(position: number): StoredOutcome {
    const letter = this.#outcomes?.[position];
    if (letter === 'D' || letter === 'Q') return REFUSALS[letter];
    return { kind: 'registered', id: applicationIdAt(this.id, position) };
  }
}

export type Verdict =
  | { readonly kind: 'done'; readonly batch: RegisteredBatch; readonly dailyCap: number | null }
  | {
      readonly kind: 'replay';
      readonly batch: RegisteredBatch;
      readonly dailyCap: number | null;
      readonly draft: Buffer;
    }
  | { readonly kind: 'idempotency_reuse' }
  | { readonly kind: 'dead_key' }
  /** Another policy is live: nothing is registered, and the batch has to be scored again. */
  | { readonly kind: 'policy_changed' }
  | { readonly kind: 'alone' };

const REGISTER = `
  SELECT batch, verdict, number, outcomes, daily_cap, draft FROM register_batches(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)`;

interface VerdictRow {
  batch: number;
  verdict: Verdict['kind'];
  number: string | null;
  outcomes: string | null;
  daily_cap: number | null;
  draft: Buffer | null;
}

/** What a process registers all batches with. */
export interface RegistrationTerms {
  /** The fingerprint of the key of the blind indexes (`Vault.indexKeyId`). */
  readonly indexKeyId: string;
}

/** How far a failed registering statement came. Between `isSent` and `isUndone` the outcome is in doubt. */
export interface Progress {
  /** Something may have reached the server. */
  isSent: boolean;
  /** The server has undone the statement. */
  isUndone: boolean;
}

/**
 * Registers all batches, which one policy has scored, in one statement; the verdicts come in their order.
 * `isRefusedBefore` says of which keys the
 * last batch registered nothing (`b_refused_before` of `register_batches`). `progress` says how far a failed statement
 * came.
 */
export async function callRegister(
  database: Database,
  terms: RegistrationTerms,
  batches: readonly PreparedBatch[],
  isRefusedBefore: (keyId: KeyId) => boolean,
  progress: Progress,
): Promise<Verdict[]> {
  return callRegisterBatches(database, registerValues(terms, false, batches, isRefusedBefore), progress);
}

/**
 * Registers a batch whose earlier try is in doubt, or gives that try's answer. Once this resolves, the earlier try
 * cannot be registered any more, however late it arrives.
 */
export async function resendRegister(
  database: Database,
  terms: RegistrationTerms,
  batch: PreparedBatch,
): Promise<Verdict> {
  const values = registerValues(terms, true, [batch], () => false);
  const [verdict] = await callRegisterBatches(database, values, { isSent: false, isUndone: false });
  return verdict as Verdict;
}

async function callRegisterBatches(
  database: Database,
  values: unknown[],
  progress: Progress,
): Promise<Verdict[]> {
  const client = await database.connect();
  let failed = true;
  try {
    progress.isSent = true;
    const { rows } = await client.query<VerdictRow>({
      name: 'register_batches',
      text: REGISTER,
      values,
    });
    failed = false;
    const verdicts: Verdict[] = [];
    for (const row of rows) verdicts[row.batch - 1] = verdictOf(row);
    return verdicts;
  } catch (error) {
    progress.isUndone = await isUndone(client, error);
    failed = !progress.isUndone || isReadOnly(error);
    throw error;
  } finally {
    client.release(failed);
  }
}

/** The values in the order of the function's parameters. */
function registerValues(
  { indexKeyId }: RegistrationTerms,
  resend: boolean,
  batches: readonly PreparedBatch[],
  isRefusedBefore: (keyId: KeyId) => boolean,
): unknown[] {
  const positions = batches.length === 1 ? byPosition(batches[0]!) : batches.flatMap(byPosition);
  const numbers = batches.flatMap((batch, index) => new Array<number>(batch.positions).fill(index + 1));
  return [
    batches[0]!.policyId,
    indexKeyId,
    resend,
    uuidArray(batches, ({ id }) => id.replaceAll('-', '')),
    integerArray(batches, ({ keyId }) => keyId),
    uuidArray(batches, ({ idempotency }) => idempotency?.digest ?? null),
    uuidArray(batches, ({ idempotency }) => idempotency?.bodyDigest ?? null),
    byteaArray(batches, ({ idempotency }) => idempotency?.draft ?? null),
    byteaArray(batches, ({ envelope }) => envelope),
    byteaArray(batches, ({ facts }) => facts.bytes),
    textArray(batches, ({ facts }) => facts.platforms),
    integerArray(batches, (batch) => batch.positions),
    integerArray(batches, (batch) => batch.candidates.length),
    booleanArray(batches, ({ keyId }) => isRefusedBefore(keyId)),
    smallintArray(numbers, (number) => number),
    ...candidateColumns(positions),
  ];
}

type Position = PreparedCandidate | null;

function byPosition({ candidates, positions }: PreparedBatch): readonly Position[] {
  if (candidates.length === positions) return candidates;
  const atPosition = new Array<Position>(positions).fill(null);
  for (const candidate of candidates) atPosition[candidate.position] = candidate;
  return atPosition;
}

/** The a_* parameters of `register_batches` in its order, without a_batch. */
export function candidateColumns(positions: readonly Position[]): (Buffer | string)[] {
  return [
    booleanArray(positions, (candidate) => candidate?.followsOpen ?? false),
    bigintArray(positions, (candidate) => candidate?.phoneIndex ?? null),
    bigintArray(positions, (candidate) => candidate?.idNumberIndex ?? null),
    arrayLiteral(positions, (candidate) => candidate?.assessment.decision ?? null),
    arrayLiteral(positions, (candidate) => candidate?.messageType ?? null),
  ];
}

function verdictOf(row: VerdictRow): Verdict {
  const batch = new RegisteredBatch(toBatchId(row.number ?? 0), row.outcomes);
  switch (row.verdict) {
    case 'done':
      return { kind: 'done', batch, dailyCap: row.daily_cap };
    case 'replay':
      return { kind: 'replay', batch, dailyCap: row.daily_cap, draft: row.draft as Buffer };
    default:
      return { kind: row.verdict };
  }
}
