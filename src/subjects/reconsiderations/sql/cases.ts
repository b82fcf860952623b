/**
 * The cases that persons open in the chat, and which reasons they were told (D50; migrations/0021 has the tables).
 * Reads and writes `cases` and `told_reasons`; reads `replies`.
 */
import type { CaseKind, CaseOutcome } from '../../../domain/application/cases.ts';
import type { ApplicationId, BlindIndex } from '../../../domain/application/ids.ts';
import type { MessageStatus } from '../../../domain/message/notify.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { onlyRow, type Session, type Transaction } from '../../../ground/postgres/database.ts';
import { takeId } from '../../../ground/postgres/ids.ts';
import { toBigint } from '../../../seal/blind-indexes.ts';

/** The identity that the content of a case is sealed under. */
export function caseIdentity(applicationId: ApplicationId | string, sealId: string): string {
  return `case:${applicationId}:${sealId}`;
}

/** `elapsed` makes the coordinator of a cluster take the lock. */
const HOLD = `
  SELECT pg_advisory_xact_lock(hashtext('cases of an application'), h.hash)
  FROM elapsed, (SELECT DISTINCT hashint8(u.id) AS hash FROM unnest($1::bigint[]) AS u(id) ORDER BY 1) AS h`;

/** Until the end of the transaction, nobody else opens, answers or erases a case of these applications. */
export async function holdCases(session: Transaction, ids: readonly ApplicationId[]): Promise<void> {
  await session.query(HOLD, [ids]);
}

/** A case as it is stored. */
export interface StoredCase {
  readonly id: number;
  readonly kind: CaseKind;
  readonly applicationId: ApplicationId;
  readonly partner: { readonly id: PartnerId; readonly name: string };
  readonly askedAt: Date;
  readonly dueAt: Date;
  /** The channel takes an answer until then. */
  readonly windowUntil: Date;
  readonly acknowledgedAt: Date | null;
  readonly sealId: string;
  readonly content: Buffer;
  /** null, as the next two: it is open. */
  readonly outcome: CaseOutcome | null;
  readonly answeredAt: Date | null;
  /** Who answered, as the history names operators. */
  readonly answeredBy: string | null;
  /** The turn of the reply that tells the answer; null: none does yet. */
  readonly toldTurn: number | null;
  /** The status of that reply; null: there is none, or it is forgotten. */
  readonly toldStatus: MessageStatus | null;
}

const STORED = `
  SELECT c.id::float8, c.kind, c.application_id::float8 AS "applicationId",
    json_build_object('id', c.partner_id, 'name', p.name) AS partner, c.asked_at AS "askedAt", c.due_at AS "dueAt",
    c.window_until AS "windowUntil", c.acknowledged_at AS "acknowledgedAt", c.seal_id AS "sealId", c.content, c.outcome,
    c.answered_at AS "answeredAt", c.answered_by AS "answeredBy", c.told_turn AS "toldTurn", r.status AS "toldStatus"
  FROM cases c JOIN partners p ON p.id = c.partner_id
  LEFT JOIN replies r ON r.application_id = c.application_id AND r.turn = c.told_turn`;
const OF_APPLICATION = `${STORED} WHERE c.application_id = $1 ORDER BY c.id`;
const ONE = `${STORED} WHERE c.id = $1`;
const OPEN_PAGE = `
  ${STORED} WHERE c.outcome IS NULL AND ($1::text IS NULL OR c.kind = $1)
    AND ($2::timestamptz IS NULL OR (c.due_at, c.id) > ($2, $3::bigint)) ORDER BY c.due_at, c.id LIMIT $4`;
const ANSWERED_PAGE = `
  ${STORED} WHERE c.outcome IS NOT NULL AND ($1::text IS NULL OR c.kind = $1)
    AND ($2::timestamptz IS NULL OR (c.answered_at, c.id) < ($2, $3::bigint))
  ORDER BY c.answered_at DESC, c.id DESC LIMIT $4`;

/** The cases of an application, the oldest first. */
export async function casesOf(session: Session, id: ApplicationId): Promise<StoredCase[]> {
  return (await session.query<StoredCase>(OF_APPLICATION, [id])).rows;
}

/** One case; null: there is none. */
export async function caseOf(session: Session, id: number): Promise<StoredCase | null> {
  return (await session.query<StoredCase>(ONE, [id])).rows[0] ?? null;
}

/** Where a page ended: the time of its last row, in whole milliseconds, and the row's id. */
export interface CasePlace {
  readonly ms: number;
  readonly id: number;
}

/** Cases after a place: open ones by their term, answered ones the newest answer first. */
export async function casesAfter(
  session: Session,
  { isOpen, kind }: { readonly isOpen: boolean; readonly kind: CaseKind | null },
  after: CasePlace | null,
  most: number,
): Promise<StoredCase[]> {
  const values = [kind, after && new Date(after.ms), after?.id ?? null, most];
  return (await session.query<StoredCase>(isOpen ? OPEN_PAGE : ANSWERED_PAGE, values)).rows;
}

export interface NewCase {
  readonly kind: CaseKind;
  readonly applicationId: ApplicationId;
  readonly partnerId: PartnerId;
  /** Of the message that asks; null: the channel gave no id. */
  readonly messageIndex: BlindIndex<'channel_message_id'> | null;
  readonly dueAt: Date;
  readonly windowUntil: Date;
  readonly sealId: string;
  readonly content: Buffer;
}

const ADD = `
  INSERT INTO cases (id, kind, application_id, partner_id, message_index, due_at, window_until, seal_id, content, acknowledged_at)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9::bytea, $10 WHERE may_seal(get_byte($9::bytea, 0))`;

/** Opens a case of an application that the transaction holds. Throws if the data key of its content is retired. */
export async function addCase(
  session: Transaction,
  given: NewCase,
  acknowledgedAt: Date | null,
): Promise<number> {
  const id = await takeId(session, 'cases');
  const { kind, applicationId, partnerId, messageIndex, dueAt, windowUntil, sealId, content } = given;
  const message = messageIndex && toBigint(messageIndex);
  const values = [
    id,
    kind,
    applicationId,
    partnerId,
    message,
    dueAt,
    windowUntil,
    sealId,
    content,
    acknowledgedAt,
  ];
  if ((await session.query(ADD, values)).rowCount !== 1) throw retiredCaseKey();
  return id;
}

const HEARD_MESSAGE = 'SELECT kind FROM cases WHERE message_index = ANY ($1::bigint[])';

/** The kinds of the cases that one of these messages opened. */
export async function openedBy(
  session: Session,
  messages: readonly BlindIndex<'channel_message_id'>[],
): Promise<ReadonlySet<CaseKind>> {
  if (messages.length === 0) return new Set();
  const { rows } = await session.query<{ kind: CaseKind }>(HEARD_MESSAGE, [messages.map(toBigint)]);
  return new Set(rows.map(({ kind }) => kind));
}

const UNTOLD = `
  SELECT DISTINCT application_id::float8 AS id FROM cases
  WHERE application_id = ANY ($1::bigint[]) AND outcome IS NOT NULL AND told_turn IS NULL`;

/** Those of these applications that have an answer which no reply tells. */
export async function withUntold(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<ReadonlySet<ApplicationId>> {
  if (ids.length === 0) return new Set();
  return new Set((await session.query<{ id: ApplicationId }>(UNTOLD, [ids])).rows.map(({ id }) => id));
}

const HEAR = `
  UPDATE cases SET window_until = greatest(window_until, $2), acknowledged_at = coalesce($3, acknowledged_at),
    content = coalesce($4, content)
  WHERE id = $1 AND ($4::bytea IS NULL OR may_seal(get_byte($4::bytea, 0)))`;

/** Notes what a person wrote about an open case. `content` null: it stays as it is. */
export async function noteHeard(
  session: Transaction,
  id: number,
  heard: {
    readonly windowUntil: Date;
    readonly acknowledgedAt: Date | null;
    readonly content: Buffer | null;
  },
): Promise<void> {
  const { windowUntil, acknowledgedAt, content } = heard;
  if ((await session.query(HEAR, [id, windowUntil, acknowledgedAt, content])).rowCount !== 1)
    throw retiredCaseKey();
}

const ANSWER = `
  UPDATE cases SET outcome = $2, answered_at = $6, answered_ms = (SELECT e.ms FROM elapsed e), answered_by = $3,
    content = $4, told_turn = $5
  WHERE id = $1 AND outcome IS NULL AND may_seal(get_byte($4::bytea, 0))`;

/** Answers an open case that the transaction holds. */
export async function writeAnswer(
  session: Transaction,
  id: number,
  answer: {
    readonly outcome: CaseOutcome;
    readonly by: string;
    readonly content: Buffer;
    readonly toldTurn: number | null;
    /** The database's time. */
    readonly at: Date;
  },
): Promise<void> {
  const { outcome, by, content, toldTurn, at } = answer;
  if ((await session.query(ANSWER, [id, outcome, by, content, toldTurn, at])).rowCount !== 1)
    throw retiredCaseKey();
}

const NOTE_TOLD = 'UPDATE cases SET told_turn = $2 WHERE id = ANY ($1::bigint[])';

/** Notes the reply that tells the answers of these cases. */
export async function noteTold(session: Transaction, ids: readonly number[], turn: number): Promise<void> {
  if (ids.length > 0) await session.query(NOTE_TOLD, [ids, turn]);
}

/**
 * The turns of these replies begin far below those of conversations (from 1) and of single answers (0 to -2), and go
 * up, because of an application a later turn waits for the earlier ones.
 */
const FIRST_TURN = -1_000_000_000;
const NEXT_TURN = `
  SELECT greatest(
    coalesce((SELECT max(r.turn) FROM replies r WHERE r.application_id = $1 AND r.turn < -2), ${FIRST_TURN}),
    coalesce((SELECT max(t.turn) FROM told_reasons t WHERE t.application_id = $1), ${FIRST_TURN}),
    coalesce((SELECT max(c.told_turn) FROM cases c WHERE c.application_id = $1), ${FIRST_TURN})) + 1 AS turn`;

/** The turn of the next reply about an application that the transaction holds. */
export async function nextTurn(session: Transaction, id: ApplicationId): Promise<number> {
  return onlyRow((await session.query<{ turn: number }>(NEXT_TURN, [id])).rows).turn;
}

/** A time ahead of the clock was written while it was ahead (D39), and says nothing. */
const TOLD_TODAY = `
  SELECT count(*) > 0 AS told FROM told_reasons
  WHERE application_id = $1 AND turn IS NOT NULL
    AND at > clock_timestamp() - interval '24 hours' AND at <= clock_timestamp() + interval '1 minute'`;

/** Whether a reply has told the reasons within the last 24 hours of the database's clock. */
export async function toldToday(session: Session, id: ApplicationId): Promise<boolean> {
  return onlyRow((await session.query<{ told: boolean }>(TOLD_TODAY, [id])).rows).told;
}

const TELL =
  'INSERT INTO told_reasons (id, application_id, turn, codes, language) VALUES ($1, $2, $3, $4, $5)';

/** Notes that a reply tells these reasons. */
export async function noteToldReasons(
  session: Transaction,
  id: ApplicationId,
  {
    turn,
    codes,
    language,
  }: { readonly turn: number; readonly codes: readonly string[]; readonly language: string },
): Promise<void> {
  await session.query(TELL, [await takeId(session, 'told_reasons'), id, turn, codes, language]);
}

const DELETE = `
  WITH gone AS (DELETE FROM cases WHERE application_id = ANY ($1::bigint[]))
  DELETE FROM told_reasons WHERE application_id = ANY ($1::bigint[])`;

/** Deletes the cases of these applications, and what they were told. One that is opened at the same time goes too. */
export async function eraseCases(session: Transaction, ids: readonly ApplicationId[]): Promise<void> {
  if (ids.length === 0) return;
  await holdCases(session, ids);
  await session.query(DELETE, [ids]);
}

function retiredCaseKey(): Error {
  return new Error('a case is sealed with a data key that is retired');
}
