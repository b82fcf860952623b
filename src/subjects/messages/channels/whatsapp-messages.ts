/** Reads what persons send: every message becomes an event, whatever its type. */
import {
  type ChannelEvent,
  MEDIA_KINDS,
  type MediaKind,
  OTHER_MESSAGES,
  type OtherMessage,
} from '../../../domain/message/channel-event.ts';
import { sha256Of } from './whatsapp-media.ts';
import {
  CHANNEL_ID,
  type Contacts,
  isNobody,
  isObject,
  type JsonObject,
  personOf,
  textOf,
  timeOf,
} from './whatsapp-values.ts';

/** What the API calls messages that are known here by another name. */
const OTHER_NAMES: Readonly<Record<string, OtherMessage>> = { interactive: 'form' };

/**
 * Reads a person's message. null for what is no message of a person (`system`), and for one of which neither the
 * person nor the message that the person answers is known.
 */
export function readMessage(item: JsonObject, contacts: Contacts): ChannelEvent | null {
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

/** Also the known types in a form that is not known. */
function otherOf({ type, interactive }: JsonObject) {
  const name = typeof type === 'string' && isObject(interactive) ? (OTHER_NAMES[type] ?? type) : type;
  return { kind: 'other', what: OTHER_MESSAGES.find((known) => known === name) ?? 'unsupported' } as const;
}

function stringOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
