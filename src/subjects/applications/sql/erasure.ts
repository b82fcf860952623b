/**
 * Erases a person from applications (docs/subject.md, "Erase"): amounts, points, decision and status stay. Reads and
 * writes `batches` and what `hold_for_erasure` and `erase_applicants` lead to (`sql/functions/applications/erase.sql`).
 */

import {
  type ApplicationId,
  type BatchId,
  batchAndPositionOf,
  partitionOf,
  toApplicationId,
} from '../../../domain/application/ids.ts';
import type { ApplicationStatus } from '../../../domain/application/lifecycle.ts';
import { errorCode } from '../../../ground/base/describe-error.ts';
import { UnknownDataKeyError } from '../../../ground/base/registration-failure.ts';
import { ToldError } from '../../../ground/base/told-error.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import { byteaArray } from '../../../ground/postgres/gathering.ts';
import { requireLiveKey } from '../../../seal/data-keys.ts';
import type { Vault } from '../../../seal/vault.ts';
import { batchesOfNoKey } from './damaged-envelopes.ts';
import { type LockedBatch, lockBatches, rewrittenEnvelope } from './locked-batches.ts';
import { byPartitions } from './partition-runs.ts';

/** An application that the transaction has locked, and that is not erased yet. */
interface HeldApplication {
  readonly id: ApplicationId;
  readonly status: ApplicationStatus;
  /** Blind index, as the decimal text of a bigint. */
  readonly phone: string | null;
  /**
   * The id that the batch's envelope is bound to. It differs from that of another batch with the same number after a
   * restore.
   */
  readonly sealId: string;
}

const HOLD = 'SELECT id, status, phone_index, seal_id FROM hold_for_erasure($1) ORDER BY id';

/** The database's code for a session on a worker of Citus. */
const ON_WORKER = 'VN006';
const TO_COORDINATOR =
  'DATABASE_URL leads to a worker of Citus, and an erasure needs the coordinator: run the command with the DATABASE_URL of the coordinator';

/**
 * Locks those of the applications that are not erased yet; they hold no phone any more. Throws a `ToldError` in a
 * session on a worker of Citus.
 */
export async function holdForErasure(
  session: Transaction,
  ids: readonly ApplicationId[],
): Promise<HeldApplication[]> {
  const { rows } = await session
    .query<{
      id: string;
      status: ApplicationStatus;
      phone_index: string | null;
      seal_id: string;
    }>(HOLD, [ids])
    .catch((error: unknown) => {
      throw errorCode(error) === ON_WORKER ? new ToldError(TO_COORDINATOR) : error;
    });
  return rows.map((row) => ({
    id: toApplicationId(row.id),
    status: row.status,
    phone: row.phone_index,
    sealId: row.seal_id,
  }));
}

/** The envelopes of so many batches have 4 MiB at most. */
const BATCHES_AT_ONCE = 25;
const ERASE = 'SELECT erase_applicants($1, $2, $3, $4, $5)';

/**
 * Erases applications that the transaction holds and whose erasure it has stored: the blind indexes, the look-ups, the
 * texts of the history, and their part of each envelope, which is sealed again without them. Returns the batches whose
 * envelope does not open: nobody can read it, and it stays. Throws `UnknownDataKeyError` if an envelope needs a data
 * key that this process lacks, and a `ToldError` if the process seals with a key that is retired.
 */
export async function eraseApplicants(
  session: Transaction,
  vault: Vault,
  ids: readonly ApplicationId[],
  erasureId: string,
): Promise<BatchId[]> {
  await requireLiveKey(session, vault);
  const unopened: BatchId[] = [];
  const byBatch = Map.groupBy(ids, (id) => batchAndPositionOf(id).batchId);
  const batches = [...byBatch.keys()].sort((one, other) => Number(one) - Number(other));
  for (let start = 0; start < batches.length; start += BATCHES_AT_ONCE) {
    const some = batches.slice(start, start + BATCHES_AT_ONCE);
    const rows = await lockBatches(session, some);
    const noKey = await batchesOfNoKey(session, some);
    const rewritten = rows.map((batch) => rewrite(vault, batch, byBatch.get(batch.id) ?? [], noKey));
    await session.query(ERASE, [
      some.flatMap((batch) => byBatch.get(batch) ?? []),
      rows.map(({ id }) => id),
      byteaArray(rewritten, (envelope) => envelope || null),
      rewritten.map((envelope) => envelope !== false),
      erasureId,
    ]);
    unopened.push(...rows.filter((_, index) => rewritten[index] === false).map(({ id }) => id));
  }
  return unopened;
}

/** The envelope without these applications; null: it would hold nobody; false: it does not open. */
function rewrite(
  vault: Vault,
  batch: LockedBatch,
  erased: readonly ApplicationId[],
  noKey: ReadonlySet<BatchId>,
): Buffer | null | false {
  const leaves = new Set(erased.map((one) => batchAndPositionOf(one).position));
  try {
    return rewrittenEnvelope(vault, batch, (record, position) => (leaves.has(position) ? null : record));
  } catch (error) {
    if (error instanceof UnknownDataKeyError && !noKey.has(batch.id)) throw error;
    return false;
  }
}

const STILL = `
  SELECT g.id FROM unnest($1::bigint[], $2::uuid[]) AS g(id, seal_id)
  JOIN batches b ON b.id = batch_of(g.id) AND b.id = ANY ($3::bigint[]) AND b.seal_id = g.seal_id
  WHERE b.id_numbers[position_of(g.id) + 1] <> erased_index() ORDER BY g.id`;

/** Those of the applications that the store has, and that are not erased. */
export async function stillStored(
  session: Session,
  applications: readonly { readonly id: ApplicationId; readonly sealId: string }[],
): Promise<ApplicationId[]> {
  const found: ApplicationId[] = [];
  const sealIds = new Map(applications.map(({ id, sealId }) => [id, sealId]));
  for (const ids of byPartitions([...sealIds.keys()], partitionOf)) {
    const batches = [...new Set(ids.map((id) => batchAndPositionOf(id).batchId))];
    const { rows } = await session.query<{ id: string }>(STILL, [
      ids,
      ids.map((id) => sealIds.get(id)),
      batches,
    ]);
    found.push(...rows.map(({ id }) => toApplicationId(id)));
  }
  return found;
}

const THERE = `
  SELECT a.id FROM applications_of($1) a WHERE $2::boolean OR a.id_number_index <> erased_index() ORDER BY a.id`;

/** Those of the applications that the store has; without `also`, those whose applicant is not erased. */
export async function stillThere(
  session: Session,
  ids: readonly ApplicationId[],
  also?: 'also erased',
): Promise<ApplicationId[]> {
  const found: ApplicationId[] = [];
  for (const some of byPartitions(ids, partitionOf)) {
    const { rows } = await session.query<{ id: string }>(THERE, [some, also !== undefined]);
    found.push(...rows.map(({ id }) => toApplicationId(id)));
  }
  return found;
}
