/** Deletes the chats of conversations that ended long ago. */
import { forgetTurns } from '../../messages/sql/replies/retention.ts';
import { type Database, inTransaction, type Transaction } from '../../postgres/database.ts';
import { CHUNK, endedLongAgo, forgetInputs, noteTrimmed, withContract } from '../sql/trim.ts';

/**
 * Deletes the inputs and the replies of conversations that ended this many elapsed days ago, in steps that commit. The
 * conversation itself stays with its application, and so does everything said where a contract was signed. Returns the
 * number of conversations.
 */
export async function trimConversations(database: Database, days: number): Promise<number> {
  for (let trimmed = 0; ; ) {
    const step = await inTransaction(database, (session) => trimSome(session, days));
    trimmed += step.trimmed;
    if (step.looked < CHUNK) return trimmed;
  }
}

async function trimSome(session: Transaction, days: number) {
  const due = await endedLongAgo(session, days);
  if (due.length === 0) return { looked: 0, trimmed: 0 };
  const needed = await withContract(
    session,
    due.map(({ application_id }) => application_id),
  );
  const gone = due.filter(({ application_id }) => !needed.has(application_id));
  await noteTrimmed(session, due);
  await forgetInputs(session, gone);
  await forgetTurns(
    session,
    gone.map(({ application_id, turn }) => ({ applicationId: application_id, turn })),
  );
  return { looked: due.length, trimmed: gone.length };
}
