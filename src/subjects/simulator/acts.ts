/**
 * What people do on the simulator's page as owners of phones: tap, read, write, send, and change the phone's 24 hours
 * (docs/messages.md, "The simulator"). Reports each act as a channel event.
 */
import type { MessageId } from '../../domain/application/ids.ts';
import type { OtherMessage } from '../../domain/message/channel-event.ts';
import { type Button, formatCallback, parseInterestPayload } from '../../domain/message/outgoing-message.ts';
import { formatReplyCallback, type ReplyId } from '../../domain/message/reply.ts';
import type { Phone } from '../../domain/phone/phone.ts';
import { againAfterConflict } from '../../ground/postgres/database.ts';
import { makeWaitingDue, readWaitingForHours } from '../messages/sql/waiting-hours.ts';
import { simulatedId } from './channel.ts';
import { composeChatMessage, readChatMessage } from './chat-messages.ts';
import type { SimulatorContext } from './context.ts';
import { readOwners } from './owners.ts';
import { readReply } from './replies.ts';
import { now, saidNow } from './said-now.ts';

/** Taps a button (from 0) of a message. Returns false if no phone has such a message or button. */
export async function tapButton(
  context: SimulatorContext,
  messageId: MessageId,
  index: number,
): Promise<boolean> {
  const message = await readChatMessage(context.database, context.vault, messageId);
  const button = message === null ? undefined : composeChatMessage(message)?.buttons[index];
  if (message === null || button === undefined) return false;
  await tap(context, message.phone, button, formatCallback(messageId, message.attempts));
  return true;
}

/** Taps a button or a row (from 0) of a reply. Returns false if no phone has such a reply, button or row. */
export async function chooseInReply(
  context: SimulatorContext,
  replyId: ReplyId,
  index: number,
): Promise<boolean> {
  const found = await replyOnPhone(context, replyId);
  const chosen = found && (found.reply.content.list?.rows ?? found.reply.content.buttons)[index];
  if (found === null || !chosen) return false;
  await tap(context, found.phone, chosen, found.callback);
  return true;
}

async function tap(
  context: SimulatorContext,
  phone: Phone,
  { title, payload }: Button,
  callback: string,
): Promise<void> {
  const said = await saidNow(context, phone, { text: title, interestIn: parseInterestPayload(payload) });
  const { messageId, at } = said;
  const contextMessageId = simulatedId(callback);
  await context.simulator.say(said, {
    kind: 'tap',
    title,
    payload,
    contextMessageId,
    from: phone,
    messageId,
    at,
  });
}

/** Reads a message on its phone. Returns false if no phone has such a message. */
export async function openMessage(context: SimulatorContext, messageId: MessageId): Promise<boolean> {
  const message = await readChatMessage(context.database, context.vault, messageId);
  if (message === null) return false;
  await reportRead(context, formatCallback(messageId, message.attempts));
  return true;
}

/** Reads a reply on its phone. Returns false if no phone has such a reply. */
export async function openReply(context: SimulatorContext, replyId: ReplyId): Promise<boolean> {
  const found = await replyOnPhone(context, replyId);
  if (found === null) return false;
  await reportRead(context, found.callback);
  return true;
}

async function reportRead(context: SimulatorContext, callback: string): Promise<void> {
  const at = await now(context);
  const channelMessageId = simulatedId(callback);
  await context.simulator.report({
    kind: 'status',
    channelMessageId,
    callback,
    status: 'read',
    at,
    failure: null,
  });
}

async function replyOnPhone({ database, vault, simulator }: SimulatorContext, replyId: ReplyId) {
  const reply = await readReply(database, vault, replyId);
  if (reply === null) return null;
  const callback = formatReplyCallback(replyId, reply.attempts);
  const owner = (await readOwners(database, vault, [reply.applicationId]))[0];
  return owner === undefined || simulator.vanished.has(callback)
    ? null
    : { reply, callback, phone: owner.phone };
}

/** Writes a text from a phone, which may have no message. */
export async function writeText(context: SimulatorContext, phone: Phone, body: string): Promise<void> {
  const said = await saidNow(context, phone, { text: body });
  const { messageId, at } = said;
  await context.simulator.say(said, { kind: 'text', from: phone, body, messageId, at });
}

const WORDS: Readonly<Record<OtherMessage, string>> = {
  location: '📍 A place',
  contacts: '👤 A contact',
  reaction: '👍 A reaction',
  order: '🛒 An order',
  form: '📋 A form',
  unsupported: 'Something that the channel does not pass on',
};

/** Sends something that is no text, no tap and no file. */
export async function sendOther(context: SimulatorContext, phone: Phone, what: OtherMessage): Promise<void> {
  const said = await saidNow(context, phone, { text: WORDS[what] });
  const { messageId, at } = said;
  await context.simulator.say(said, {
    kind: 'other',
    from: phone,
    what,
    messageId,
    at,
    contextMessageId: null,
  });
}

/**
 * Ends the channel's 24 hours of a phone, or begins them again. After the end the channel refuses replies to the phone,
 * and what its owner says comes to the service a day and an hour late.
 */
export function setWindow({ simulator }: SimulatorContext, phone: Phone, isOver: boolean): void {
  if (isOver) simulator.windowsOver.add(phone);
  else simulator.windowsOver.delete(phone);
}

/**
 * Sends the messages that wait for their contact window at once, or one message, whether or not it waits. A delivery
 * that is under way may still put that one off: then call it again. Only the simulator can do this.
 */
export async function releaseWaiting(
  { database, simulator }: SimulatorContext,
  messageId?: MessageId,
): Promise<void> {
  const ids = messageId === undefined ? await readWaitingForHours(database) : [messageId];
  // The ids are added before the messages become due, because the delivery could put them off again.
  for (const id of ids) simulator.released.add(id);
  await againAfterConflict(() => makeWaitingDue(database, ids));
}
