/**
 * The names of operators and partners, as the desk shows them. Reads `partners` and `operators`; `by` is a part of
 * statements.
 */
import type { Country } from '../../../ground/base/country-data.ts';
import type { Database, Session } from '../../../ground/postgres/database.ts';

/** An operator with the present login. */
export interface By {
  readonly id: number;
  readonly login: string;
}

/** Reads a `By`: the id of an operator, and the table joined by it. NULL: there is no id. */
export function by(id: string, operators: string): string {
  return `CASE WHEN ${id} IS NOT NULL THEN json_build_object('id', ${id}, 'login', coalesce(${operators}.login, '')) END`;
}

export interface PartnerName {
  readonly id: number;
  readonly name: string;
}

/** Far more than fit into a list to choose from. */
export const MOST_PARTNERS = 1_000;

/** A partner as a filter, with its country. */
export interface PartnerChoice extends PartnerName {
  readonly country: Country;
}

const LIST = `SELECT id, name, country FROM partners ORDER BY lower(name), id LIMIT ${MOST_PARTNERS}`;

/** The first `MOST_PARTNERS` by name, as filters of the queue, also those without an application in review. */
export async function readPartnerNames(database: Database): Promise<PartnerChoice[]> {
  return (await database.query<{ id: number; name: string; country: Country }>(LIST)).rows;
}

const OF_IDS = 'SELECT id, name FROM partners WHERE id = ANY ($1::integer[])';

/** These partners, by id. */
export async function partnersOf(
  session: Session,
  ids: readonly number[],
): Promise<ReadonlyMap<number, PartnerName>> {
  const { rows } = await session.query<{ id: number; name: string }>(OF_IDS, [ids]);
  return new Map(rows.map((partner) => [partner.id, partner]));
}

/** The most of each kind that a search shows. */
const MOST_LIKE = 10;
/** $1: the text. Both tables are read whole: they are small. */
const PARTNERS_LIKE = `
  SELECT p.id, p.name FROM partners p WHERE strpos(lower(p.name), lower($1)) > 0
  ORDER BY lower(p.name), p.id LIMIT ${MOST_LIKE}`;
const OPERATORS_LIKE = `
  SELECT o.id, o.login FROM operators o WHERE o.partner_id IS NULL AND strpos(o.login, lower($1)) > 0 ORDER BY o.login, o.id LIMIT ${MOST_LIKE}`;

/** The first partners by name that have this text in their name. */
export async function partnersLike(session: Session, text: string): Promise<PartnerName[]> {
  return (await session.query<{ id: number; name: string }>(PARTNERS_LIKE, [text])).rows;
}

/** The first operators by login that have this text in it, disabled ones too: histories name them. */
export async function operatorsLike(session: Session, text: string): Promise<By[]> {
  return (await session.query<{ id: number; login: string }>(OPERATORS_LIKE, [text])).rows;
}
