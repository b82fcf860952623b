/**
 * A reply to what a person wrote: its content, its limits at the channel, and its callback (docs/messages.md,
 * "Replies"). Pure.
 */
import { DAY_MS } from '../../ground/base/clock.ts';
import type { ApplicationId } from '../application/ids.ts';
import type { Phone } from '../phone/phone.ts';
import type { Button } from './outgoing-message.ts';

/** For this time after a person's last message the channel takes messages without a template. */
export const WINDOW_MS = DAY_MS;

declare const REPLY: unique symbol;

/** The id of a stored reply: the decimal text of a bigint. */
export type ReplyId = string & { readonly [REPLY]: true };

/** Makes an id from the decimal text of a bigint column. */
export function toReplyId(value: string): ReplyId {
  return value as ReplyId;
}

/** A row of a list: the channel returns its payload when the person chooses the row. */
export interface ListRow {
  readonly title: string;
  readonly payload: string;
  readonly description?: string;
}

/** What a person may choose from if three buttons are too few. */
export interface ReplyList {
  /** The title of the button that opens the list. */
  readonly button: string;
  readonly rows: readonly ListRow[];
}

/** A file that was uploaded to the channel. */
export interface ReplyDocument {
  readonly mediaId: string;
  readonly filename: string;
  /** The channel shows it as a picture, without its name. */
  readonly isPicture?: true;
}

/** A file in the document store. The worker uploads it right before it sends the reply (docs/documents.md). */
export interface StoredReplyFile {
  readonly key: string;
  /** What opens the file, in base64. It lies in the sealed reply alone. */
  readonly secret: string;
  readonly contentType: string;
  readonly filename: string;
  /** 64 lower-case hex digits. */
  readonly sha256: string;
}

/** What a person reads: a text, with buttons or a list or neither, and with a document or none. */
export interface ReplyBody {
  /** May be empty beside a document without buttons. */
  readonly text: string;
  /** At most three. */
  readonly buttons: readonly Button[];
  readonly list?: ReplyList;
  readonly document?: ReplyDocument;
}

/** A reply as it is stored, sealed. */
export interface ReplyContent extends ReplyBody {
  /** The channel's id of the person's message that is marked as read right before the send; null: none is. */
  readonly readMessageId: string | null;
  /** The file that becomes the reply's document. */
  readonly file?: StoredReplyFile;
}

/** A reply to one phone, ready to send. */
export interface OutgoingReply extends ReplyBody, Pick<ReplyContent, 'file'> {
  readonly replyId: ReplyId;
  readonly applicationId: ApplicationId;
  /** Counts from 1. */
  readonly attempt: number;
  readonly phone: Phone;
  /** The channel returns this text with each event of the reply (`formatReplyCallback`). It holds no personal data. */
  readonly callback: string;
}

/** What is known about the reply of a turn. */
export interface ToldReply {
  /**
   * `queued`: it has not gone out. `sending`: the channel may have it already. `taken`: the channel took it. `lost`: it
   * failed, was cancelled, or is uncertain.
   */
  readonly fate: 'queued' | 'sending' | 'taken' | 'lost';
  /** When it reached its phone, by the channel's clock; null: the channel has not reported that. */
  readonly arrivedAt: Date | null;
}

/** The text that identifies a reply and its attempt at the channel. It never has the form of a template's callback. */
export function formatReplyCallback(replyId: ReplyId, attempt: number): string {
  return `r${replyId}.${attempt}`;
}

/** The inverse of `formatReplyCallback`; null for any other text. */
export function parseReplyCallback(text: string): { replyId: ReplyId; attempt: number } | null {
  const [, id, attempt] = /^r([1-9]\d{0,17})\.([1-9]\d{0,3})$/.exec(text) ?? [];
  return id === undefined || attempt === undefined
    ? null
    : { replyId: toReplyId(id), attempt: Number(attempt) };
}

/** The most characters (UTF-16 units) that the channel takes, and the most parts. */
const REPLY_LIMITS = {
  text: 4_096,
  /** The most characters of a text with buttons, and of a text together with a document. */
  shortText: 1_024,
  buttons: 3,
  buttonTitle: 20,
  buttonPayload: 256,
  rows: 10,
  rowTitle: 24,
  rowPayload: 200,
  rowDescription: 72,
  filename: 240,
} as const;

/**
 * Why the channel would refuse a reply, one sentence for each fault; none for a reply that the channel takes. Call this
 * when texts are loaded: the channel's own check comes too late for the person who waits.
 */
export function replyFaults({ text, buttons, list, document }: ReplyBody): string[] {
  const limits = REPLY_LIMITS;
  const isShort = document !== undefined || buttons.length > 0;
  const needsText = document === undefined || buttons.length > 0;
  const faults = [
    ...(text === '' && !needsText ? [] : lengthFault('text', text, isShort ? limits.shortText : limits.text)),
    ...buttons.flatMap(({ title, payload }, index) => [
      ...lengthFault(`buttons[${index}].title`, title, limits.buttonTitle),
      ...lengthFault(`buttons[${index}].payload`, payload, limits.buttonPayload),
    ]),
    ...repeatedFault('buttons', buttons),
  ];
  if (buttons.length > limits.buttons) faults.push(`buttons: at most ${limits.buttons}`);
  if (document !== undefined)
    faults.push(...lengthFault('document.filename', document.filename, limits.filename));
  if (list === undefined) return faults;
  if (buttons.length > 0 || document !== undefined)
    faults.push('list: goes with neither buttons nor a document');
  if (list.rows.length === 0 || list.rows.length > limits.rows)
    faults.push(`list.rows: from 1 to ${limits.rows}`);
  return [
    ...faults,
    ...lengthFault('list.button', list.button, limits.buttonTitle),
    ...list.rows.flatMap(({ title, payload, description }, index) => [
      ...lengthFault(`list.rows[${index}].title`, title, limits.rowTitle),
      ...lengthFault(`list.rows[${index}].payload`, payload, limits.rowPayload),
      ...(description === undefined
        ? []
        : lengthFault(`list.rows[${index}].description`, description, limits.rowDescription)),
    ]),
    ...repeatedFault('list.rows', list.rows),
  ];
}

function lengthFault(field: string, value: string, most: number): string[] {
  if (value.trim() === '') return [`${field}: must not be empty`];
  return value.length > most ? [`${field}: at most ${most} characters`] : [];
}

function repeatedFault(field: string, choices: readonly Button[]): string[] {
  const isRepeated = (of: 'title' | 'payload') =>
    new Set(choices.map((one) => one[of])).size < choices.length;
  return isRepeated('title') || isRepeated('payload')
    ? [`${field}: each title and each payload must be another one`]
    : [];
}
