/** The index key that the stored blind indexes were made with, as the database remembers it. */
import type { Transaction } from '../postgres/database.ts';
import { INDEX_KEY, LOCK_SECRETS } from './data-keys.ts';

const READ = 'SELECT value FROM secret_checks WHERE name = $1';
const WRITE = 'UPDATE secret_checks SET value = $2 WHERE name = $1';

/**
 * The fingerprint of the remembered index key; null where nothing is remembered. Locks it until the transaction ends.
 */
export async function lockIndexKey(session: Transaction): Promise<string | null> {
  await session.query(LOCK_SECRETS);
  const { rows } = await session.query<{ value: string }>(READ, [INDEX_KEY]);
  return rows[0]?.value.replaceAll('-', '') ?? null;
}

/** Remembers the index key that the stored indexes are made with from now on. */
export async function rememberIndexKey(session: Transaction, fingerprint: string): Promise<void> {
  await session.query(WRITE, [INDEX_KEY, fingerprint]);
}
