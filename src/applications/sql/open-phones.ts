/** The phones of open applications (contract, "Duplicate rule"). */

import { type Database, inTransaction } from '../../postgres/database.ts';
import { toBigint } from '../../seal/blind-indexes.ts';
import type { ApplicationId, BlindIndex } from '../rules/ids.ts';
import type { ApplicationStatus } from '../rules/lifecycle.ts';

const FREE = 'DELETE FROM open_phones WHERE phone_index = $1 AND application_id = $2';
/** Two statements: on a cluster, the two tables are on different machines. */
const NOTE = `
  INSERT INTO application_events (application_id, at, actor, action, from_status, to_status, reason)
  VALUES ($1, clock_timestamp(), $2, 'free_phone', $3, $3, $4)`;

/**
 * Lets an open application hold its phone's blind index no longer, and writes its history. Returns false if it does not
 * hold the index.
 */
export function freePhoneIndex(
  database: Database,
  id: ApplicationId,
  phoneIndex: BlindIndex<'phone'>,
  { actor, status, reason }: { actor: string; status: ApplicationStatus; reason: string },
): Promise<boolean> {
  return inTransaction(database, async (session) => {
    if ((await session.query(FREE, [toBigint(phoneIndex), id])).rowCount !== 1) return false;
    await session.query(NOTE, [id, actor, status, reason]);
    return true;
  });
}
