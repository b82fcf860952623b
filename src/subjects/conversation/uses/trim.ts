/**
 * Deletes the chats of conversations that ended long ago, and old answers to persons without a conversation
 * (`CONVERSATION_DAYS`; docs/upkeep.md). Writes through `sql/trim.ts` and the replies of messages.
 */
import { type Database, inTransaction, type Transaction } from '../../../ground/postgres/database.ts';
import {
  answeredLongAgo,
  deleteAnswers,
  forgetTurns,
  lookAgainAtAnswers,
  stampStrangers,
} from '../../messages/sql/replies/retention.ts';
import {
  CHUNK,
  endedLongAgo,
  forgetInputs,
  lookAgain,
  MOST_CHUNKS,
  noteTrimmed,
  stampEnded,
  withContract,
  withRest,
} from '../sql/trim.ts';

/** Notes the elapsed time at which ended conversations, and answers to persons without one, were first seen. */
export async function stampChats(database: Database): Promise<void> {
  await stampEnded(database);
  await stampStrangers(database);
}

/** How much one transaction looked at, and how much it deleted. */
interface Step {
  readonly looked: number;
  readonly gone: number;
}

/**
 * Deletes the inputs and the replies of conversations that ended this many elapsed days ago, in steps that commit. What
 * came later is deleted after as many days more. The conversation itself stays with its application, and with a signed
 * contract the whole chat stays. Returns the number of conversations.
 */
export function trimConversations(database: Database, days: number): Promise<number> {
  return inSteps(database, (session) => trimSome(session, days));
}

/**
 * Deletes answers to persons without a conversation this many elapsed days after they were seen, in steps that commit.
 * Answers of applications with a signed contract stay. Returns their number.
 */
export function trimStrangers(database: Database, days: number): Promise<number> {
  return inSteps(database, (session) => trimSomeStrangers(session, days));
}

async function inSteps(database: Database, act: (session: Transaction) => Promise<Step>): Promise<number> {
  let all = 0;
  for (let chunk = 0; chunk < MOST_CHUNKS; chunk += 1) {
    const { looked, gone } = await inTransaction(database, act);
    all += gone;
    if (looked < CHUNK) break;
  }
  return all;
}

async function trimSome(session: Transaction, days: number): Promise<Step> {
  const due = await endedLongAgo(session, days);
  if (due.length === 0) return { looked: 0, gone: 0 };
  const needed = await withContract(
    session,
    due.map(({ applicationId }) => applicationId),
  );
  const free = due.filter(({ applicationId }) => !needed.has(applicationId));
  await forgetInputs(session, free);
  await forgetTurns(session, free);
  const rest = await withRest(session, free);
  const isGone = ({ id, applicationId }: (typeof due)[number]) => !needed.has(applicationId) && !rest.has(id);
  await noteTrimmed(session, due.filter(isGone));
  await lookAgain(
    session,
    due.filter((one) => !isGone(one)),
  );
  return { looked: due.length, gone: free.length };
}

async function trimSomeStrangers(session: Transaction, days: number): Promise<Step> {
  const due = await answeredLongAgo(session, days, CHUNK);
  if (due.length === 0) return { looked: 0, gone: 0 };
  const needed = await withContract(
    session,
    due.map(({ applicationId }) => applicationId),
  );
  const isNeeded = ({ applicationId }: (typeof due)[number]) => needed.has(applicationId);
  const gone = due.filter((one) => !isNeeded(one));
  await deleteAnswers(session, gone);
  await lookAgainAtAnswers(session, due.filter(isNeeded));
  return { looked: due.length, gone: gone.length };
}
