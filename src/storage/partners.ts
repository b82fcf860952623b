/** Partners, as operators keep them. */
import type { Country } from '../domain/country-data.ts';
import { insertKey, type KeyText } from './api-keys.ts';
import { againAfterConflict } from './conflicts.ts';
import { type Database, inTransaction, type Session } from './database.ts';
import { takeId } from './ids.ts';

export interface Partner {
  readonly id: number;
  readonly name: string;
  readonly country: Country;
  readonly createdAt: Date;
}

interface Row {
  id: number;
  name: string;
  country: Country;
  created_at: Date;
}

/** The row of usage_totals is the lock of the partner's quota, so neither row may exist without the other. */
const ADD = `
  WITH added AS (
    INSERT INTO partners AS a (id, name, country) VALUES ($3, $1, $2)
    ON CONFLICT (name) DO NOTHING
    RETURNING id, name, country, created_at
  ), counted AS (
    INSERT INTO usage_totals (partner_id) SELECT id FROM added
  )
  SELECT id, name, country, created_at FROM added`;

/** Adds a partner. Returns null if the name is taken. */
export async function insertPartner(
  session: Session,
  partner: { name: string; country: Country },
): Promise<Partner | null> {
  const id = await takeId(session, 'partners');
  // On a cluster each machine has a copy of the table, so two inserts at once may deadlock.
  const { rows } = await againAfterConflict(() =>
    session.query<Row>(ADD, [partner.name, partner.country, id]),
  );
  return rows[0] === undefined ? null : partnerOf(rows[0]);
}

const ANY = 'SELECT FROM partners LIMIT 1';
/** A row that always exists, and is the same one from every machine: one process at a time. */
const LOCK = 'SELECT FROM elapsed FOR NO KEY UPDATE';

/**
 * Adds a partner with a key for both environments and no cap, if the store has no partner at all. Returns whether it
 * did.
 */
export function insertFirstPartner(
  database: Database,
  partner: { name: string; country: Country },
  text: KeyText,
): Promise<boolean> {
  return inTransaction(database, async (session) => {
    await session.query(LOCK);
    if ((await session.query(ANY)).rowCount !== 0) return false;
    const added = await insertPartner(session, partner);
    if (added === null) return false;
    const settings = { environment: null, language: 'auto', dailyCap: null, brand: {} } as const;
    return (await insertKey(session, added.id, text, settings)) !== null;
  });
}

const LIST = 'SELECT id, name, country, created_at FROM partners ORDER BY id DESC';
const FIND = 'SELECT id, name, country, created_at FROM partners WHERE id = $1::bigint';

/** All partners, newest first. */
export async function readPartners(database: Database): Promise<Partner[]> {
  const { rows } = await database.query<Row>(LIST);
  return rows.map(partnerOf);
}

/** The partner with this id; null if there is none. */
export async function readPartner(database: Database, id: number): Promise<Partner | null> {
  const { rows } = await database.query<Row>(FIND, [id]);
  return rows[0] === undefined ? null : partnerOf(rows[0]);
}

/** The countries of all partners, each once. */
export async function readPartnerCountries(database: Database): Promise<Country[]> {
  const { rows } = await database.query<{ country: Country }>('SELECT DISTINCT country FROM partners');
  return rows.map(({ country }) => country);
}

function partnerOf(row: Row): Partner {
  return { id: row.id, name: row.name, country: row.country, createdAt: row.created_at };
}
