/** The partners by which the queue can be narrowed. */
import type { Database } from '../../postgres/database.ts';

export interface PartnerName {
  readonly id: number;
  readonly name: string;
}

/** Far more than a list to choose from has room for. */
export const MOST_PARTNERS = 1_000;

const LIST = `SELECT id, name FROM partners ORDER BY lower(name), id LIMIT ${MOST_PARTNERS}`;

/** The first `MOST_PARTNERS` by name, also those without an application in review. */
export async function readPartnerNames(database: Database): Promise<PartnerName[]> {
  return (await database.query<{ id: number; name: string }>(LIST)).rows;
}
