/** Which data keys the services of a database have, and which they seal with. */
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

/** The ids of the data keys that the services of this database have. */
export async function knownDataKeys(session: Session): Promise<Set<number>> {
  const { rows } = await session.query<{ name: string }>(DATA_KEYS);
  return new Set(rows.map(({ name }) => Number(name.slice(DATA_KEY.length))));
}
