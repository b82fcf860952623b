/**
 * Adds and reads API keys, as operators manage them (D18, D20, D21, D24). The store holds no key, only its digest and
 * its first characters. A MAC covers the row (`key-macs.ts`). Reads `partners`, reads and writes `api_keys`.
 */

import type { Brand } from '../../../domain/partner/brand.ts';
import type { Environment, KeyId, PartnerId } from '../../../domain/partner/credential.ts';
import type { LanguageSetting } from '../../../ground/base/language.ts';
import {
  againAfterConflict,
  type Database,
  inTransaction,
  onlyRow,
  type Transaction,
} from '../../../ground/postgres/database.ts';
import { takeId } from '../../../ground/postgres/ids.ts';
import type { Vault } from '../../../seal/vault.ts';
import { isOwnKey, KEY_FACTS, type KeyFacts, keyMac } from './key-macs.ts';

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
  /**
   * The status by the database's clock at the time of reading. Forged: this service has not written the row as it is,
   * so the key is refused and can only be revoked.
   */
  readonly status: 'live' | 'expired' | 'revoked' | 'forged';
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

export interface KeyRow extends ApiKey, KeyFacts {
  readonly mac: Buffer;
}

const COLUMNS = `${KEY_FACTS}, k.hint, json_build_object('id', p.id, 'name', p.name) AS partner, k.language, k.brand,
  k.created_at AS "createdAt", k.expires_at AS "expiresAt", k.revoked_at AS "revokedAt",
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
    INSERT INTO api_keys AS a (id, partner_id, digest, hint, environment, language, daily_cap, brand, pepper, mac)
    VALUES ($8, $1, $2, $3, $4, $5, $6, $7, $9, $10) RETURNING *
  )
  SELECT ${COLUMNS} FROM k JOIN partners p ON p.id = k.partner_id`;

/** Adds a key. Returns null if there is no such partner, or it is closed. */
export function insertKey(
  database: Database,
  vault: Vault,
  partnerId: PartnerId,
  text: KeyText,
  settings: KeySettings,
): Promise<ApiKey | null> {
  return againAfterConflict(() =>
    inTransaction(database, (session) => insertKeyIn(session, vault, partnerId, text, settings)),
  );
}

/**
 * Adds a key like `insertKey`, as a part of a transaction. The caller repeats the whole transaction after a conflict.
 */
export async function insertKeyIn(
  session: Transaction,
  vault: Vault,
  partnerId: PartnerId,
  text: KeyText,
  settings: KeySettings,
): Promise<ApiKey | null> {
  if ((await session.query(PARTNER, [partnerId])).rowCount === 0) return null;
  return addKey(session, vault, partnerId, text, settings);
}

export async function addKey(
  session: Transaction,
  vault: Vault,
  partnerId: PartnerId,
  { digest, hint, pepper }: KeyText,
  { environment, language, dailyCap, brand }: KeySettings,
): Promise<ApiKey> {
  const id = (await takeId(session, 'api_keys')) as KeyId;
  const mac = keyMac(vault, { id, partnerId, digest, environment, dailyCap, expires: null, revoked: null });
  const { rows } = await session.query<KeyRow>(INSERT, [
    ...[partnerId, digest, hint, environment, language, dailyCap, JSON.stringify(brand), id, pepper, mac],
  ]);
  return keyOf(vault, onlyRow(rows));
}

const LIST = `
  SELECT ${COLUMNS} FROM api_keys k JOIN partners p ON p.id = k.partner_id
  WHERE $1::bigint IS NULL OR k.partner_id = $1 ORDER BY k.id DESC`;

/** The keys of a partner, or of all partners (null), newest first; dead keys too. */
export async function readKeys(
  database: Database,
  vault: Vault,
  partnerId: PartnerId | null,
): Promise<ApiKey[]> {
  const { rows } = await database.query<KeyRow>(LIST, [partnerId]);
  return rows.map((row) => keyOf(vault, row));
}

export const FIND = `SELECT ${COLUMNS} FROM api_keys k JOIN partners p ON p.id = k.partner_id WHERE k.id = $1::bigint`;

/** The key with this id; null if there is none. */
export async function readKey(database: Database, vault: Vault, id: KeyId): Promise<ApiKey | null> {
  return readOneKey(database, vault, FIND, [id]);
}

const SET_BRAND = `
  WITH k AS (
    UPDATE api_keys SET brand = $2 WHERE id = $1::bigint AND ($3::jsonb IS NULL OR brand = $3) RETURNING *)
  SELECT ${COLUMNS} FROM k JOIN partners p ON p.id = k.partner_id`;

/** Gives a key another brand. Returns null if there is no such key; `was`: or if its brand is another one. */
export async function setStoredBrand(
  database: Database,
  vault: Vault,
  id: KeyId,
  brand: Brand,
  was?: Brand,
): Promise<ApiKey | null> {
  const before = was === undefined ? null : JSON.stringify(was);
  return readOneKey(database, vault, SET_BRAND, [id, JSON.stringify(brand), before]);
}

/**
 * The key of the statement's first row, or null. On a cluster each machine has a copy of the keys, so two changes at
 * once may deadlock, and are repeated.
 */
async function readOneKey(
  database: Database,
  vault: Vault,
  text: string,
  values: unknown[],
): Promise<ApiKey | null> {
  const { rows } = await againAfterConflict(() => database.query<KeyRow>(text, values));
  return rows[0] === undefined ? null : keyOf(vault, rows[0]);
}

export function keyOf(vault: Vault, row: KeyRow): ApiKey {
  const { id, hint, partner, environment, language, dailyCap, brand, createdAt, expiresAt, revokedAt } = row;
  const status = row.status !== 'revoked' && !isOwnKey(vault, row) ? 'forged' : row.status;
  return {
    id,
    hint,
    partner,
    environment,
    language,
    dailyCap,
    brand,
    status,
    createdAt,
    expiresAt,
    revokedAt,
  };
}

/** Whether there is a key: its MAC depends on the index key. */
export async function hasKeys(session: Transaction): Promise<boolean> {
  return (await session.query('SELECT FROM api_keys LIMIT 1')).rows.length > 0;
}

const OF_OTHER_PEPPERS = `
  SELECT id FROM api_keys
  WHERE pepper <> ALL ($1::uuid[]) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) ORDER BY id`;

/**
 * The live keys that were hashed with none of the peppers with these fingerprints. Without their pepper nobody would
 * recognise them.
 */
export async function keysOfOtherPeppers(
  session: Transaction,
  pepperIds: readonly string[],
): Promise<readonly KeyId[]> {
  const { rows } = await session.query<{ id: KeyId }>(OF_OTHER_PEPPERS, [pepperIds]);
  return rows.map(({ id }) => id);
}
