/**
 * The conversations that operators hold, in the order in which the channel's window closes, and who answers them
 * (docs/operators.md, "The inbox"). Reads `conversations`; reads and writes `inbox_claims` by `take_conversation`,
 * `take_next_conversation` and `drop_conversation`. The database's clock ends a claim (D39).
 */
import type { ApplicationId, BlindIndex } from '../../../domain/application/ids.ts';
import type { Language } from '../../../domain/conversation/flow.ts';
import type { ConversationPlace, HandOverReason, Holder } from '../../../domain/conversation/places.ts';
import { WINDOW_MS } from '../../../domain/message/reply.ts';
import { onlyRow, type Session } from '../../../ground/postgres/database.ts';
import { readIndex } from '../../../seal/blind-indexes.ts';
import { type InboxState, MOST_WAITING } from '../rules/inbox.ts';
import { CLAIM_SECONDS, type Claimer, type StoredClaim } from './claims.ts';
import { type By, by } from './names.ts';

/** Where a page ends. `heard`: microseconds since 1970; null: the person has never written. */
export interface InboxPlace {
  /** The channel's window was closed. */
  readonly isClosed: boolean;
  readonly heard: number | null;
  /** The id of the conversation. */
  readonly id: number;
}

/** A conversation of the inbox, without what was written. */
export interface StoredInboxRow extends InboxPlace {
  readonly applicationId: ApplicationId;
  readonly partner: { readonly id: number; readonly name: string };
  readonly step: ConversationPlace;
  readonly heldBy: Holder;
  /** Why an operator holds it; null: the service does, or the state cannot be read. */
  readonly why: HandOverReason | null;
  readonly language: Language | null;
  /** Since when the person waits for an operator; null: the person does not. */
  readonly waitsSince: Date | null;
  readonly heardAt: Date | null;
  /** When the channel's window closes or closed; null: the person has never written. */
  readonly windowUntil: Date | null;
  readonly endedAt: Date | null;
  readonly phoneIndex: BlindIndex<'phone'>;
  readonly isOptedOut: boolean;
  readonly isWrongPerson: boolean;
  readonly claim: StoredClaim | null;
}

interface Row extends Omit<StoredInboxRow, 'claim'> {
  readonly by: By | null;
  readonly until: Date | null;
}

const WINDOW = `interval '${WINDOW_MS} milliseconds'`;
/** The key of both indexes (migrations/0034_conversation.sql). */
const HEARD = "coalesce(c.heard_at, '-infinity')";
const CLOSED = `${HEARD} <= now() - ${WINDOW}`;

/** Operators act on the newest conversation of an application. */
const NEWEST = 'c.id = (SELECT max(n.id) FROM conversations n WHERE n.application_id = c.application_id)';

const SHOWN = `
  c.application_id::float8 AS "applicationId", c.id::float8 AS id, c.is_closed AS "isClosed",
  (extract(epoch FROM c.heard_at) * 1000000)::float8 AS heard, json_build_object('id', p.id, 'name', p.name) AS partner,
  c.place AS step, c.held_by AS "heldBy", c.state ->> 'handedOver' AS why, c.language, c.waits_since AS "waitsSince",
  c.heard_at AS "heardAt", c.heard_at + ${WINDOW} AS "windowUntil", c.ended_at AS "endedAt",
  ${readIndex('c.phone_index')} AS "phoneIndex", coalesce(c.state ->> 'optedOut' = 'true', false) AS "isOptedOut",
  coalesce(c.state ->> 'wrongPerson' = 'true', false) AS "isWrongPerson", ${by('o.id', 'o')} AS by,
  k.claimed_until AS until`;
const WITH_NAMES = `
  JOIN partners p ON p.id = c.partner_id
  LEFT JOIN inbox_claims k ON k.application_id = c.application_id AND is_claimed(k.claimed_until, now())
  LEFT JOIN operators o ON o.id = k.operator_id`;

const IN_STATE: Readonly<Record<InboxState, string>> = {
  waiting: 'c.waits_since IS NOT NULL',
  answered: "c.held_by = 'operator' AND c.waits_since IS NULL",
};

/** After the place of $2 to $4, on this side of the end of the window; $2 NULL: from the beginning. */
const AFTER = `(${HEARD}, c.id) > (coalesce('epoch'::timestamptz + $3::bigint * interval '1 microsecond', '-infinity'), $4::bigint)`;

/**
 * $1: the most rows. First those whose window is open. Each side reads its part of the index, and the list is planned
 * with its values.
 */
const PAGES = pages(
  (state) => `
  SELECT ${SHOWN} FROM (
    (SELECT c.*, false AS is_closed FROM conversations c
     WHERE ${IN_STATE[state]} AND NOT (${CLOSED}) AND ${NEWEST}
       AND ($2::boolean IS NULL OR NOT $2 AND ${AFTER})
     ORDER BY ${HEARD}, c.id LIMIT $1)
    UNION ALL
    (SELECT c.*, true FROM conversations c
     WHERE ${IN_STATE[state]} AND ${CLOSED} AND ${NEWEST}
       AND ($2::boolean IS DISTINCT FROM true OR ${AFTER})
     ORDER BY ${HEARD}, c.id LIMIT $1)
  ) AS c ${WITH_NAMES} ORDER BY c.is_closed, ${HEARD}, c.id LIMIT $1`,
);

function pages(of: (state: InboxState) => string): Readonly<Record<InboxState, string>> {
  return { waiting: of('waiting'), answered: of('answered') };
}

/** The first `limit` conversations after a place; null: from the beginning. */
export async function readInbox(
  session: Session,
  state: InboxState,
  after: InboxPlace | null,
  limit: number,
): Promise<StoredInboxRow[]> {
  const values = [limit, after?.isClosed ?? null, after?.heard ?? null, after?.id ?? null];
  return (await session.query<Row>(PAGES[state], values)).rows.map(shown);
}

const ONE = `
  SELECT ${SHOWN} FROM (
    SELECT c.*, ${CLOSED} AS is_closed FROM conversations c WHERE c.application_id = $1 AND ${NEWEST}
  ) AS c ${WITH_NAMES}`;

/** The newest conversation of an application, whoever holds it; null: there is none. */
export async function readInboxRow(session: Session, id: ApplicationId): Promise<StoredInboxRow | null> {
  const [row] = (await session.query<Row>(ONE, [id])).rows;
  return row === undefined ? null : shown(row);
}

function shown({ by: claimer, until, ...row }: Row): StoredInboxRow {
  return { ...row, claim: claimer === null ? null : { by: claimer, until: until! } };
}

const COUNT = `
  SELECT count(*)::integer AS count FROM (
    SELECT FROM conversations c WHERE ${IN_STATE.waiting} AND ${NEWEST}
    LIMIT ${MOST_WAITING}) AS w`;

/** How many wait for an operator; `MOST_WAITING` stands for that number and more. */
export async function countWaiting(session: Session): Promise<number> {
  return onlyRow((await session.query<{ count: number }>(COUNT)).rows).count;
}

const TAKE = `
  SELECT t.is_held AS "isHeld", ${by('o.id', 'o')} AS by, t.until
  FROM take_conversation($1, $2, ${CLAIM_SECONDS}, $3) AS t LEFT JOIN operators o ON o.id = t.operator_id`;

/** Claims a conversation for an operator, or renews the claim; otherwise tells whose it is. */
export async function takeConversation(
  session: Session,
  id: ApplicationId,
  { operatorId, page }: Claimer,
): Promise<{ readonly isHeld: boolean; readonly claim: StoredClaim }> {
  type Taken = { readonly isHeld: boolean; readonly by: By; readonly until: Date };
  const { isHeld, ...claim } = onlyRow((await session.query<Taken>(TAKE, [id, operatorId, page])).rows);
  return { isHeld, claim };
}

const TAKE_NEXT = `
  SELECT t.application_id::float8 AS "applicationId" FROM take_next_conversation($1, ${CLAIM_SECONDS}, $2, ${WINDOW}) AS t`;

/** Claims the first conversation that waits and that nobody holds; null: there is none. */
export async function takeNextConversation(
  session: Session,
  { operatorId, page }: Claimer,
): Promise<ApplicationId | null> {
  const { rows } = await session.query<{ applicationId: ApplicationId }>(TAKE_NEXT, [operatorId, page]);
  return rows[0]?.applicationId ?? null;
}

const DROP = 'SELECT drop_conversation($1, $2, $3)';

/** Gives a conversation back if the operator holds it and no other page of the operator uses the claim. */
export async function dropConversation(
  session: Session,
  id: ApplicationId,
  { operatorId, page }: Claimer,
): Promise<void> {
  await session.query(DROP, [id, operatorId, page]);
}
