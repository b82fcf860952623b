/**
 * Remembers in the database which index key the stored blind indexes were made with, and refuses a process with another
 * one. Reads and writes `secret_checks`; `put_index_key` and `require_index_key` use `elapsed`. docs/keys.md ("The
 * index key") has the rule.
 */
import { errorCode } from '../ground/base/describe-error.ts';
import { ToldError } from '../ground/base/told-error.ts';
import type { Session, Transaction } from '../ground/postgres/database.ts';
import { INDEX_KEY, LOCK_SECRETS } from './data-keys.ts';
import type { Vault } from './vault.ts';

const READ = 'SELECT value FROM secret_checks WHERE name = $1';
const WRITE = 'UPDATE secret_checks SET value = $2 WHERE name = $1';
const REQUIRE = 'SELECT require_index_key($1)';
const PUT = 'SELECT put_index_key($1)';

/** A fingerprint that no key has. It is remembered while indexes of two keys are stored. */
export const NO_INDEX_KEY = '0'.repeat(32);

/** The fingerprint of the remembered index key; null if nothing is remembered. Locks it until the transaction ends. */
export async function lockIndexKey(session: Transaction): Promise<string | null> {
  await session.query(LOCK_SECRETS);
  const { rows } = await session.query<{ value: string }>(READ, [INDEX_KEY]);
  return rows[0]?.value.replaceAll('-', '') ?? null;
}

/**
 * Remembers the index key that the stored indexes are made with from now on: starts and registrations with another one
 * are refused. With `NO_INDEX_KEY` all are.
 */
export async function rememberIndexKey(session: Transaction, fingerprint: string): Promise<void> {
  await session.query(WRITE, [INDEX_KEY, fingerprint]);
  await putIndexKey(session, fingerprint);
}

/** Lets registrations with this index key pass, and no others. */
export async function putIndexKey(session: Session, fingerprint: string): Promise<void> {
  await session.query(PUT, [fingerprint]);
}

/** The code of `require_index_key` in the database. */
const OTHER_INDEX_KEY = 'VN005';

/** The stored indexes are made with another key, or in another form, than those of this process. */
class OtherIndexKeyError extends ToldError {
  override readonly name = 'OtherIndexKeyError';
  readonly code = OTHER_INDEX_KEY;

  constructor() {
    super('a vault reindex has begun since this command started: run the command again when that is over');
  }
}

/** Throws `OtherIndexKeyError` if a `vault reindex` passed this process by, or is under way. */
export async function requireIndexKey(session: Session, { indexKeyId }: Vault): Promise<void> {
  await withIndexKey(session.query(REQUIRE, [indexKeyId]));
}

/** The same for a statement that calls `require_index_key` itself. */
export function withIndexKey<T>(statement: Promise<T>): Promise<T> {
  return statement.catch((error: unknown) => {
    throw errorCode(error) === OTHER_INDEX_KEY ? new OtherIndexKeyError() : error;
  });
}
