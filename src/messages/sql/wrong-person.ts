/** Messages and replies to a phone that is somebody else's (`migrations/0066_messages_wrong_person.sql`). */
import { type ApplicationId, partitionOf } from '../../applications/rules/ids.ts';
import { byPartitions } from '../../applications/sql/partition-runs.ts';
import type { Transaction } from '../../postgres/database.ts';

const CANCEL = 'SELECT cancel_for_wrong_person($1)';

/** Cancels what waits for applications whose phone is somebody else's. The caller has noted that (D43). */
export async function cancelForWrongPerson(
  session: Transaction,
  ids: readonly ApplicationId[],
): Promise<void> {
  for (const some of byPartitions(ids, partitionOf)) await session.query(CANCEL, [some]);
}
