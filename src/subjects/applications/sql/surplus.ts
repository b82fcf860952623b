/**
 * Trims envelopes: removes applicants who are not applications. An envelope is sealed before the registration, so it
 * may hold refused applicants; it is rewritten right after the registration, or by the upkeep if that failed. The
 * upkeep also removes applicants whose applications RETENTION_DAYS has deleted. Reads and writes `batches` and
 * `closed_segments`. docs/decisions/0001-one-envelope-a-batch.md has the rule.
 */

import type { BatchId } from '../../../domain/application/ids.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { isRowFault } from '../../../ground/postgres/row-fault.ts';
import type { Vault } from '../../../seal/vault.ts';
import { type Applicant, rewriteEnvelope } from './envelope.ts';
import { readEnvelope } from './read-envelopes.ts';

/**
 * After this time the upkeep rewrites an envelope, because the service that registered it failed to do so, or has
 * ended.
 */
const SURPLUS_AFTER = '30 seconds';
/** How long an envelope that does not open is left alone, because its key may be restored meanwhile. */
const TRY_AGAIN_AFTER = "interval '1 hour'";
const CHUNK = 100;
/** Other jobs of the upkeep wait meanwhile: a partition that is written again may have a hundred thousand envelopes. */
const TRIM_FOR_MS = 10_000;

/** A time in the future counts as long ago: it comes from a clock that has stepped back since. */
const FIND_SURPLUS = `
  SELECT b.id, b.seal_id, array_positions(b.id_numbers, NULL) AS gone, cardinality(b.id_numbers) AS positions FROM batches b
  WHERE b.surplus AND b.id > $1 AND b.id < $2 AND b.created_at NOT BETWEEN now() - $3::interval AND now()
    AND (b.unreadable_at IS NULL OR b.unreadable_at NOT BETWEEN now() - ${TRY_AGAIN_AFTER} AND now())
  ORDER BY b.id LIMIT ${CHUNK}`;
const PUT_ASIDE = 'UPDATE batches SET unreadable_at = now() WHERE id = $1 AND surplus';

interface TrimOptions {
  /** About how long it works. */
  readonly forMs?: number;
  /** The age from which an envelope is trimmed, as an interval of the database. */
  readonly after?: string;
}

/**
 * Rewrites envelopes that hold more applicants than their batch has applications: those that the registration did not
 * trim, and those of batches whose other applications retention has deleted. The row of the batch says which applicants
 * stay. Returns the ids of batches whose envelope does not open: such an envelope is left alone for an hour. An
 * envelope of a data key that this process does not have is left to the next turn, or to another process. So are
 * envelopes after about ten seconds of work.
 */
export async function trimSurplus(
  database: Database,
  vault: Vault,
  clock: Clock,
  { forMs = TRIM_FOR_MS, after = SURPLUS_AFTER }: TrimOptions = {},
): Promise<readonly BatchId[]> {
  const unreadable: BatchId[] = [];
  const until = clock.monotonicMs() + forMs;
  for (const range of await readSurplusRanges(database)) {
    for (let last = `${Number(range.from) - 1}`; ; ) {
      const { rows } = await database.query<Surplus>(FIND_SURPLUS, [last, range.before, after]);
      unreadable.push(...(await trim(database, vault, rows)));
      if (rows.length < CHUNK) break;
      if (clock.monotonicMs() > until) return unreadable;
      last = rows.at(-1)!.id;
    }
    await leaveOutTrimmed(database, range);
  }
  return unreadable;
}

interface Surplus {
  readonly id: BatchId;
  readonly seal_id: string;
  /** The positions without an application, from 1 on. */
  readonly gone: readonly number[];
  readonly positions: number;
}

/** Returns the batches whose envelope cannot be trimmed. */
async function trim(database: Database, vault: Vault, batches: readonly Surplus[]): Promise<BatchId[]> {
  const unreadable: BatchId[] = [];
  for (const batch of batches) {
    const kept = await keptRecords(database, vault, batch);
    if (kept === 'unknown_key') continue;
    if (kept === null) {
      unreadable.push(batch.id);
      await database.query(PUT_ASIDE, [batch.id]);
    } else {
      await rewriteEnvelope(database, vault, { id: batch.id, sealId: batch.seal_id }, kept, batch.gone);
    }
  }
  return unreadable;
}

/** The records of the applicants who stay; null if the envelope does not open. */
async function keptRecords(
  database: Database,
  vault: Vault,
  { id, gone, positions }: Surplus,
): Promise<Applicant[] | null | 'unknown_key'> {
  try {
    const records = await readEnvelope(database, vault, id);
    if (records === null || records === 'unknown_key') return records;
    return Object.entries(records)
      .map(([position, application]) => ({ position: Number(position), application }))
      .filter(({ position }) => position < positions && !gone.includes(position + 1));
  } catch (error) {
    if (isRowFault(error)) return null;
    throw error;
  }
}

/** Batch numbers of few partitions: `from` <= id < `before`. */
interface SurplusRange {
  readonly from: BatchId;
  readonly before: BatchId;
  /** No new batch can come into the range. */
  readonly isClosed: boolean;
}

const READ = `
  SELECT begins_at AS from, ends_at AS before, in_buckets AS "isClosed" FROM closed_segments WHERE may_have_surplus
  UNION ALL SELECT open_from, partitions_end, false FROM elapsed`;

/** The ranges with batches whose envelope may still hold refused applicants: nearly always only the newest batches. */
async function readSurplusRanges(database: Database): Promise<SurplusRange[]> {
  return (await database.query<SurplusRange>(READ)).rows;
}

const HAS = 'SELECT FROM batches WHERE surplus AND id >= $1 AND id < $2 LIMIT 1';
/** Does nothing if the segment was joined with others meanwhile. */
const CLEAR = 'UPDATE closed_segments SET may_have_surplus = false WHERE begins_at = $1 AND ends_at = $2';

/** Leaves a closed range out from now on, if it holds no such batch any more. */
async function leaveOutTrimmed(database: Database, { from, before, isClosed }: SurplusRange): Promise<void> {
  if (isClosed && (await database.query(HAS, [from, before])).rows.length === 0) {
    await database.query(CLEAR, [from, before]);
  }
}
