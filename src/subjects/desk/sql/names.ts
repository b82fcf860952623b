/** The names of operators and partners, as the desk shows them. Reads `partners`; `by` is a part of statements. */
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

const LIST = `SELECT id, name FROM partners ORDER BY lower(name), id LIMIT ${MOST_PARTNERS}`;

/** The first `MOST_PARTNERS` by name, as filters of the queue, also those without an application in review. */
export async function readPartnerNames(database: Database): Promise<PartnerName[]> {
  return (await database.query<{ id: number; name: string }>(LIST)).rows;
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
