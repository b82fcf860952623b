/** Ids for partners, keys and policies, from any machine if the database is spread over several. */
import type { Session } from './database.ts';
import { onlyRow } from './only-row.ts';

/** Reads from that table, and takes the sequence's name as text: so the machine with the table gives the number. */
const TAKE = 'SELECT nextval($1::text)::integer AS id FROM elapsed';

/** The next id of a table. An id that is not used leaves a gap. */
export async function takeId(session: Session, table: 'partners' | 'api_keys' | 'policies'): Promise<number> {
  const { rows } = await session.query<{ id: number }>(TAKE, [`${table}_id_seq`]);
  return onlyRow(rows).id;
}
