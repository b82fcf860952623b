/**
 * An envelope is sealed before the registration, so it may hold refused applicants. It is rewritten without the refused
 * ones right after the registration, or by the upkeep where that failed.
 */
import type { BatchId } from '../domain/application/ids.ts';
import type { Database } from './database.ts';
import { type Applicant, readEnvelope, sealEnvelope } from './envelope.ts';
import { isRowFault } from './row-fault.ts';
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

/**
 * A time in the future counts as long ago: it comes from a clock that has stepped back since. A receipt has the seal id
 * of its batch in `batch_id`.
 */
const FIND_SURPLUS = `
  SELECT b.id, b.seal_id, r.marks FROM batches b JOIN batch_receipts r ON r.batch_id = b.seal_id
  WHERE b.surplus AND r.created_at NOT BETWEEN now() - ${SURPLUS_AFTER} AND now()
    AND (b.unreadable_at IS NULL OR b.unreadable_at NOT BETWEEN now() - ${TRY_AGAIN_AFTER} AND now())
  ORDER BY b.id LIMIT ${CHUNK}`;
const PUT_ASIDE = 'UPDATE batches SET unreadable_at = now() WHERE id = $1 AND surplus';

/**
 * Rewrites the envelopes that `keepRegistered` did not. The marks of the receipt say who was registered. An envelope
 * that does not open, or does not fit its receipt, is put aside for an hour. Returns the ids of those batches.
 */
export async function trimSurplus(database: Database, vault: Vault): Promise<readonly BatchId[]> {
  const unreadable: BatchId[] = [];
  for (;;) {
    const { rows } = await database.query<Surplus>(FIND_SURPLUS);
    for (const { id, seal_id, marks } of rows) {
      const kept = await keptRecords(database, vault, id, marks);
      if (kept === null) {
        unreadable.push(id);
        await database.query(PUT_ASIDE, [id]);
      } else {
        await database.query(REWRITE, [id, sealEnvelope(vault, seal_id, kept)]);
      }
    }
    if (rows.length < CHUNK) return unreadable;
  }
}

interface Surplus {
  readonly id: BatchId;
  readonly seal_id: string;
  /** As in `batch_receipts`. */
  readonly marks: string | null;
}

/** The records of the registered applicants; null if the envelope cannot tell. */
async function keptRecords(
  database: Database,
  vault: Vault,
  batchId: BatchId,
  marks: string | null,
): Promise<Applicant[] | null> {
  try {
    const records = await readEnvelope(database, vault, batchId);
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
