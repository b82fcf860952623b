/** Partners, as operators keep them. */
import type { Country } from '../domain/country-data.ts';
import type { Database } from './database.ts';

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

/** The row of usage_totals is the lock of the partner's quota, so neither may exist without the other. */
const ADD = `
  WITH added AS (
    INSERT INTO partners (name, country) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING
    RETURNING id, name, country, created_at
  ), counted AS (
    INSERT INTO usage_totals (partner_id) SELECT id FROM added
  )
  SELECT id, name, country, created_at FROM added`;

/** Adds a partner; null where the name is taken. */
export async function insertPartner(
  database: Database,
  partner: { name: string; country: Country },
): Promise<Partner | null> {
  const { rows } = await database.query<Row>(ADD, [partner.name, partner.country]);
  return rows[0] === undefined ? null : partnerOf(rows[0]);
}

/** Of two processes that ask at once, one waits for the other's row of the same name and adds nothing. */
const ADD_FIRST = `
  WITH added AS (
    INSERT INTO partners (name, country) SELECT $1, $2 WHERE NOT EXISTS (SELECT FROM partners)
    ON CONFLICT (name) DO NOTHING
    RETURNING id
  ), counted AS (
    INSERT INTO usage_totals (partner_id) SELECT id FROM added
  )
  INSERT INTO api_keys (partner_id, digest, hint) SELECT id, $3, $4 FROM added RETURNING id`;

/**
 * Adds a partner with a key for both environments and without cap, where the store has no partner at all.
 * True where it did.
 */
export async function insertFirstPartner(
  database: Database,
  partner: { name: string; country: Country },
  key: { digest: Buffer; hint: string },
): Promise<boolean> {
  const { rowCount } = await database.query(ADD_FIRST, [partner.name, partner.country, key.digest, key.hint]);
  return rowCount === 1;
}

const LIST = 'SELECT id, name, country, created_at FROM partners ORDER BY id DESC';
const FIND = 'SELECT id, name, country, created_at FROM partners WHERE id = $1::bigint';

/** All partners, newest first. */
export async function readPartners(database: Database): Promise<Partner[]> {
  const { rows } = await database.query<Row>(LIST);
  return rows.map(partnerOf);
}

/** The partner with this id; null where there is none. */
export async function readPartner(database: Database, id: number): Promise<Partner | null> {
  const { rows } = await database.query<Row>(FIND, [id]);
  return rows[0] === undefined ? null : partnerOf(rows[0]);
}

/** The countries that partners are in, each once. */
export async function readPartnerCountries(database: Database): Promise<Country[]> {
  const { rows } = await database.query<{ country: Country }>('SELECT DISTINCT country FROM partners');
  return rows.map(({ country }) => country);
}

function partnerOf(row: Row): Partner {
  return { id: row.id, name: row.name, country: row.country, createdAt: row.created_at };
}
