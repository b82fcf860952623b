/**
 * Finds envelopes whose first byte, the id of their data key, is damaged: they name a key that no service has. Reads
 * `batches`. ARCHITECTURE, "Personal data", has the rule.
 */
import { type BatchId, partitionOfBatch } from '../../../domain/application/ids.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { knownDataKeys } from '../../../seal/data-keys.ts';
import { byPartitions } from './partition-runs.ts';

/**
 * A separate statement, because on a cluster a statement about a table of the coordinator may not ask other machines.
 */
const KEYS_OF_BATCHES = `
  SELECT id, get_byte(substring(envelope FROM 1 FOR 1), 0) AS key FROM batches
  WHERE id = ANY ($1::bigint[]) AND created_at < now() - interval '1 day' AND octet_length(envelope) > 0`;

/**
 * Those of the batches whose envelope names a data key that no service of this database has. Then the first byte of the
 * envelope is damaged. Leaves out the batches of the last day, because a service that just started may not have named
 * its key yet (`SealMark`).
 */
export async function batchesOfNoKey(session: Session, batchIds: readonly BatchId[]): Promise<Set<BatchId>> {
  const damaged = new Set<BatchId>();
  if (batchIds.length === 0) return damaged;
  const known = await knownDataKeys(session);
  for (const ids of byPartitions(batchIds, partitionOfBatch)) {
    const { rows } = await session.query<{ id: BatchId; key: number }>(KEYS_OF_BATCHES, [ids]);
    for (const { id, key } of rows) if (!known.has(key)) damaged.add(id);
  }
  return damaged;
}
