/**
 * Deletes replies: of deleted applications, of conversations that ended long ago, and old answers to persons without a
 * conversation (docs/upkeep.md). Writes `replies`.
 */
import type { ApplicationId } from '../../../../domain/application/ids.ts';
import type { Database, Session, Transaction } from '../../../../ground/postgres/database.ts';

/** A reply that is being sent stays, and is deleted in a later round. */
const DELETE = `
  DELETE FROM replies WHERE status <> 'sending' AND id = ANY (ARRAY(
    SELECT r.id FROM replies r WHERE r.application_id = ANY ($1::bigint[]) ORDER BY r.id FOR UPDATE))`;

/** Deletes the replies of these applications, except those that are being sent. */
export async function forgetReplies(session: Transaction, ids: readonly ApplicationId[]): Promise<void> {
  await session.query(DELETE, [ids]);
}

/** A reply that waits or is being sent stays, because it still has to go out. */
const DELETE_TURNS = `
  DELETE FROM replies WHERE status NOT IN ('queued', 'sending') AND id = ANY (ARRAY(
    SELECT r.id FROM replies r JOIN unnest($1::bigint[], $2::integer[]) AS u(application_id, turn)
      ON r.application_id = u.application_id AND r.turn <= u.turn
    ORDER BY r.id FOR UPDATE OF r))`;

/** Deletes the replies of each application up to a turn, except those that are not sent yet. */
export async function forgetTurns(
  session: Session,
  some: readonly { readonly applicationId: ApplicationId; readonly turn: number }[],
): Promise<void> {
  const ids = some.map(({ applicationId }) => applicationId);
  await session.query(DELETE_TURNS, [ids, some.map(({ turn }) => turn)]);
}

/** The most answers that one statement stamps. */
const STAMPED = 5_000;
/** The answers to persons without a conversation that the upkeep sees for the first time, in the order of the index. */
const STAMP = `
  UPDATE replies SET seen_ms = (SELECT e.ms FROM elapsed e) WHERE id = ANY (ARRAY(
    SELECT r.id FROM replies r WHERE r.turn < 1 AND r.seen_ms IS NULL
    ORDER BY r.seen_ms LIMIT ${STAMPED} FOR UPDATE SKIP LOCKED))`;

/**
 * Notes the elapsed time at which answers to persons without a conversation were first seen, a limited number in a
 * turn.
 */
export async function stampStrangers(database: Database): Promise<void> {
  await database.query(STAMP);
}

const ANSWERED = `
  SELECT r.id, r.application_id::float8 AS "applicationId" FROM replies r
  WHERE r.turn < 1 AND r.seen_ms <= elapsed_ms() - ms_of($1 * interval '1 day') AND r.status NOT IN ('queued', 'sending')
  ORDER BY r.seen_ms LIMIT $2 FOR UPDATE SKIP LOCKED`;

/** An answer to a person without a conversation. */
export interface StrangerAnswer {
  readonly id: string;
  readonly applicationId: ApplicationId;
}

/**
 * Answers to persons without a conversation that were first seen this many elapsed days ago, locked; at most `most`.
 */
export async function answeredLongAgo(
  session: Transaction,
  days: number,
  most: number,
): Promise<StrangerAnswer[]> {
  return (await session.query<StrangerAnswer>(ANSWERED, [days, most])).rows;
}

const DELETE_ANSWERS = 'DELETE FROM replies WHERE id = ANY ($1::bigint[])';
const LOOK_AGAIN = 'UPDATE replies SET seen_ms = NULL WHERE id = ANY ($1::bigint[])';

/** Deletes answers that the transaction has locked. */
export async function deleteAnswers(session: Transaction, some: readonly StrangerAnswer[]): Promise<void> {
  await session.query(DELETE_ANSWERS, [some.map(({ id }) => id)]);
}

/** Has answers that the transaction has locked looked at again after as many days. */
export async function lookAgainAtAnswers(
  session: Transaction,
  some: readonly StrangerAnswer[],
): Promise<void> {
  await session.query(LOOK_AGAIN, [some.map(({ id }) => id)]);
}
