/**
 * Adds, reads, renames, closes and reopens partners (docs/operations.md, "Commands"). Reads and writes `partners` and
 * `usage_totals`; closing also writes `api_keys`.
 */
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Country } from '../../../ground/base/country-data.ts';
import { errorCode } from '../../../ground/base/describe-error.ts';
import {
  againAfterConflict,
  type Database,
  inTransaction,
  onlyRow,
  type Session,
  type Transaction,
} from '../../../ground/postgres/database.ts';
import { takeId } from '../../../ground/postgres/ids.ts';
import type { Vault } from '../../../seal/vault.ts';
import { insertKeyIn, type KeyText } from './api-keys.ts';
import { revokeKeysOf } from './key-changes.ts';

export interface Partner {
  readonly id: PartnerId;
  readonly name: string;
  readonly country: Country;
  readonly createdAt: Date;
  /** When the partner was closed: since then it has no keys and gets none; null: it is open. */
  readonly closedAt: Date | null;
}

export const PARTNER_COLUMNS = 'id, name, country, created_at AS "createdAt", closed_at AS "closedAt"';

/** The row of `usage_totals` is the lock of the partner's quota, so neither row may exist without the other. */
const ADD = `
  WITH added AS (
    INSERT INTO partners AS a (id, name, country) VALUES ($3, $1, $2)
    ON CONFLICT (name) DO NOTHING
    RETURNING ${PARTNER_COLUMNS}
  ), counted AS (
    INSERT INTO usage_totals (partner_id) SELECT id FROM added
  )
  SELECT * FROM added`;

/** Adds a partner. Returns null if the name is taken. */
export function insertPartner(
  database: Database,
  partner: { name: string; country: Country },
): Promise<Partner | null> {
  // On a cluster each machine has a copy of the table, so two inserts at once may deadlock.
  return againAfterConflict(() => add(database, partner));
}

async function add(
  session: Session,
  { name, country }: { name: string; country: Country },
): Promise<Partner | null> {
  const id = await takeId(session, 'partners');
  return (await session.query<Partner>(ADD, [name, country, id])).rows[0] ?? null;
}

const ANY = `
  SELECT EXISTS (SELECT FROM partners) AS any, EXISTS (SELECT FROM api_keys WHERE digest = $1) AS ours`;
/** A row that always exists, and is the same one from every machine: one process at a time. */
const LOCK = 'SELECT FROM elapsed FOR NO KEY UPDATE';

/**
 * Adds a partner with a key for both environments and no cap, if the store has no partner at all. Returns whether it
 * did, also by an earlier call with the same text whose answer was lost.
 */
export function insertFirstPartner(
  database: Database,
  vault: Vault,
  partner: { name: string; country: Country },
  text: KeyText,
): Promise<boolean> {
  return againAfterConflict(() =>
    inTransaction(database, async (session) => {
      await session.query(LOCK);
      const { rows } = await session.query<{ any: boolean; ours: boolean }>(ANY, [text.digest]);
      const { any, ours } = onlyRow(rows);
      if (any) return ours;
      const added = await add(session, partner);
      if (added === null) return false;
      const settings = { environment: null, language: 'auto', dailyCap: null, brand: {} } as const;
      return (await insertKeyIn(session, vault, added.id, text, settings)) !== null;
    }),
  );
}

const LIST = `SELECT ${PARTNER_COLUMNS} FROM partners ORDER BY id DESC`;
const FIND = `SELECT ${PARTNER_COLUMNS} FROM partners WHERE id = $1::bigint`;

/** All partners, newest first. */
export async function readPartners(database: Database): Promise<Partner[]> {
  return (await database.query<Partner>(LIST)).rows;
}

/** The partner with this id; null if there is none. */
export async function readPartner(database: Database, id: PartnerId): Promise<Partner | null> {
  return (await database.query<Partner>(FIND, [id])).rows[0] ?? null;
}

/** As that of a key that is added (`api-keys.ts`). */
const HOLD = `${FIND} AND closed_at IS NULL FOR NO KEY UPDATE`;

/** The open partner with this id, which cannot close until the transaction ends; null if there is none. */
export async function holdOpenPartner(session: Transaction, id: PartnerId): Promise<Partner | null> {
  return (await session.query<Partner>(HOLD, [id])).rows[0] ?? null;
}

const RENAME = `UPDATE partners SET name = $2 WHERE id = $1::bigint RETURNING ${PARTNER_COLUMNS}`;

/** Gives a partner another name. Returns null if there is no such partner, and `taken` if another one has the name. */
export async function renamePartner(
  database: Database,
  id: PartnerId,
  name: string,
): Promise<Partner | 'taken' | null> {
  try {
    return (await database.query<Partner>(RENAME, [id, name])).rows[0] ?? null;
  } catch (error) {
    // unique_violation
    if (errorCode(error) === '23505') return 'taken';
    throw error;
  }
}

const CLOSE = `
  UPDATE partners SET closed_at = now() WHERE id = $1::bigint AND closed_at IS NULL RETURNING ${PARTNER_COLUMNS}`;
/** Waits for sessions that rotate a key, so that the next statement sees the new key. */
const LOCK_KEYS = 'SELECT FROM api_keys WHERE partner_id = $1::bigint ORDER BY id FOR NO KEY UPDATE';

/**
 * What another subject does for a partner that closes, in the same transaction, after the locks of its row and its
 * keys.
 */
export type WhenClosing = (session: Transaction, partnerId: PartnerId, vault: Vault) => Promise<unknown>;

/**
 * Closes a partner: revokes its keys, and does what other subjects want done then. A key that is issued at the same
 * moment is revoked, or is refused (`insertKey`). Returns the number of revoked keys; null if there is no such partner,
 * or it is closed.
 */
export function closeStoredPartner(
  database: Database,
  vault: Vault,
  id: PartnerId,
  whenClosing: readonly WhenClosing[],
): Promise<{ partner: Partner; revoked: number } | null> {
  return againAfterConflict(() =>
    inTransaction(database, async (session) => {
      const [partner] = (await session.query<Partner>(CLOSE, [id])).rows;
      if (partner === undefined) return null;
      await session.query(LOCK_KEYS, [id]);
      const revoked = await revokeKeysOf(session, vault, id);
      for (const work of whenClosing) await work(session, id, vault);
      return { partner, revoked };
    }),
  );
}

const REOPEN = `
  UPDATE partners SET closed_at = NULL WHERE id = $1::bigint AND closed_at IS NOT NULL RETURNING ${PARTNER_COLUMNS}`;

/** Lets a closed partner have keys again. Returns null if there is no such partner, or it is not closed. */
export async function reopenStoredPartner(database: Database, id: PartnerId): Promise<Partner | null> {
  const { rows } = await againAfterConflict(() => database.query<Partner>(REOPEN, [id]));
  return rows[0] ?? null;
}

/** The countries of all partners, each once. */
export async function readPartnerCountries(database: Database): Promise<Country[]> {
  const { rows } = await database.query<{ country: Country }>('SELECT DISTINCT country FROM partners');
  return rows.map(({ country }) => country);
}
