/** API keys, as operators manage them. The store holds no key, only its digest and its first characters. */

import type { LanguageSetting } from '../../base/language.ts';
import { againAfterConflict } from '../../postgres/conflicts.ts';
import { type Database, inTransaction, type Transaction } from '../../postgres/database.ts';
import { takeId } from '../../postgres/ids.ts';
import { onlyRow } from '../../postgres/only-row.ts';
import type { Brand } from '../rules/brand.ts';
import type { Environment, KeyId, PartnerId } from '../rules/credential.ts';

/** The settings of a new key. */
export interface KeySettings {
  /** null: both environments (D20). */
  readonly environment: Environment | null;
  readonly language: LanguageSetting;
  /** Applications in the rolling 24 hours; null: no cap. */
  readonly dailyCap: number | null;
  readonly brand: Brand;
}

/** The stored parts of the key's text. */
export interface KeyText {
  readonly digest: Buffer;
  /** The fingerprint of the pepper that the digest was made with. */
  readonly pepper: string;
  readonly hint: string;
}

export interface ApiKey extends KeySettings {
  readonly id: KeyId;
  readonly hint: string;
  readonly partner: { readonly id: PartnerId; readonly name: string };
  /** The status by the database's clock at the time of reading. */
  readonly status: 'live' | 'expired' | 'revoked';
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

interface Row {
  id: KeyId;
  hint: string;
  partner_id: PartnerId;
  partner_name: string;
  environment: Environment | null;
  language: LanguageSetting;
  daily_cap: number | null;
  brand: Brand;
  status: ApiKey['status'];
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
}

const COLUMNS = `k.id, k.hint, k.partner_id, p.name AS partner_name, k.environment, k.language, k.daily_cap,
  k.brand, k.created_at, k.expires_at, k.revoked_at,
  CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked' WHEN k.expires_at <= now() THEN 'expired'
    ELSE 'live' END AS status`;

/**
 * The lock waits for a session that closes the partner, and keeps the partner open until the key is stored. One session
 * holds the lock: on a cluster two that share it would deadlock, because the insert of a key takes a stronger lock.
 */
const PARTNER = 'SELECT FROM partners WHERE id = $1::bigint AND closed_at IS NULL FOR NO KEY UPDATE';

/** Values, not a query: on a cluster two of these at once would often deadlock. */
const INSERT = `
  WITH k AS (
    INSERT INTO api_keys AS a (id, partner_id, digest, hint, environment, language, daily_cap, brand, pepper)
    VALUES ($8, $1, $2, $3, $4, $5, $6, $7, $9) RETURNING *
  )
  SELECT ${COLUMNS} FROM k JOIN partners p ON p.id = k.partner_id`;

/** Adds a key. Returns null if there is no such partner, or it is closed. */
export function insertKey(
  database: Database,
  partnerId: PartnerId,
  text: KeyText,
  settings: KeySettings,
): Promise<ApiKey | null> {
  return againAfterConflict(() =>
    inTransaction(database, (session) => insertKeyIn(session, partnerId, text, settings)),
  );
}

/**
 * Adds a key like `insertKey`, as a part of a transaction. The caller repeats the whole transaction after a conflict.
 */
export async function insertKeyIn(
  session: Transaction,
  partnerId: PartnerId,
  text: KeyText,
  settings: KeySettings,
): Promise<ApiKey | null> {
  const { environment, language, dailyCap, brand } = settings;
  if ((await session.query(PARTNER, [partnerId])).rowCount === 0) return null;
  const { rows } = await session.query<Row>(INSERT, [
    partnerId,
    text.digest,
    text.hint,
    environment,
    language,
    dailyCap,
    JSON.stringify(brand),
    await takeId(session, 'api_keys'),
    text.pepper,
  ]);
  return keyOf(onlyRow(rows));
}

const LIST = `
  SELECT ${COLUMNS} FROM api_keys k JOIN partners p ON p.id = k.partner_id
  WHERE $1::bigint IS NULL OR k.partner_id = $1 ORDER BY k.id DESC`;

/** The keys of a partner, or of all partners (null), newest first; dead keys too. */
export async function readKeys(database: Database, partnerId: PartnerId | null): Promise<ApiKey[]> {
  const { rows } = await database.query<Row>(LIST, [partnerId]);
  return rows.map(keyOf);
}

const FIND = `SELECT ${COLUMNS} FROM api_keys k JOIN partners p ON p.id = k.partner_id WHERE k.id = $1::bigint`;

/** The key with this id; null if there is none. */
export async function readKey(database: Database, id: KeyId): Promise<ApiKey | null> {
  return readOneKey(database, FIND, [id]);
}

const REVOKE = `
  WITH k AS (
    UPDATE api_keys SET revoked_at = now() WHERE id = $1::bigint AND revoked_at IS NULL RETURNING *
  )
  SELECT ${COLUMNS} FROM k JOIN partners p ON p.id = k.partner_id`;

/** Revokes a key from the next request on (D21). Returns null if there is no such key that is not revoked yet. */
export async function revokeStoredKey(database: Database, id: KeyId): Promise<ApiKey | null> {
  return readOneKey(database, REVOKE, [id]);
}

const SET_CAP = `
  WITH k AS (UPDATE api_keys SET daily_cap = $2 WHERE id = $1::bigint RETURNING *)
  SELECT ${COLUMNS} FROM k JOIN partners p ON p.id = k.partner_id`;

/** Gives a key another cap, or none (null). Returns null if there is no such key. */
export async function setKeyCap(
  database: Database,
  id: KeyId,
  dailyCap: number | null,
): Promise<ApiKey | null> {
  return readOneKey(database, SET_CAP, [id, dailyCap]);
}

const SET_BRAND = `
  WITH k AS (UPDATE api_keys SET brand = $2 WHERE id = $1::bigint RETURNING *)
  SELECT ${COLUMNS} FROM k JOIN partners p ON p.id = k.partner_id`;

/** Gives a key another brand. Returns null if there is no such key. */
export async function setStoredBrand(database: Database, id: KeyId, brand: Brand): Promise<ApiKey | null> {
  return readOneKey(database, SET_BRAND, [id, JSON.stringify(brand)]);
}

/** A key that was rotated before keeps its earlier end: a second rotation never prolongs it. */
const ROTATE = `
  WITH old AS (
    UPDATE api_keys SET expires_at = least(expires_at, now() + $4 * interval '1 millisecond')
    WHERE id = $1::bigint AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
    RETURNING *
  ), k AS (
    INSERT INTO api_keys AS a (id, partner_id, digest, hint, environment, language, daily_cap, brand, pepper)
    SELECT $5, partner_id, $2, $3, environment, language, daily_cap, brand, $6 FROM old RETURNING *
  )
  SELECT ${COLUMNS}, old.expires_at AS old_expires_at
  FROM k JOIN partners p ON p.id = k.partner_id CROSS JOIN old`;

/**
 * Gives a live key a successor with the same settings, and keeps the old one valid for `overlapMs` milliseconds.
 * Returns null if there is no such key or the key is dead.
 */
export async function rotateStoredKey(
  database: Database,
  id: KeyId,
  text: KeyText,
  overlapMs: number,
): Promise<{ key: ApiKey; oldExpiresAt: Date } | null> {
  const values = [id, text.digest, text.hint, overlapMs, await takeId(database, 'api_keys'), text.pepper];
  const { rows } = await againAfterConflict(() =>
    database.query<Row & { old_expires_at: Date }>(ROTATE, values),
  );
  const row = rows[0];
  return row === undefined ? null : { key: keyOf(row), oldExpiresAt: row.old_expires_at };
}

/**
 * The key of the statement's first row, or null. On a cluster each machine has a copy of the keys, so two changes at
 * once may deadlock, and are repeated.
 */
async function readOneKey(database: Database, text: string, values: unknown[]): Promise<ApiKey | null> {
  const { rows } = await againAfterConflict(() => database.query<Row>(text, values));
  return rows[0] === undefined ? null : keyOf(rows[0]);
}

function keyOf(row: Row): ApiKey {
  return {
    id: row.id,
    hint: row.hint,
    partner: { id: row.partner_id, name: row.partner_name },
    environment: row.environment,
    language: row.language,
    dailyCap: row.daily_cap,
    brand: row.brand,
    status: row.status,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  };
}

const OF_OTHER_PEPPERS = `
  SELECT id FROM api_keys
  WHERE pepper <> ALL ($1::uuid[]) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) ORDER BY id`;

/** The live keys that were hashed with none of the peppers with these fingerprints: they would be unknown. */
export async function keysOfOtherPeppers(
  session: Transaction,
  pepperIds: readonly string[],
): Promise<readonly KeyId[]> {
  const { rows } = await session.query<{ id: KeyId }>(OF_OTHER_PEPPERS, [pepperIds]);
  return rows.map(({ id }) => id);
}
