/**
 * The statements that delete the chats of conversations that ended long ago (`CONVERSATION_DAYS`, docs/upkeep.md).
 * Writes `conversations`, and deletes from `conversation_inputs` and `conversation_work`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Database, Transaction } from '../../../ground/postgres/database.ts';

/** The most conversations of one transaction. */
export const CHUNK = 500;
/** The most transactions of one turn of the upkeep. The rest waits for the next one. */
export const MOST_CHUNKS = 20;

/** Read in the order of the index, so that no plan scans all conversations by their ids. */
const STAMP = `
  UPDATE conversations SET ended_ms = elapsed_ms() WHERE id = ANY (ARRAY(
    SELECT c.id FROM conversations c WHERE c.ended_at IS NOT NULL AND NOT c.is_trimmed AND c.ended_ms IS NULL
    ORDER BY c.ended_ms LIMIT ${CHUNK} FOR UPDATE SKIP LOCKED))`;

const DUE = `
  SELECT c.id, c.application_id::float8 AS "applicationId", c.turn FROM conversations c
  WHERE c.ended_at IS NOT NULL AND NOT c.is_trimmed AND c.ended_ms <= elapsed_ms() - ms_of($1 * interval '1 day')
  ORDER BY c.ended_ms LIMIT ${CHUNK} FOR UPDATE SKIP LOCKED`;

/** The chat of a signed contract proves how it was signed, so it stays as long as the contract. */
const WITH_CONTRACT = `
  SELECT c.application_id::float8 AS id FROM loan_contracts c
  WHERE c.application_id = ANY ($1::bigint[]) AND c.state IN ('signed', 'withdrawn') GROUP BY c.application_id`;

const WITH_REST = `
  SELECT c.id FROM conversations c WHERE c.id = ANY ($1::bigint[])
    AND (EXISTS (SELECT FROM conversation_inputs i WHERE i.conversation_id = c.id)
      OR EXISTS (SELECT FROM replies r WHERE r.application_id = c.application_id AND r.turn <= c.turn))`;

const TRIM = 'UPDATE conversations SET is_trimmed = true WHERE id = ANY ($1::bigint[])';
const FORGET_WORK = 'DELETE FROM conversation_work WHERE conversation_id = ANY ($1::bigint[])';
const LOOK_AGAIN = 'UPDATE conversations SET ended_ms = NULL WHERE id = ANY ($1::bigint[])';
/** Inputs that no turn has taken stay, because they are still to be answered. */
const FORGET_INPUTS =
  'DELETE FROM conversation_inputs WHERE conversation_id = ANY ($1::bigint[]) AND turn IS NOT NULL';

/** A conversation that ended. */
export interface EndedConversation {
  readonly id: string;
  readonly applicationId: ApplicationId;
  /** The last turn. Later conversations of the application have later turns. */
  readonly turn: number;
}

/** Notes the elapsed time at which conversations were seen to have ended. */
export async function stampEnded(database: Database): Promise<void> {
  for (let chunk = 0; chunk < MOST_CHUNKS; chunk += 1) {
    if (((await database.query(STAMP)).rowCount ?? 0) < CHUNK) return;
  }
}

/** Conversations that ended this many elapsed days ago and are not trimmed yet, locked; at most `CHUNK`. */
export async function endedLongAgo(session: Transaction, days: number): Promise<EndedConversation[]> {
  return (await session.query<EndedConversation>(DUE, [days])).rows;
}

/** Those of the applications whose signed contract is kept. */
export async function withContract(
  session: Transaction,
  applications: readonly ApplicationId[],
): Promise<Set<ApplicationId>> {
  const { rows } = await session.query<{ id: ApplicationId }>(WITH_CONTRACT, [applications]);
  return new Set(rows.map(({ id }) => id));
}

/** Those of these conversations that still have inputs or replies. */
export async function withRest(
  session: Transaction,
  some: readonly EndedConversation[],
): Promise<Set<string>> {
  const { rows } = await session.query<{ id: string }>(WITH_REST, [some.map(({ id }) => id)]);
  return new Set(rows.map(({ id }) => id));
}

/** Marks these as trimmed: they are not looked at again until something happens in them. */
export async function noteTrimmed(session: Transaction, some: readonly EndedConversation[]): Promise<void> {
  await session.query(TRIM, [some.map(({ id }) => id)]);
}

/** Has these looked at again after as many days, because a part of them has to stay. */
export async function lookAgain(session: Transaction, some: readonly EndedConversation[]): Promise<void> {
  await session.query(LOOK_AGAIN, [some.map(({ id }) => id)]);
}

/** Deletes the inputs of these that turns have taken, and the work that is left. */
export async function forgetInputs(session: Transaction, some: readonly EndedConversation[]): Promise<void> {
  const ids = some.map(({ id }) => id);
  await session.query(FORGET_WORK, [ids]);
  await session.query(FORGET_INPUTS, [ids]);
}
