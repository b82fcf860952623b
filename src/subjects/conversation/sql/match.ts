/**
 * Finds the conversation that a person's message belongs to: by the message that it answers, then by the phone (D43;
 * `uses/whose.ts` has the rule). Reads `conversations`, `conversation_inputs`, `replies` and `messages_of_channel`.
 */
import {
  type ApplicationId,
  applicationOfMessage,
  type BlindIndex,
  type MessageId,
} from '../../../domain/application/ids.ts';
import { onlyRow, type Session } from '../../../ground/postgres/database.ts';
import { readIndex, toBigint } from '../../../seal/blind-indexes.ts';
import { withIndexKey } from '../../../seal/index-key.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { ConversationId } from './conversations.ts';

type ChannelIndex = BlindIndex<'channel_message_id'>;

/** The part of a conversation that matching needs. */
export interface Found {
  readonly id: ConversationId;
  readonly applicationId: ApplicationId;
  readonly phoneIndex: BlindIndex<'phone'>;
  readonly isOpen: boolean;
  /** When it ended, by the database's clock; null: it is open. */
  readonly endedAt: Date | null;
  /** Its signature may be withdrawn now (D46). */
  readonly isWithdrawable: boolean;
  /** Until when a withdrawal of its signature had to be sent, up to a week ago; null: there is no such time. */
  readonly withdrawableUntil: Date | null;
  /** It is open, and the contract is what it asks about. */
  readonly isAtContract: boolean;
  /** How many inputs were stored within the last hour, counted up to `MOST_AN_HOUR`. */
  readonly inputsOfHour: number;
  /**
   * It ended while the application was in review, and neither by a withdrawal nor with a wrong person. The tap on a
   * later approval then begins a new conversation.
   */
  readonly mayBeginAgain: boolean;
}

const BY_REPLY = `
  SELECT ${readIndex('channel_message_id')} AS index, application_id::float8 AS id FROM replies
  WHERE channel_message_id = ANY ($1::bigint[])`;
const BY_MESSAGE = `SELECT ${readIndex('channel_message_id')} AS index, message_id AS id FROM messages_of_channel($1)`;

/** The applications of the replies and the messages with these ids of the channel. */
export async function applicationsOfContexts(
  session: Session,
  contexts: readonly ChannelIndex[],
): Promise<Map<ChannelIndex, ApplicationId>> {
  if (contexts.length === 0) return new Map();
  const indexes = [...new Set(contexts)].map(toBigint);
  const replies = await session.query<AnsweredReply>(BY_REPLY, [indexes]);
  const found = new Map(replies.rows.map(({ index, id }) => [index, id]));
  const missing = contexts.filter((index) => !found.has(index));
  return new Map([...found, ...(await applicationsOfMessages(session, missing))]);
}

/** The applications of the messages with these ids of the channel. */
async function applicationsOfMessages(
  session: Session,
  contexts: readonly ChannelIndex[],
): Promise<Map<ChannelIndex, ApplicationId>> {
  if (contexts.length === 0) return new Map();
  const values = [[...new Set(contexts)].map(toBigint)];
  const { rows } = await session.query<{ index: ChannelIndex; id: MessageId }>(BY_MESSAGE, values);
  return new Map(rows.map(({ index, id }) => [index, applicationOfMessage(id)]));
}

/** A row of the statement, or the same row as JSON. */
type FoundRow = Omit<Found, 'id' | 'endedAt' | 'withdrawableUntil'> & {
  readonly id: string | number;
  readonly endedAt: Date | string | null;
  readonly withdrawableMs: string | null;
};

const IS_WITHDRAWABLE = `coalesce(c.place = 'signed'
  AND (c.state->>'withdrawableUntilMs')::bigint > extract(epoch FROM clock_timestamp()) * 1000, false)`;
/** For a week the channel tries to tell a message, so a message in time may come a week late. */
const MAY_BE_WITHDRAWN = `coalesce(c.place = 'signed'
  AND (c.state->>'withdrawableUntilMs')::bigint > extract(epoch FROM clock_timestamp() - interval '7 days') * 1000, false)`;
const COLUMNS = `
  c.id, c.application_id::float8 AS "applicationId", ${readIndex('c.phone_index')} AS "phoneIndex",
  c.ended_at IS NULL AS "isOpen", c.ended_at AS "endedAt", ${IS_WITHDRAWABLE} AS "isWithdrawable",
  CASE WHEN ${MAY_BE_WITHDRAWN} THEN c.state->>'withdrawableUntilMs' END AS "withdrawableMs",
  c.place IN ('contract', 'code') AS "isAtContract",
  c.place IN ('declined', 'expired', 'closed') AND c.status = 'in_review'
    AND c.state->'wrongPerson' IS DISTINCT FROM 'true' AS "mayBeginAgain"`;
/**
 * A conversation that ended is found for 60 days, and for as long as its signature may be withdrawn. After that the
 * phone may belong to somebody else.
 */
const IS_RECENT = `(c.ended_at IS NULL OR c.ended_at > clock_timestamp() - interval '60 days' OR ${IS_WITHDRAWABLE})`;
/** Limits how much one person can make the service store, read and answer. */
export const MOST_AN_HOUR = 200;
/** The count uses the index `conversation_inputs_conversation`. */
const withInputs = (found: string) => `
  SELECT f.*, (
    SELECT count(*)::integer FROM (
      SELECT i.stored_at FROM conversation_inputs i WHERE i.conversation_id = f.id ORDER BY i.id DESC LIMIT ${MOST_AN_HOUR}
    ) AS n WHERE n.stored_at > clock_timestamp() - interval '1 hour') AS "inputsOfHour"
  FROM (${found}) AS f`;
const byApplication = (ids: string) =>
  withInputs(`
    SELECT DISTINCT ON (c.application_id) ${COLUMNS} FROM conversations c
    WHERE c.application_id = ANY (${ids}) AND ${IS_RECENT} ORDER BY c.application_id, c.id DESC`);
const byPhone = (phones: string) =>
  withInputs(`
    SELECT DISTINCT ON (c.phone_index) ${COLUMNS} FROM conversations c
    WHERE c.phone_index = ANY (${phones}) AND ${IS_RECENT}
    ORDER BY c.phone_index, c.ended_at IS NULL DESC, ${IS_WITHDRAWABLE} DESC, c.id DESC`);
const signedOf = (phones: string) =>
  withInputs(`
    SELECT DISTINCT ON (c.phone_index) ${COLUMNS} FROM conversations c
    WHERE c.phone_index = ANY (${phones}) AND ${MAY_BE_WITHDRAWN} ORDER BY c.phone_index, c.id DESC`);
const BY_APPLICATION = byApplication('$1::bigint[]');

/** The newest conversation of each of these applications. */
export async function conversationsOfApplications(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<Map<ApplicationId, Found>> {
  if (ids.length === 0) return new Map();
  const { rows } = await session.query<FoundRow>(BY_APPLICATION, [[...new Set(ids)]]);
  return byApplicationId(rows);
}

const REPLIES = 'FROM replies r WHERE r.channel_message_id = ANY ($2::bigint[])';
const listed = (rows: string) => `(SELECT json_agg(k) FROM (${rows}) AS k)`;
/**
 * One statement for all that messages name. Each part reads by the key of its table: replies by the channel's id,
 * conversations by application and by phone.
 */
const KNOWN = `
  SELECT require_index_key($1), ${listed(`SELECT ${readIndex('r.channel_message_id')} AS index, r.application_id::float8 AS id ${REPLIES}`)} AS replies,
    ${listed(byApplication(`$3::bigint[] || ARRAY(SELECT r.application_id ${REPLIES})`))} AS applications,
    ${listed(byPhone('$4::bigint[]'))} AS phones, ${listed(signedOf('$5::bigint[]'))} AS signed`;

/** What messages of persons name. */
export interface Named {
  /** The messages that they answer. */
  readonly contexts: readonly ChannelIndex[];
  readonly applications: readonly ApplicationId[];
  readonly phones: readonly BlindIndex<'phone'>[];
  /** Those of these phones whose person wishes to withdraw. */
  readonly withdrawing: readonly BlindIndex<'phone'>[];
}

/** The conversations that messages of persons may belong to. */
export interface Known {
  /** The applications of the messages that are answered. */
  readonly contexts: ReadonlyMap<string, ApplicationId>;
  /** The newest conversation of each application. */
  readonly applications: ReadonlyMap<ApplicationId, Found>;
  /** For each phone the open conversation, or else one whose signature may be withdrawn, or else the newest one. */
  readonly phones: ReadonlyMap<string, Found>;
  /**
   * For each phone whose person wishes to withdraw, the newest conversation whose signature may be withdrawn, even
   * beside an open one.
   */
  readonly signed: ReadonlyMap<string, Found>;
}

/**
 * Finds the conversations that the messages name. Asks a second time if a message answers something that is no reply.
 * Throws if the store has another index key.
 */
export async function conversationsNamed(session: Session, vault: Vault, named: Named): Promise<Known> {
  const { applications: ids, phones, withdrawing } = named;
  const asked = [...new Set(named.contexts)];
  const row = onlyRow(
    (
      await withIndexKey(
        session.query<
          Record<'applications' | 'phones' | 'signed', FoundRow[] | null> & {
            replies: AnsweredReply[] | null;
          }
        >({
          name: 'conversations_named',
          text: KNOWN,
          values: [
            ...[vault.indexKeyId, asked.map(toBigint), [...new Set(ids)]],
            ...[[...new Set(phones)].map(toBigint), [...new Set(withdrawing)].map(toBigint)],
          ],
        }),
      )
    ).rows,
  );
  const contexts = new Map(row.replies?.map(({ index, id }) => [index, id]));
  const applications = byApplicationId(row.applications ?? []);
  const messages = await applicationsOfMessages(
    session,
    asked.filter((index) => !contexts.has(index)),
  );
  for (const [index, id] of messages) contexts.set(index, id);
  for (const [id, found] of await conversationsOfApplications(session, [...messages.values()]))
    applications.set(id, found);
  return {
    contexts,
    applications,
    phones: byPhoneIndex(row.phones ?? []),
    signed: byPhoneIndex(row.signed ?? []),
  };
}

interface AnsweredReply {
  readonly index: ChannelIndex;
  readonly id: ApplicationId;
}

function byPhoneIndex(rows: readonly FoundRow[]): Map<BlindIndex<'phone'>, Found> {
  return new Map(rows.map((row) => [row.phoneIndex, foundOf(row)]));
}

function byApplicationId(rows: readonly FoundRow[]): Map<ApplicationId, Found> {
  return new Map(rows.map((row) => [row.applicationId, foundOf(row)]));
}

function foundOf({ id, endedAt, withdrawableMs, ...row }: FoundRow): Found {
  return {
    ...row,
    id: String(id) as ConversationId,
    endedAt: endedAt === null ? null : new Date(endedAt),
    withdrawableUntil: withdrawableMs === null ? null : new Date(Number(withdrawableMs)),
  };
}
