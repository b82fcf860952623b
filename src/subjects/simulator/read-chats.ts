/** What people see on the simulator's page: phones with their chats. */

import { type ApplicationId, type BlindIndex, toApplicationId } from '../../domain/application/ids.ts';
import { formatCallback } from '../../domain/message/outgoing-message.ts';
import { formatReplyCallback } from '../../domain/message/reply.ts';
import { OperatorError } from '../../program/operations/operator-context.ts';
import { phoneIndexOf } from '../../seal/blind-indexes.ts';
import { searchApplications } from '../applications/sql/application-search.ts';
import { searchPhones } from '../applications/uses/applications.ts';
import { type AbsentMessages, countAbsentMessages } from './absent-messages.ts';
import { type Chat, type ChatHead, chatOf, newestTimeOf } from './chat.ts';
import { type ChatMessage, readChatMessages, readChatMessagesOf } from './chat-messages.ts';
import type { SimulatorContext } from './context.ts';
import { readOwners } from './owners.ts';
import { type ChatReply, readNewestReplies, readRepliesTo } from './replies.ts';

/** Most messages, and most chats of phones that wrote, on the page. */
const CHAT_MESSAGES = 100;
/** Most replies of all chats, and of one chat that is asked for. */
const CHAT_REPLIES = 200;
/** The newest messages that the count of messages on no phone tells apart by reason. */
const COUNTED_MESSAGES = 1_000;

/** What is asked for. A part that is null does not narrow the answer. */
export interface ChatQuestion {
  /** The chats of one phone, however old. */
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

/** The blind indexes of a phone; none where the text is no phone. */
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

/** A head for each chat: of its newest message, or of its newest reply, or of a phone that only wrote. */
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
