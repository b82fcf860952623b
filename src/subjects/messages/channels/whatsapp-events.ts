/** Reads the webhooks of WhatsApp's API into channel events, which are the same for every channel. */
import type { ChannelEvent } from '../../../domain/message/channel-event.ts';
import { CHANNEL_STATUSES } from '../../../domain/message/channel-event.ts';
import { parseCallback } from '../../../domain/message/outgoing-message.ts';
import { parseReplyCallback } from '../../../domain/message/reply.ts';
import type { SendFailure } from '../../../domain/message/send-result.ts';
import { failureOfError, readApiError } from './whatsapp-errors.ts';
import { readMessage } from './whatsapp-messages.ts';
import {
  arrayOf,
  CHANNEL_ID,
  type Contacts,
  contactsOf,
  isNobody,
  isObject,
  type JsonObject,
  personOf,
  textOf,
  timeOf,
} from './whatsapp-values.ts';

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
