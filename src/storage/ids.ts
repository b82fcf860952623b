/** Ids of what operators add: from any machine, where the database is spread over several. */
import type { Session } from './database.ts';

/** From that table, and with the sequence's name as text: the machine that has the table gives the number. */
const TAKE = 'SELECT nextval($1::text)::integer AS id FROM elapsed';

/** The next id of a table. Who adds nothing with it leaves a gap. */
export async function takeId(session: Session, table: 'partners' | 'api_keys' | 'policies'): Promise<number> {
  const { rows } = await session.query<{ id: number }>(TAKE, [`${table}_id_seq`]);
  return (rows[0] as { id: number }).id;
}
