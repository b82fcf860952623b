/** What people see and do on the simulator's page: phones with their chats, and the faults of the channel. */

import { type ApplicationId, type MessageId, toApplicationId } from '../applications/rules/ids.ts';
import type { Phone } from '../applications/rules/phone.ts';
import { searchApplications } from '../applications/sql/application-search.ts';
import { searchPhones } from '../applications/uses/applications.ts';
import { composeMessage } from '../messages/rules/compose-message.ts';
import type { MessageType } from '../messages/rules/notify.ts';
import {
  formatCallback,
  type OutgoingMessage,
  parseInterestPayload,
} from '../messages/rules/outgoing-message.ts';
import { makeWaitingDue, readWaitingForHours } from '../messages/sql/waiting-hours.ts';
import { OperatorError } from '../operations/operator-context.ts';
import { againAfterConflict } from '../postgres/conflicts.ts';
import type { Database } from '../postgres/database.ts';
import type { Vault } from '../seal/vault.ts';
import { type AbsentMessages, countAbsentMessages } from './absent-messages.ts';
import { type Simulator, type SimulatorFaults, simulatedId } from './channel.ts';
import { type ChatMessage, readChatMessage, readChatMessages, readChatMessagesOf } from './chats.ts';

export { MAX_DELAY_MS } from './channel.ts';
export interface SimulatorContext {
  readonly database: Database;
  readonly vault: Vault;
  /** Reports what people do on the page as channel events. */
  readonly simulator: Simulator;
}

/** A message as the phone shows it. `messageId` exceeds the numbers of JavaScript. */
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

/** A phone and its messages. */
export interface Chat {
  /** Equal for equal phones; the phone cannot be read from it. */
  readonly id: string;
  readonly phone: Phone;
  /** `name`, `partner` and `suppressedAt` are those of the newest message. */
  readonly name: string;
  readonly partner: string;
  /** When the phone was suppressed; null if it is not. */
  readonly suppressedAt: Date | null;
  /** Oldest first. */
  readonly messages: readonly PhoneMessage[];
}

/** Most messages on the page. */
const CHAT_MESSAGES = 100;
/** The newest messages that the count of messages on no phone tells apart by reason. */
const COUNTED_MESSAGES = 1_000;

/**
 * The chats with the newest messages, or of one phone, newest first, and counts of the messages that are on no phone.
 */
export async function readChats(
  { database, vault }: SimulatorContext,
  phone: string | null = null,
): Promise<{ chats: Chat[]; absent: AbsentMessages[] }> {
  const messages =
    phone === null
      ? await readChatMessages(database, vault, CHAT_MESSAGES)
      : await readMessagesTo(database, vault, phone);
  const absent = await countAbsentMessages(database, COUNTED_MESSAGES);
  const byPhone = Map.groupBy(messages, ({ phoneIndex }) => phoneIndex);
  return { chats: [...byPhone.values()].map(chatOf), absent };
}

/** The newest messages to a phone, however old; none where the text is no phone. */
async function readMessagesTo(database: Database, vault: Vault, text: string): Promise<ChatMessage[]> {
  const ids: ApplicationId[] = [];
  try {
    const phones = await searchPhones({ database, vault }, text);
    for await (const { id } of searchApplications(database, vault, { phones })) {
      if (ids.push(toApplicationId(id)) === CHAT_MESSAGES) break;
    }
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
  }
  return readChatMessagesOf(database, vault, ids);
}

function chatOf(messages: readonly ChatMessage[]): Chat {
  const newest = messages[0]!;
  return {
    id: newest.phoneIndex,
    phone: newest.phone,
    name: newest.name,
    partner: newest.brand.partner ?? newest.partnerName,
    suppressedAt: newest.suppressedAt,
    messages: messages.flatMap((message) => phoneMessageOf(message) ?? []).reverse(),
  };
}

/** null if the message's brand or currency cannot make a text. */
function phoneMessageOf(message: ChatMessage): PhoneMessage | null {
  const { messageId, applicationId, type, status, createdAt, interestedAt } = message;
  const composed = compose(message);
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

function compose(message: ChatMessage): OutgoingMessage | null {
  try {
    return composeMessage({ ...message, attempt: message.attempts });
  } catch {
    return null;
  }
}

/** Taps a button (from 0) of a message. Returns false if no phone has such a message or button. */
export async function tapButton(
  { database, vault, simulator }: SimulatorContext,
  messageId: MessageId,
  index: number,
): Promise<boolean> {
  const message = await readChatMessage(database, vault, messageId);
  const button = message === null ? undefined : compose(message)?.buttons[index];
  if (message === null || button === undefined) return false;
  const { attempts, phone: from, readAt: at } = message;
  const contextMessageId = simulatedId(formatCallback(messageId, attempts));
  await simulator.report({ kind: 'tap', ...button, contextMessageId, from, at });
  return true;
}

/** Reads a message on its phone. Returns false if no phone has such a message. */
export async function openMessage(
  { database, vault, simulator }: SimulatorContext,
  messageId: MessageId,
): Promise<boolean> {
  const message = await readChatMessage(database, vault, messageId);
  if (message === null) return false;
  const callback = formatCallback(messageId, message.attempts);
  await simulator.report({
    kind: 'status',
    channelMessageId: simulatedId(callback),
    callback,
    status: 'read',
    at: message.readAt,
    failure: null,
  });
  return true;
}

/** Writes back to a message. Returns false if no phone has such a message. */
export async function writeText(
  { database, vault, simulator }: SimulatorContext,
  messageId: MessageId,
  body: string,
): Promise<boolean> {
  const message = await readChatMessage(database, vault, messageId);
  if (message === null) return false;
  await simulator.report({ kind: 'text', from: message.phone, body, at: message.readAt });
  return true;
}

/** Lets the messages that wait for their contact window now go out at once. Only the simulator can do this. */
export async function releaseWaiting({ database, simulator }: SimulatorContext): Promise<void> {
  const ids = await readWaitingForHours(database);
  // The ids are added before the messages are due: otherwise the delivery could put them off again.
  for (const id of ids) simulator.released.add(id);
  await againAfterConflict(() => makeWaitingDue(database, ids));
}

/** The faults that this process simulates now. */
export function readFaults({ simulator }: SimulatorContext): SimulatorFaults {
  return simulator.faults;
}

/** Simulates these faults from now on, until the process ends. */
export function setFaults({ simulator }: SimulatorContext, faults: SimulatorFaults): void {
  simulator.faults = faults;
}
