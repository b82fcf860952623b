/**
 * An envelope is sealed before the registration, so it may hold refused applicants. It is rewritten without the refused
 * ones right after the registration, or by the upkeep where that failed.
 */
import type { BatchId } from '../domain/application/ids.ts';
import type { Database } from './database.ts';
import { type Applicant, readEnvelope, sealEnvelope } from './envelope.ts';
import { isRowFault } from './row-fault.ts';
import { leaveOutTrimmed, readSurplusRanges } from './surplus-ranges.ts';
import type { Vault } from './vault.ts';

const REWRITE = 'UPDATE batches SET envelope = $2, surplus = false WHERE id = $1 AND surplus';

/** Rewrites a batch's envelope so that it holds only the registered applicants. */
export async function keepRegistered(
  database: Database,
  vault: Vault,
  batchId: BatchId,
  sealId: string,
  registered: readonly Applicant[],
): Promise<void> {
  await database.query(REWRITE, [batchId, sealEnvelope(vault, sealId, registered)]);
}

/** From then on, the upkeep rewrites an envelope: the service that registered it failed to do so, or is gone. */
const SURPLUS_AFTER = "interval '30 seconds'";
/** How long an envelope that does not open is left alone, because its key may be restored meanwhile. */
const TRY_AGAIN_AFTER = "interval '1 hour'";
const CHUNK = 100;

/** A time in the future counts as long ago: it comes from a clock that has stepped back since. */
const FIND_SURPLUS = `
  SELECT b.id, b.seal_id FROM batches b
  WHERE b.surplus AND b.id > $1 AND b.id < $2
    AND (b.unreadable_at IS NULL OR b.unreadable_at NOT BETWEEN now() - ${TRY_AGAIN_AFTER} AND now())
  ORDER BY b.id LIMIT ${CHUNK}`;
/** A receipt has the seal id of its batch in `batch_id`. */
const FIND_MARKS = `
  SELECT r.batch_id AS seal_id, r.marks FROM batch_receipts r
  WHERE r.batch_id = ANY ($1::uuid[]) AND r.created_at NOT BETWEEN now() - ${SURPLUS_AFTER} AND now()`;
const PUT_ASIDE = 'UPDATE batches SET unreadable_at = now() WHERE id = $1 AND surplus';

/**
 * Rewrites the envelopes that `keepRegistered` did not. The marks of the receipt say who was registered. An envelope
 * that does not open, or does not fit its receipt, is put aside for an hour. Returns the ids of those batches. An envelope
 * of a data key that this process does not have is left to the next turn, or to another process.
 */
export async function trimSurplus(database: Database, vault: Vault): Promise<readonly BatchId[]> {
  const unreadable: BatchId[] = [];
  for (const range of await readSurplusRanges(database)) {
    for (let after = `${Number(range.from) - 1}`; ; ) {
      const { rows } = await database.query<Surplus>(FIND_SURPLUS, [after, range.before]);
      unreadable.push(...(await trim(database, vault, rows)));
      if (rows.length < CHUNK) break;
      after = rows.at(-1)!.id;
    }
    await leaveOutTrimmed(database, range);
  }
  return unreadable;
}

interface Surplus {
  readonly id: BatchId;
  readonly seal_id: string;
}

/** Returns the batches whose envelope cannot be trimmed. Leaves out those that are registered just now. */
async function trim(database: Database, vault: Vault, batches: readonly Surplus[]): Promise<BatchId[]> {
  if (batches.length === 0) return [];
  const receipts = await database.query<{ seal_id: string; marks: string | null }>(FIND_MARKS, [
    batches.map(({ seal_id }) => seal_id),
  ]);
  const marksOf = new Map(receipts.rows.map(({ seal_id, marks }) => [seal_id, marks]));
  const unreadable: BatchId[] = [];
  for (const { id, seal_id } of batches) {
    const marks = marksOf.get(seal_id);
    if (marks === undefined) continue;
    const kept = await keptRecords(database, vault, id, marks);
    if (kept === 'unknown_key') continue;
    if (kept === null) {
      unreadable.push(id);
      await database.query(PUT_ASIDE, [id]);
    } else {
      await database.query(REWRITE, [id, sealEnvelope(vault, seal_id, kept)]);
    }
  }
  return unreadable;
}

/** The records of the registered applicants; null if the envelope cannot tell, or that another process has its key. */
async function keptRecords(
  database: Database,
  vault: Vault,
  batchId: BatchId,
  marks: string | null,
): Promise<Applicant[] | null | 'unknown_key'> {
  try {
    const records = await readEnvelope(database, vault, batchId);
    if (records === 'unknown_key') return records;
    if (records === null || marks === null) return null;
    const candidates = [...marks].flatMap((mark, position) => (mark === '-' ? [] : [String(position)]));
    const entries = Object.entries(records);
    if (entries.length !== candidates.length || !candidates.every((position) => position in records))
      return null;
    return entries
      .map(([position, application]) => ({ position: Number(position), application }))
      .filter(({ position }) => marks[position] === 'R');
  } catch (error) {
    if (isRowFault(error)) return null;
    throw error;
  }
}
