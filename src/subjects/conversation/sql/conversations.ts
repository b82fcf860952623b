/** The rows of `conversations`: locked and set up by turns, listed and read by operators (D43). */
import type { ApplicationId, BlindIndex } from '../../../domain/application/ids.ts';
import type { ApplicationStatus } from '../../../domain/application/lifecycle.ts';
import type { Language } from '../../../domain/conversation/flow.ts';
import type { Timer } from '../../../domain/conversation/input.ts';
import { type ConversationPlace, type Holder, isEnd } from '../../../domain/conversation/places.ts';
import type { State } from '../../../domain/conversation/state.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { onlyRow, type Session, type Transaction } from '../../../ground/postgres/database.ts';
import { readIndex } from '../../../seal/blind-indexes.ts';

declare const CONVERSATION: unique symbol;

/** The id of a conversation: the decimal text of a bigint. */
export type ConversationId = string & { readonly [CONVERSATION]: true };

/** A conversation as it is stored. The four members after `phoneIndex` are null before its first turn. */
export interface ConversationRow {
  readonly id: ConversationId;
  readonly applicationId: ApplicationId;
  readonly partnerId: PartnerId;
  readonly phoneIndex: BlindIndex<'phone'>;
  readonly flowId: number | null;
  readonly language: Language | null;
  readonly locale: string | null;
  readonly partnerName: string | null;
  readonly place: ConversationPlace;
  readonly heldBy: Holder;
  readonly status: ApplicationStatus;
  readonly state: State | null;
  readonly turn: number;
  readonly beganAt: Date;
  readonly heardAt: Date | null;
  readonly movedAt: Date;
  readonly timer: Timer | null;
  readonly dueAt: Date | null;
  readonly endedAt: Date | null;
  /** Its chat was deleted (`CONVERSATION_DAYS`), and nothing has happened in it since. */
  readonly isTrimmed: boolean;
  /** Since when it waits for an operator; null: it does not wait. */
  readonly waitsSince: Date | null;
  readonly contractTurn: number | null;
  readonly acceptedInput: string | null;
}

/** The columns of a `ConversationRow`; `c` is the table, or one row of it, as the statement names it. */
export function conversationColumns(c: string): string {
  return `${c}.id, ${c}.application_id::float8 AS "applicationId", ${c}.partner_id AS "partnerId",
    ${readIndex(`${c}.phone_index`)} AS "phoneIndex", ${c}.flow_id AS "flowId", ${c}.language, ${c}.locale,
    ${c}.partner_name AS "partnerName", ${c}.place, ${c}.held_by AS "heldBy", ${c}.status, ${c}.state, ${c}.turn,
    ${c}.began_at AS "beganAt", ${c}.heard_at AS "heardAt", ${c}.moved_at AS "movedAt", ${c}.timer,
    ${c}.due_at AS "dueAt", ${c}.ended_at AS "endedAt", ${c}.is_trimmed AS "isTrimmed",
    ${c}.waits_since AS "waitsSince", ${c}.contract_turn AS "contractTurn", ${c}.accepted_input AS "acceptedInput"`;
}

const COLUMNS = conversationColumns('c');

const SET_UP = `
  UPDATE conversations c SET flow_id = u.flow_id, language = u.language, locale = u.locale, partner_name = u.partner
  FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::text[], $5::text[]) AS u(id, flow_id, language, locale, partner)
  WHERE c.id = u.id`;

/** What the first turn of a conversation reads and stores for good. */
export interface SetUp {
  readonly id: ConversationId;
  readonly flowId: number;
  readonly language: Language;
  readonly locale: string;
  readonly partnerName: string;
}

/** Stores what the first turns of conversations have read. */
export async function setUp(session: Transaction, some: readonly SetUp[]): Promise<void> {
  if (some.length === 0) return;
  await session.query(SET_UP, [
    some.map(({ id }) => id),
    some.map(({ flowId }) => flowId),
    some.map(({ language }) => language),
    some.map(({ locale }) => locale),
    some.map(({ partnerName }) => partnerName),
  ]);
}

const NEWEST = `
  SELECT ${COLUMNS} FROM conversations c WHERE c.application_id = $1 ORDER BY c.id DESC LIMIT 1`;

/** The newest conversation of an application; null: it has none. */
export async function conversationOf(
  session: Session,
  applicationId: ApplicationId,
): Promise<ConversationRow | null> {
  return (await session.query<ConversationRow>(NEWEST, [applicationId])).rows[0] ?? null;
}

/** Which conversations a list has. A member that is null does not narrow the list. */
export interface ConversationFilter {
  readonly isOpen: boolean | null;
  readonly heldBy: Holder | null;
  readonly place: ConversationPlace | null;
}

const CHUNK = 1_000;
const LIST = `
  SELECT ${COLUMNS} FROM conversations c
  WHERE ($1::bigint IS NULL OR c.id < $1) AND ($2::boolean IS NULL OR (c.ended_at IS NULL) = $2)
    AND ($3::text IS NULL OR c.held_by = $3) AND ($4::text IS NULL OR c.place = $4)`;
/** Open conversations are among the newest, so no row before the oldest open one is read. */
const NOT_BEFORE_OPEN = `
    AND c.id >= (SELECT min(o.id) FROM (SELECT f.id FROM conversations f WHERE f.ended_at IS NULL OFFSET 0) AS o)`;
const AT_END = `
    AND c.ended_at IS NOT NULL`;
const NEWEST_FIRST = `
  ORDER BY c.id DESC LIMIT ${CHUNK}`;

/** A list of open conversations, of one end, or of any. */
function listOf({ isOpen, place }: ConversationFilter): string {
  const isAtEnd = place !== null && isEnd(place);
  const isOfOpen = isOpen === true || (place !== null && !isAtEnd);
  return LIST + (isOfOpen ? NOT_BEFORE_OPEN : isAtEnd ? AT_END : '') + NEWEST_FIRST;
}

/** The conversations that fit every part of the filter, newest first; memory is bounded. */
export async function* readConversations(
  session: Session,
  filter: ConversationFilter,
): AsyncGenerator<ConversationRow, void, undefined> {
  const { isOpen, heldBy, place } = filter;
  const text = listOf(filter);
  let before: string | null = null;
  for (;;) {
    const { rows }: { rows: ConversationRow[] } = await session.query<ConversationRow>(text, [
      before,
      isOpen,
      heldBy,
      place,
    ]);
    yield* rows;
    if (rows.length < CHUNK) return;
    before = rows.at(-1)!.id;
  }
}

const BY_ID = `SELECT ${COLUMNS} FROM conversations c WHERE c.id = $1`;

/** One conversation; null: it was erased. */
export async function conversationById(
  session: Session,
  id: ConversationId,
): Promise<ConversationRow | null> {
  return (await session.query<ConversationRow>(BY_ID, [id])).rows[0] ?? null;
}

const LOCK = `${BY_ID} FOR NO KEY UPDATE`;

/** Locks one conversation, after any turn that is under way; null: it was erased. */
export async function lockConversation(
  session: Transaction,
  id: ConversationId,
): Promise<ConversationRow | null> {
  return (await session.query<ConversationRow>(LOCK, [id])).rows[0] ?? null;
}

const ANSWER = `
  UPDATE conversations SET turn = turn + 1, waits_since = NULL, is_trimmed = false,
    ended_ms = CASE WHEN is_trimmed THEN NULL ELSE ended_ms END
  WHERE id = $1 RETURNING turn`;

/**
 * Takes the next number of a turn for an operator's text, in a conversation that the transaction has locked. Then the
 * conversation no longer waits for an operator.
 */
export async function countAnswer(session: Transaction, id: ConversationId): Promise<number> {
  return onlyRow((await session.query<{ turn: number }>(ANSWER, [id])).rows).turn;
}

const REMINDED = 'UPDATE conversations SET waits_since = NULL WHERE id = $1';

/** Notes that an operator has sent a reminder: the person no longer waits for an operator. */
export async function noteReminded(session: Transaction, id: ConversationId): Promise<void> {
  await session.query(REMINDED, [id]);
}

const SAME_PHONE = `
  SELECT DISTINCT o.application_id::float8 AS id FROM conversations c JOIN conversations o ON o.phone_index = c.phone_index
  WHERE c.application_id = $1 AND o.application_id <> c.application_id`;

/** The other applications of the phone that had a conversation. */
export async function applicationsOfSamePhone(session: Session, id: ApplicationId): Promise<ApplicationId[]> {
  const { rows } = await session.query<{ id: ApplicationId }>(SAME_PHONE, [id]);
  return rows.map((other) => other.id);
}
