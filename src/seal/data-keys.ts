/** Which data keys the services of a database have, and which they seal with. */
import { type BatchId, partitionOfBatch } from '../applications/rules/ids.ts';
import { byPartitions } from '../applications/sql/partition-runs.ts';
import type { Database, Session } from '../postgres/database.ts';
import type { Vault } from './vault.ts';

/** The prefix of the name of a data key in `secret_checks`; its id follows. */
export const DATA_KEY = 'DATA_KEYS ';
const SEALING = 'SELECT name FROM secret_checks WHERE seals ORDER BY name';

/** The ids of data keys that services of this database seal with and this process does not have. */
export async function unknownDataKeys(database: Database, vault: Vault): Promise<number[]> {
  const { rows } = await database.query<{ name: string }>(SEALING);
  return rows.map(({ name }) => Number(name.slice(DATA_KEY.length))).filter((id) => !vault.hasDataKey(id));
}

const MARK_SEALING = `
  INSERT INTO secret_checks AS known (name, value, confirmed, seals)
  SELECT $1::text, $2::uuid, true, true WHERE NOT EXISTS (SELECT FROM secret_checks WHERE name = $1 AND seals)
  ON CONFLICT (name) DO UPDATE SET seals = true`;

/**
 * Says that this process seals with its first data key. A service that started later without that key has forgotten the
 * key if nothing was sealed with it then; its `/readyz` needs to know.
 */
export async function markSealing(database: Database, vault: Vault): Promise<void> {
  const { id, fingerprint } = vault.sealingKey;
  await database.query(MARK_SEALING, [`${DATA_KEY}${id}`, fingerprint]);
}

const DATA_KEYS = `SELECT name FROM secret_checks WHERE name LIKE '${DATA_KEY}%'`;
/** A statement of its own: on a cluster, a statement about a table of the coordinator may not ask other machines. */
const KEYS_OF_BATCHES = `
  SELECT id, get_byte(substring(envelope FROM 1 FOR 1), 0) AS key FROM batches
  WHERE id = ANY ($1::bigint[]) AND created_at < now() - interval '1 day' AND octet_length(envelope) > 0`;

/**
 * Those of the batches whose envelope names a data key that no service of this database has: the first byte of the envelope
 * is damaged. Leaves out the batches of the last day, because a service that just started may be about to name its key
 * (`markSealing`).
 */
export async function batchesOfNoKey(session: Session, batchIds: readonly BatchId[]): Promise<Set<BatchId>> {
  const damaged = new Set<BatchId>();
  if (batchIds.length === 0) return damaged;
  const known = (await session.query<{ name: string }>(DATA_KEYS)).rows.map(({ name }) => name);
  for (const ids of byPartitions(batchIds, partitionOfBatch)) {
    const { rows } = await session.query<{ id: BatchId; key: number }>(KEYS_OF_BATCHES, [ids]);
    for (const { id, key } of rows) if (!known.includes(`${DATA_KEY}${key}`)) damaged.add(id);
  }
  return damaged;
}
