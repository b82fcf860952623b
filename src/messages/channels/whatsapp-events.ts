/** Reads the webhooks of WhatsApp's API into channel events, which are the same for every channel. */
import { isPhone, type Phone } from '../../applications/rules/phone.ts';
import type { ChannelEvent } from '../rules/channel-event.ts';
import { CHANNEL_STATUSES } from '../rules/channel-event.ts';
import { parseCallback } from '../rules/outgoing-message.ts';
import type { SendFailure } from '../rules/send-result.ts';
import { failureOfError, readApiError } from './whatsapp-errors.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** The signer is trusted, but an id goes into an index of the store. So the form of the id is checked. */
const CHANNEL_ID = /^[\x21-\x7e]{1,256}$/;
const PHONE_DIGITS = /^[1-9]\d{6,14}$/;
/** Unix seconds until the year 2286. */
const TIMESTAMP = /^\d{1,10}$/;

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
      read(value.statuses, readStatus);
      read(value.messages, (item) => readMessage(item, value.contacts));
    } else if (change.field === 'user_preferences')
      read(value.user_preferences, (item) => readPreference(item, value.contacts));
    else ignored += 1;
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
  const attempt = (callback === null ? null : parseCallback(callback))?.attempt ?? 1;
  return failureOfError(error, attempt) ?? { kind: 'give_up', reason: `${error.code}` };
}

/** Reads a tap on a template's button, a tap on an interactive message's button, or a text. */
function readMessage(item: JsonObject, contacts: unknown): ChannelEvent | null {
  const person = personOf(item.from, item.from_user_id, contacts);
  const contextMessageId = isObject(item.context) ? textOf(item.context.id, CHANNEL_ID) : null;
  const at = timeOf(item.timestamp);
  if (at === null || (isNobody(person) && contextMessageId === null)) return null;
  if (item.type === 'text') {
    const body = isObject(item.text) ? item.text.body : null;
    return typeof body === 'string' ? { kind: 'text', ...person, body, contextMessageId, at } : null;
  }
  const tap = (payload: unknown, title: unknown): ChannelEvent | null =>
    typeof payload === 'string'
      ? {
          kind: 'tap',
          ...person,
          payload,
          title: typeof title === 'string' ? title : null,
          contextMessageId,
          at,
        }
      : null;
  if (item.type === 'button' && isObject(item.button)) return tap(item.button.payload, item.button.text);
  const reply =
    item.type === 'interactive' && isObject(item.interactive) ? item.interactive.button_reply : null;
  return isObject(reply) ? tap(reply.id, reply.title) : null;
}

function readPreference(item: JsonObject, contacts: unknown): ChannelEvent | null {
  const person = personOf(item.wa_id, item.user_id, contacts);
  const at = timeOf(item.timestamp);
  const wants = item.value === 'stop' || item.value === 'resume' ? item.value : null;
  return isNobody(person) || at === null || wants === null
    ? null
    : { kind: 'preference', ...person, wants, at };
}

/** Whom the channel names. */
interface Person {
  readonly from: Phone | null;
  readonly userId: string | null;
}

/**
 * The person of an item. What the item leaves out comes from the contact with the same phone or id, or from the only
 * contact where the item names nobody.
 */
function personOf(phone: unknown, userId: unknown, contacts: unknown): Person {
  const known = arrayOf(contacts).filter(isObject);
  const own: Person = { from: phoneOf(phone), userId: textOf(userId, CHANNEL_ID) };
  const contact = isNobody(own)
    ? known.length === 1 && known[0]
    : known.find(
        ({ wa_id, user_id }) =>
          (own.from !== null && phoneOf(wa_id) === own.from) ||
          (own.userId !== null && user_id === own.userId),
      );
  if (!contact) return own;
  return {
    from: own.from ?? phoneOf(contact.wa_id),
    userId: own.userId ?? textOf(contact.user_id, CHANNEL_ID),
  };
}

function isNobody({ from, userId }: Person): boolean {
  return from === null && userId === null;
}

function phoneOf(value: unknown): Phone | null {
  const phone = `+${textOf(value, PHONE_DIGITS) ?? ''}`;
  return isPhone(phone) ? phone : null;
}

/** Reads Unix seconds, as text (as the API sends them) or as a number. */
function timeOf(value: unknown): Date | null {
  const text = textOf(typeof value === 'number' ? String(value) : value, TIMESTAMP);
  return text === null ? null : new Date(Number(text) * 1_000);
}

function textOf(value: unknown, pattern: RegExp): string | null {
  return typeof value === 'string' && pattern.test(value) ? value : null;
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
