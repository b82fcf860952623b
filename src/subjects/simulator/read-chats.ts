/**
 * Reads what people see on the simulator's page: phones with their chats, and counts of messages that are on no phone
 * (docs/messages.md, "The simulator"). Reads messages, replies and applications, and writes nothing.
 */
import {
  type ApplicationId,
  type BlindIndex,
  MESSAGE_ID_RANGES,
  type MessageId,
  toApplicationId,
} from '../../domain/application/ids.ts';
import type { MessageStatus, MessageType } from '../../domain/message/notify.ts';
import { formatCallback, parseInterestPayload } from '../../domain/message/outgoing-message.ts';
import type { MessageReason } from '../../domain/message/reasons.ts';
import { formatReplyCallback, type ReplyBody, type ReplyId } from '../../domain/message/reply.ts';
import type { Phone } from '../../domain/phone/phone.ts';
import type { Database } from '../../ground/postgres/database.ts';
import { OperatorError } from '../../program/operations/operator-context.ts';
import { phoneIndexOf } from '../../seal/blind-indexes.ts';
import { searchApplications } from '../applications/sql/application-search.ts';
import { searchPhones } from '../applications/uses/applications.ts';
import { countMessages } from '../messages/sql/message-counts.ts';
import type { Simulator } from './channel.ts';
import {
  type ChatMessage,
  composeChatMessage,
  readChatMessages,
  readChatMessagesOf,
} from './chat-messages.ts';
import type { ReceivedCode } from './codes.ts';
import type { SimulatorContext } from './context.ts';
import { FIRST_AFTER_REVIEW, recentMessagesFrom } from './newest-ids.ts';
import { readOwners } from './owners.ts';
import { type ChatReply, readNewestReplies, readRepliesTo } from './replies.ts';
import type { Said, SaidStatus } from './said.ts';

// First part: counts the messages that are on no phone.

const ABSENT = ['queued', 'sending', 'failed', 'uncertain', 'cancelled'] as const;

/** Messages that are on no phone, by status and reason. */
interface AbsentMessages {
  readonly status: (typeof ABSENT)[number];
  /** A code; null: there is none, or the messages are older. */
  readonly reason: MessageReason | null;
  readonly count: number;
  /** When the first of the queued messages is due; null for other statuses and for older messages. */
  readonly dueAt: Date | null;
  /** True for messages that are too old to be counted by reason. */
  readonly isOlder: boolean;
}

interface NewestCount extends Pick<AbsentMessages, 'reason' | 'count' | 'dueAt'> {
  readonly status: MessageStatus;
  /** True if there are no older messages than those that were counted. */
  readonly isAll: boolean;
}

/** The newest $1 messages of registrations, and the newest $1 messages after reviews. */
const COUNT_NEWEST = `
  WITH newest AS MATERIALIZED (
    SELECT * FROM newest_messages($2, ${FIRST_AFTER_REVIEW}, $1::integer)
    UNION ALL SELECT * FROM newest_messages(${FIRST_AFTER_REVIEW}, ${MESSAGE_ID_RANGES[0]!.before}, $1::integer)
  )
  SELECT status, reason, count(*)::integer AS count,
    CASE WHEN status = 'queued' THEN min(due_at) END AS "dueAt",
    (SELECT count(*) FILTER (WHERE message_id < ${FIRST_AFTER_REVIEW}) < $1::integer
        AND count(*) FILTER (WHERE message_id >= ${FIRST_AFTER_REVIEW}) < $1::integer FROM newest) AS "isAll"
  FROM newest
  GROUP BY status, reason ORDER BY status, reason`;

/**
 * Counts the messages that are on no phone: the newest `limit` messages of registrations and as many after reviews by
 * status and reason, and all older ones by status. The counts of a status add up to its exact number.
 */
export async function countAbsentMessages(database: Database, limit: number): Promise<AbsentMessages[]> {
  const from = await recentMessagesFrom(database);
  const { rows } = await database.query<NewestCount>(COUNT_NEWEST, [limit, from]);
  const isAll = from === '0' && rows.every((row) => row.isAll);
  const totals = isAll ? [] : await countMessages(database);
  return ABSENT.flatMap((status) => {
    const newest = rows.filter((row) => row.status === status);
    const total = totals.find((one) => one.status === status)?.count ?? 0;
    const older = total - sumOf(newest);
    return [
      ...newest.map(({ reason, count, dueAt }) => ({ status, reason, count, dueAt, isOlder: false })),
      ...(older > 0 ? [{ status, reason: null, count: older, dueAt: null, isOlder: true }] : []),
    ];
  });
}

function sumOf(rows: readonly NewestCount[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}

/** The most messages, and the most chats of phones that only wrote, on the page. */
const CHAT_MESSAGES = 100;
/** The most replies of all chats together, and of one chat that is asked for. */
const CHAT_REPLIES = 200;
/** How many of the newest messages are counted by reason. */
const COUNTED_MESSAGES = 1_000;

/** What the page asks for. A part that is null does not narrow the answer. */
export interface ChatQuestion {
  /** The phone whose chats are wanted, however old. */
  readonly phone: string | null;
  /** The chat whose replies are wanted, however old. */
  readonly chat: BlindIndex<'phone'> | null;
}

/**
 * The chats with the newest messages, or of one phone, the newest first, and counts of the messages that are on no
 * phone.
 */
export async function readChats(
  context: SimulatorContext,
  question: ChatQuestion = { phone: null, chat: null },
): Promise<{ chats: Chat[]; absent: AbsentMessages[] }> {
  const { database } = context;
  const wanted = question.phone === null ? null : await phonesOf(context, question.phone);
  const messages = (await readMessages(context, wanted)).filter((message) => !hasVanished(context, message));
  const replies = (await readReplies(context, wanted, question.chat)).filter(
    ({ replyId, attempts }) => !context.simulator.vanished.has(formatReplyCallback(replyId, attempts)),
  );
  const absent = await countAbsentMessages(database, COUNTED_MESSAGES);
  const heads = await headsOf(context, messages, replies, wanted);
  const ofMessages = Map.groupBy(messages, ({ phoneIndex }) => phoneIndex);
  const ofReplies = Map.groupBy(replies, ({ phoneIndex }) => phoneIndex);
  const chats = [...heads].map(([id, head]) =>
    chatOf(context.simulator, id, head, ofMessages.get(id) ?? [], ofReplies.get(id) ?? []),
  );
  const since = new Map(chats.map((chat) => [chat, newestTimeOf(chat)]));
  return { chats: chats.sort((left, right) => since.get(right)! - since.get(left)!), absent };
}

/** The blind indexes of a phone; none if the text is no phone. */
async function phonesOf(
  { database, vault }: SimulatorContext,
  text: string,
): Promise<readonly BlindIndex<'phone'>[]> {
  try {
    return await searchPhones({ database, vault }, text);
  } catch (error) {
    if (error instanceof OperatorError) return [];
    throw error;
  }
}

async function readMessages(
  { database, vault }: SimulatorContext,
  wanted: readonly BlindIndex<'phone'>[] | null,
): Promise<ChatMessage[]> {
  if (wanted === null) return readChatMessages(database, vault, CHAT_MESSAGES);
  const ids: ApplicationId[] = [];
  if (wanted.length > 0) {
    for await (const { id } of searchApplications(database, vault, { phones: wanted })) {
      if (ids.push(toApplicationId(id)) === CHAT_MESSAGES) break;
    }
  }
  return readChatMessagesOf(database, vault, ids);
}

async function readReplies(
  { database, vault }: SimulatorContext,
  wanted: readonly BlindIndex<'phone'>[] | null,
  chat: BlindIndex<'phone'> | null,
): Promise<ChatReply[]> {
  const newest =
    wanted === null
      ? await readNewestReplies(database, vault, CHAT_REPLIES)
      : await readRepliesTo(database, vault, wanted, CHAT_REPLIES);
  const ofChat = chat === null ? [] : await readRepliesTo(database, vault, [chat], CHAT_REPLIES);
  return [...new Map([...newest, ...ofChat].map((reply) => [reply.replyId, reply])).values()];
}

/** A head for each chat: from its newest message, or its newest reply, or from a phone that only wrote. */
async function headsOf(
  context: SimulatorContext,
  messages: readonly ChatMessage[],
  replies: readonly ChatReply[],
  wanted: readonly BlindIndex<'phone'>[] | null,
): Promise<Map<BlindIndex<'phone'>, ChatHead>> {
  const { database, vault, simulator } = context;
  const heads = new Map<BlindIndex<'phone'>, ChatHead>();
  for (const { phoneIndex, phone, name, brand, partnerName, suppressedAt } of messages.toReversed()) {
    heads.set(phoneIndex, { phone, name, partner: brand.partner ?? partnerName, suppressedAt });
  }
  const unknown = replies.filter(({ phoneIndex }) => !heads.has(phoneIndex));
  const ids = new Set(unknown.map(({ applicationId }) => applicationId));
  for (const { phoneIndex, phone, name, partner, suppressedAt } of await readOwners(database, vault, [
    ...ids,
  ])) {
    heads.set(phoneIndex, { phone, name, partner, suppressedAt });
  }
  for (const phone of simulator.said.phones(wanted === null ? CHAT_MESSAGES : Number.POSITIVE_INFINITY)) {
    const index = phoneIndexOf(vault, phone);
    if (heads.has(index) || wanted?.includes(index) === false) continue;
    heads.set(index, { phone, name: null, partner: null, suppressedAt: null });
  }
  return heads;
}

function hasVanished({ simulator }: SimulatorContext, { messageId, attempts }: ChatMessage): boolean {
  return simulator.vanished.has(formatCallback(messageId, attempts));
}

// Second part: a chat as the page shows it, with everything that was said on the phone.

/** A message as the phone shows it. `messageId` is a text, because it exceeds the exact numbers of JavaScript. */
export interface PhoneMessage {
  readonly messageId: MessageId;
  readonly applicationId: ApplicationId;
  readonly type: MessageType;
  readonly status: ChatMessage['status'];
  readonly createdAt: Date;
  readonly text: string;
  readonly buttons: readonly { readonly title: string; readonly isInterest: boolean }[];
  readonly interestedAt: Date | null;
}

/** A reply as the phone shows it. */
export interface PhoneReply extends Omit<ReplyBody, 'document'> {
  readonly replyId: ReplyId;
  readonly applicationId: ApplicationId;
  readonly status: ChatReply['status'];
  readonly at: Date;
  /** `isThere`: the simulator still has the file. */
  readonly document: {
    readonly mediaId: string;
    readonly filename: string;
    readonly isThere: boolean;
  } | null;
}

/** What the owner of the phone said. */
type PhoneSaid = Omit<Said, 'phone'> & { readonly status: SaidStatus };

/** A phone and its messages. */
export interface Chat {
  /** Equal for equal phones. Nobody can read the phone from it. */
  readonly id: BlindIndex<'phone'>;
  readonly phone: Phone;
  /**
   * `name`, `partner` and `suppressedAt` are those of the newest message. `name` and `partner` are null for a phone
   * that wrote and has neither a message nor a reply.
   */
  readonly name: string | null;
  readonly partner: string | null;
  /** When the phone was suppressed; null: it is not suppressed. */
  readonly suppressedAt: Date | null;
  /** The channel's 24 hours are over, because somebody said so on the page. */
  readonly windowIsOver: boolean;
  /** The service is typing an answer. */
  readonly isTyping: boolean;
  /** These lists have the oldest first. */
  readonly messages: readonly PhoneMessage[];
  readonly replies: readonly PhoneReply[];
  readonly said: readonly PhoneSaid[];
  /** The codes on the person's second phone. */
  readonly codes: readonly ReceivedCode[];
}

/** Who a chat is with. */
type ChatHead = Pick<Chat, 'phone' | 'name' | 'partner' | 'suppressedAt'>;

/** Makes a chat; `messages` and `replies` are newest first. */
function chatOf(
  simulator: Simulator,
  id: BlindIndex<'phone'>,
  head: ChatHead,
  messages: readonly ChatMessage[],
  replies: readonly ChatReply[],
): Chat {
  return {
    id,
    ...head,
    windowIsOver: simulator.windowsOver.has(head.phone),
    isTyping: simulator.said.isTyping(head.phone),
    messages: messages.flatMap((message) => phoneMessageOf(message) ?? []).reverse(),
    replies: replies.map((reply) => phoneReplyOf(simulator, reply)).reverse(),
    said: simulator.said.of(head.phone).map(({ phone: _, ...said }) => said),
    codes: simulator.codes.of(head.phone),
  };
}

/** The message as the phone shows it; null: its brand or currency cannot make a text. */
function phoneMessageOf(message: ChatMessage): PhoneMessage | null {
  const { messageId, applicationId, type, status, createdAt, interestedAt } = message;
  const composed = composeChatMessage(message);
  if (composed === null) return null;
  const { text, buttons } = composed;
  return {
    messageId,
    applicationId,
    type,
    status,
    createdAt,
    text,
    buttons: buttons.map(({ title, payload }) => ({
      title,
      isInterest: parseInterestPayload(payload) !== null,
    })),
    interestedAt,
  };
}

function phoneReplyOf(
  { files, documents }: Simulator,
  { replyId, applicationId, status, attempts, at, content }: ChatReply,
): PhoneReply {
  const { readMessageId: _, document: made, file, ...body } = content;
  // A stored file has its id at the channel since the send. A restart of the simulator forgets both.
  const sent = documents.get(formatReplyCallback(replyId, attempts));
  const document = made ?? sent ?? (file && { mediaId: '', filename: file.filename });
  const isThere = document !== undefined && files.get(document.mediaId) !== null;
  const shown =
    document === undefined ? null : { mediaId: document.mediaId, filename: document.filename, isThere };
  return { replyId, applicationId, status, at, ...body, document: shown };
}

/** When something was last said in the chat. */
function newestTimeOf({ messages, replies, said }: Chat): number {
  const times = [messages.at(-1)?.createdAt, replies.at(-1)?.at, said.at(-1)?.at];
  return Math.max(...times.map((time) => time?.getTime() ?? 0));
}
