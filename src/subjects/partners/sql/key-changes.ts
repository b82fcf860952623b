/**
 * Changes API keys: revokes, rotates, gives a cap, ends them again after a restore (D18, D21; docs/backup.md). A MAC
 * covers the row, so a change locks it first, and writes it with a new MAC. Reads and writes `api_keys`.
 */
import type { KeyId, PartnerId } from '../../../domain/partner/credential.ts';
import {
  againAfterConflict,
  type Database,
  inTransaction,
  onlyRow,
  type Transaction,
} from '../../../ground/postgres/database.ts';
import { later, micros, timeOf } from '../../../ground/postgres/database-time.ts';
import type { Vault } from '../../../seal/vault.ts';
import { type ApiKey, addKey, FIND, type KeyRow, type KeyText, keyOf } from './api-keys.ts';
import { isOwnKey, KEY_FACTS, type KeyFacts, keyMac } from './key-macs.ts';

const LOCK = `${FIND} FOR NO KEY UPDATE OF k`;
const CHANGE = `
  UPDATE api_keys SET daily_cap = $2, expires_at = ${timeOf('$3')}, revoked_at = ${timeOf('$4')}, mac = $5
  WHERE id = $1::bigint`;
/** The time of the transaction, so that it equals the beginning of a successor. */
const NOW = `SELECT ${micros('now()')} AS now`;

/** The row, locked until the transaction ends, and the time of the database. */
async function lockKey(session: Transaction, id: KeyId): Promise<{ row: KeyRow; now: string } | null> {
  const [row] = (await session.query<KeyRow>(LOCK, [id])).rows;
  if (row === undefined) return null;
  return { row, now: onlyRow((await session.query<{ now: string }>(NOW)).rows).now };
}

/** Changes a locked row. */
async function changeKey(
  session: Transaction,
  vault: Vault,
  before: KeyRow,
  change: Partial<Pick<KeyFacts, 'dailyCap' | 'expires' | 'revoked'>>,
): Promise<ApiKey> {
  const row = { ...before, ...change };
  await session.query(CHANGE, [row.id, row.dailyCap, row.expires, row.revoked, keyMac(vault, row)]);
  return keyOf(vault, onlyRow((await session.query<KeyRow>(FIND, [row.id])).rows));
}

/** Revokes a key from the next request on (D21). Returns null if there is no such key that is not revoked yet. */
export function revokeStoredKey(database: Database, vault: Vault, id: KeyId): Promise<ApiKey | null> {
  return againAfterConflict(() =>
    inTransaction(database, async (session) => {
      const locked = await lockKey(session, id);
      if (locked === null || locked.row.revoked !== null) return null;
      return changeKey(session, vault, locked.row, { revoked: locked.now });
    }),
  );
}

const OF_PARTNER = `
  SELECT k.id FROM api_keys k WHERE k.partner_id = $1::bigint AND k.revoked_at IS NULL ORDER BY k.id
  FOR NO KEY UPDATE`;

/** Revokes all keys of a partner that are not revoked, and locks them. Returns how many. */
export async function revokeKeysOf(
  session: Transaction,
  vault: Vault,
  partnerId: PartnerId,
): Promise<number> {
  const { rows } = await session.query<{ id: KeyId }>(OF_PARTNER, [partnerId]);
  for (const { id } of rows) {
    const { row, now } = (await lockKey(session, id))!;
    await changeKey(session, vault, row, { revoked: now });
  }
  return rows.length;
}

/** Gives a key another cap, or none (null). Returns null if there is no such key, `forged` if it may not change. */
export function setKeyCap(
  database: Database,
  vault: Vault,
  id: KeyId,
  dailyCap: number | null,
): Promise<ApiKey | 'forged' | null> {
  return againAfterConflict(() =>
    inTransaction(database, async (session) => {
      const locked = await lockKey(session, id);
      if (locked === null) return null;
      if (!isOwnKey(vault, locked.row)) return 'forged';
      return changeKey(session, vault, locked.row, { dailyCap });
    }),
  );
}

/**
 * Gives a live key a successor with the same settings, and keeps the old one valid for `overlapMs` milliseconds. A key
 * that was rotated before keeps its earlier end: a second rotation never prolongs it. Returns null if there is no such
 * key, or the key is dead or forged.
 */
export function rotateStoredKey(
  database: Database,
  vault: Vault,
  id: KeyId,
  text: KeyText,
  overlapMs: number,
): Promise<{ key: ApiKey; oldExpiresAt: Date } | null> {
  return againAfterConflict(() =>
    inTransaction(database, async (session) => {
      const locked = await lockKey(session, id);
      if (locked === null || keyOf(vault, locked.row).status !== 'live') return null;
      const { row, now } = locked;
      const end = earlier(row.expires, later(now, overlapMs));
      if (end !== row.expires) await changeKey(session, vault, row, { expires: end });
      const key = await addKey(session, vault, row.partner.id, text, row);
      return { key, oldExpiresAt: new Date(Number(end) / 1000) };
    }),
  );
}

function earlier(one: string | null, other: string): string {
  return one !== null && BigInt(one) < BigInt(other) ? one : other;
}

/** A key that was revoked, or got an end when it was rotated. */
export type EndedKey = Pick<KeyFacts, 'id' | 'expires' | 'revoked'>;

const ENDED = `
  SELECT ${KEY_FACTS} FROM api_keys k WHERE k.revoked_at IS NOT NULL OR k.expires_at IS NOT NULL ORDER BY k.id`;

/** All keys with an end: for a restored older store. */
export async function readEndedKeys(session: Pick<Transaction, 'query'>, vault: Vault): Promise<EndedKey[]> {
  const { rows } = await session.query<KeyFacts & { mac: Buffer }>(ENDED);
  return rows.filter((row) => row.revoked !== null || isOwnKey(vault, row));
}

/** Ends those of the keys that have a later end here, or none. Returns their ids. */
export async function endKeysAgain(
  session: Transaction,
  vault: Vault,
  keys: readonly EndedKey[],
): Promise<KeyId[]> {
  const ended: KeyId[] = [];
  for (const { id, revoked, expires } of keys) {
    const locked = await lockKey(session, id);
    if (locked === null || locked.row.revoked !== null) continue;
    const { row } = locked;
    const end = expires === null ? row.expires : earlier(row.expires, expires);
    if (revoked === null && end === row.expires) continue;
    await changeKey(session, vault, row, revoked === null ? { expires: end } : { revoked });
    ended.push(id);
  }
  return ended;
}
