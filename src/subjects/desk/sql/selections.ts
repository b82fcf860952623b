/** Deletes what operators have selected and not used. `queue.ts` makes selections, because the filters are there. */
import type { Database } from '../../../ground/postgres/database.ts';

// A selection that ends further away than one may last was made while the clock was ahead (D39).
const FORGET = `
  DELETE FROM selections WHERE ends_at < now() OR ends_at > now() + interval '1 day'`;

/** Deletes the selections that have ended. */
export async function forgetSelections(database: Database): Promise<void> {
  await database.query(FORGET);
}
