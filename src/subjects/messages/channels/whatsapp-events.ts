/**
 * Reads the webhooks of WhatsApp's API into channel events, which have the same form for every channel. Pure.
 * `domain/message/channel-event.ts` has the form; D43 and docs/messages.md say what follows from an event.
 */
import type { SendFailure } from '../../../domain/message/channel.ts';
import {
  CHANNEL_STATUSES,
  type ChannelEvent,
  MEDIA_KINDS,
  type MediaKind,
  OTHER_MESSAGES,
  type OtherMessage,
} from '../../../domain/message/channel-event.ts';
import { parseCallback } from '../../../domain/message/outgoing-message.ts';
import { parseReplyCallback } from '../../../domain/message/reply.ts';
import { knownPhone, type Phone } from '../../../domain/phone/phone.ts';
import { failureOfError, readApiError } from './whatsapp-errors.ts';
import { sha256Of } from './whatsapp-media.ts';

// First part: reads values that all webhooks share. The signature proves who sent them, but their form is not trusted.

/** Anything that JSON calls an object. */
type JsonObject = Readonly<Record<string, unknown>>;

/** The form of an id that may go into an index of the store. */
const CHANNEL_ID = /^[\x21-\x7e]{1,256}$/;
const PHONE_DIGITS = /^[1-9]\d{6,14}$/;
/** Unix seconds until the year 2286. */
const TIMESTAMP = /^\d{1,10}$/;

/** The person whom the channel names. */
interface Person {
  readonly from: Phone | null;
  readonly userId: string | null;
}

/** The contacts of a webhook's part, by phone and by id for fast look-up: a part may have thousands of messages. */
interface Contacts {
  readonly byPhone: ReadonlyMap<Phone, Person>;
  readonly byUserId: ReadonlyMap<string, Person>;
  /** The only contact; null: there are none, or several. */
  readonly only: Person | null;
}

/** Reads the contacts. If two have the same phone or id, the first one counts. */
export function contactsOf(contacts: unknown): Contacts {
  const byPhone = new Map<Phone, Person>();
  const byUserId = new Map<string, Person>();
  const known = arrayOf(contacts)
    .filter(isObject)
    .map(({ wa_id, user_id }) => ({ from: phoneOf(wa_id), userId: textOf(user_id, CHANNEL_ID) }));
  for (const person of known.toReversed()) {
    if (person.from !== null) byPhone.set(person.from, person);
    if (person.userId !== null) byUserId.set(person.userId, person);
  }
  return { byPhone, byUserId, only: known.length === 1 ? (known[0] ?? null) : null };
}

/**
 * The person of an item. What the item leaves out comes from the contact with the same phone or id. If the item names
 * nobody, it comes from the only contact.
 */
export function personOf(phone: unknown, userId: unknown, { byPhone, byUserId, only }: Contacts): Person {
  const own: Person = { from: phoneOf(phone), userId: textOf(userId, CHANNEL_ID) };
  const contact = isNobody(own)
    ? only
    : ((own.from && byPhone.get(own.from)) ?? (own.userId && byUserId.get(own.userId)));
  if (!contact) return own;
  return { from: own.from ?? contact.from, userId: own.userId ?? contact.userId };
}

/** Whether the channel named nobody. */
function isNobody({ from, userId }: Person): boolean {
  return from === null && userId === null;
}

function phoneOf(value: unknown): Phone | null {
  const digits = textOf(value, PHONE_DIGITS);
  return digits === null ? null : knownPhone(`+${digits}`);
}

/** Reads Unix seconds, as a text (as the API sends them) or as a number. */
function timeOf(value: unknown): Date | null {
  const text = textOf(typeof value === 'number' ? String(value) : value, TIMESTAMP);
  return text === null ? null : new Date(Number(text) * 1_000);
}

/** The text; null for a value of another form. */
function textOf(value: unknown, pattern: RegExp): string | null {
  return typeof value === 'string' && pattern.test(value) ? value : null;
}

/** The values of an array; none for any other value. */
function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Whether the value is an object, and not an array. */
function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Second part: reads what persons send. Every message becomes an event, whatever its type.

/** The API's names of messages that have another name here. */
const OTHER_NAMES: Readonly<Record<string, OtherMessage>> = { interactive: 'form' };

/**
 * Reads a person's message. Null if it is no message of a person (`system`), or if neither the person nor the answered
 * message is known.
 */
function readMessage(item: JsonObject, contacts: Contacts): ChannelEvent | null {
  const person = personOf(item.from, item.from_user_id, contacts);
  const contextMessageId = isObject(item.context) ? textOf(item.context.id, CHANNEL_ID) : null;
  const at = timeOf(item.timestamp);
  if (at === null || item.type === 'system' || (isNobody(person) && contextMessageId === null)) return null;
  const common = { ...person, messageId: textOf(item.id, CHANNEL_ID), contextMessageId, at };
  return { ...(readText(item) ?? readTap(item) ?? readFile(item) ?? otherOf(item)), ...common };
}

function readText({ type, text }: JsonObject) {
  const body = type === 'text' && isObject(text) ? text.body : null;
  return typeof body === 'string' ? ({ kind: 'text', body } as const) : null;
}

/** A tap on a template's button, a tap on an interactive message's button, or a row of a list. */
function readTap({ type, button, interactive }: JsonObject) {
  if (type === 'button' && isObject(button)) return tapOf(button.payload, button.text);
  if (type !== 'interactive' || !isObject(interactive)) return null;
  const reply = interactive.button_reply ?? interactive.list_reply;
  return isObject(reply) ? tapOf(reply.id, reply.title) : null;
}

function tapOf(payload: unknown, title: unknown) {
  if (typeof payload !== 'string') return null;
  return { kind: 'tap', payload, title: typeof title === 'string' ? title : null } as const;
}

function readFile({ type, ...item }: JsonObject) {
  const media = MEDIA_KINDS.find((kind) => kind === type);
  return media === undefined ? null : fileOf(media, item[media]);
}

function fileOf(media: MediaKind, file: unknown) {
  if (!isObject(file)) return null;
  const mediaId = textOf(file.id, CHANNEL_ID);
  if (mediaId === null) return null;
  return {
    kind: 'file',
    media,
    mediaId,
    claimedType: stringOf(file.mime_type),
    claimedSha256: sha256Of(file.sha256),
    filename: stringOf(file.filename),
    caption: stringOf(file.caption),
  } as const;
}

/** The event of any other message, also of a known type in an unknown form. */
function otherOf({ type, interactive }: JsonObject) {
  const name = typeof type === 'string' && isObject(interactive) ? (OTHER_NAMES[type] ?? type) : type;
  return { kind: 'other', what: OTHER_MESSAGES.find((known) => known === name) ?? 'unsupported' } as const;
}

function stringOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/**
 * The events of a webhook's body that concern the number `phoneNumberId`. Never throws: `ignored` counts the parts that
 * are for another number, unknown or not readable (each event, or the whole part that should hold events).
 */
export function readWhatsAppEvents(
  body: Buffer,
  phoneNumberId: string,
): { events: ChannelEvent[]; ignored: number } {
  const events: ChannelEvent[] = [];
  let ignored = 0;
  const read = (items: unknown, reader: (item: JsonObject) => ChannelEvent | null) => {
    for (const item of arrayOf(items)) {
      const event = isObject(item) ? reader(item) : null;
      if (event === null) ignored += 1;
      else events.push(event);
    }
  };
  const webhook = parse(body);
  if (!isObject(webhook) || webhook.object !== 'whatsapp_business_account') return { events, ignored: 1 };
  const changes = arrayOf(webhook.entry).flatMap((entry) => arrayOf(isObject(entry) ? entry.changes : null));
  for (const change of changes) {
    const value = isObject(change) ? change.value : null;
    if (!isObject(change) || !isObject(value) || isOfAnother(value, phoneNumberId)) ignored += 1;
    else if (change.field === 'messages') {
      const contacts = contactsOf(value.contacts);
      read(value.statuses, readStatus);
      read(value.messages, (item) => readMessage(item, contacts));
    } else if (change.field === 'user_preferences') {
      const contacts = contactsOf(value.contacts);
      read(value.user_preferences, (item) => readPreference(item, contacts));
    } else ignored += 1;
  }
  return { events, ignored };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

function isOfAnother({ metadata }: JsonObject, phoneNumberId: string): boolean {
  return isObject(metadata) && metadata.phone_number_id !== phoneNumberId;
}

function readStatus(item: JsonObject): ChannelEvent | null {
  const channelMessageId = textOf(item.id, CHANNEL_ID);
  const status = CHANNEL_STATUSES.find((known) => known === item.status);
  const at = timeOf(item.timestamp);
  if (channelMessageId === null || status === undefined || at === null) return null;
  const callback = typeof item.biz_opaque_callback_data === 'string' ? item.biz_opaque_callback_data : null;
  const failure = status === 'failed' ? failureOf(item.errors, callback) : null;
  const recipientUserId = textOf(item.recipient_user_id, CHANNEL_ID);
  return { kind: 'status', channelMessageId, callback, status, at, failure, recipientUserId };
}

/** A failure with an unknown code is not tried again. */
function failureOf(errors: unknown, callback: string | null): SendFailure {
  const error = arrayOf(errors)
    .map(readApiError)
    .find((candidate) => candidate !== null);
  if (error === undefined) return { kind: 'give_up', reason: 'unknown' };
  const named = callback === null ? null : (parseCallback(callback) ?? parseReplyCallback(callback));
  const attempt = named?.attempt ?? 1;
  return failureOfError(error, attempt) ?? { kind: 'give_up', reason: `${error.code}` };
}

function readPreference(item: JsonObject, contacts: Contacts): ChannelEvent | null {
  const person = personOf(item.wa_id, item.user_id, contacts);
  const at = timeOf(item.timestamp);
  const wants = item.value === 'stop' || item.value === 'resume' ? item.value : null;
  return isNobody(person) || at === null || wants === null
    ? null
    : { kind: 'preference', ...person, wants, at };
}
