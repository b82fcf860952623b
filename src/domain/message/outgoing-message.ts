/**
 * A message as a channel gets it, the texts that the channel returns with its events, and the language of a recipient.
 * Pure. docs/messages.md ("Channels") has the rule.
 */
import { languageOfCountry } from '../../ground/base/language.ts';
import { type ApplicationId, type MessageId, toApplicationId, toMessageId } from '../application/ids.ts';
import { countryOfPhone, type Phone } from '../phone/phone.ts';
import type { MessageType } from './notify.ts';

/** The languages of messages. The country of the recipient's phone decides. */
export const MESSAGE_LANGUAGES = ['es', 'pt'] as const;
export type MessageLanguage = (typeof MESSAGE_LANGUAGES)[number];

/** A button: its title, and the payload that the channel returns with a tap. */
export interface Button {
  readonly title: string;
  readonly payload: string;
}

/** A template at the channel, with its parameters in order. */
interface TemplateCall {
  readonly name: string;
  /** The code under which the template was approved, such as es or es_CO. */
  readonly language: string;
  readonly parameters: readonly string[];
}

/** A message to one phone, ready to send. */
export interface OutgoingMessage {
  readonly messageId: MessageId;
  readonly applicationId: ApplicationId;
  /** Counts from 1. */
  readonly attempt: number;
  readonly type: MessageType;
  readonly phone: Phone;
  /** The text as the recipient reads it. */
  readonly text: string;
  readonly buttons: readonly Button[];
  readonly template: TemplateCall;
  /** The channel returns this text with each event of the message. It holds no personal data. See `formatCallback`. */
  readonly callback: string;
  /** The codes of the reasons that it tells, and in which language (D50); absent: it tells none. */
  readonly told?: { readonly codes: readonly string[]; readonly language: MessageLanguage };
}

/** The text that identifies a message and its attempt at the channel. */
export function formatCallback(messageId: MessageId, attempt: number): string {
  return `${messageId}.${attempt}`;
}

/** The inverse of `formatCallback`; null for any other text. */
export function parseCallback(text: string): { messageId: MessageId; attempt: number } | null {
  const [, id, attempt] = /^([1-9]\d{0,16})\.([1-9]\d{0,3})$/.exec(text) ?? [];
  if (id === undefined || attempt === undefined) return null;
  return { messageId: toMessageId(id), attempt: Number(attempt) };
}

/** The payload of the "I am interested" button of an application's message. */
export function interestPayload(applicationId: ApplicationId): string {
  return `interested.${applicationId}`;
}

/** The application of an interest payload; null for another payload. */
export function parseInterestPayload(payload: string): ApplicationId | null {
  const [, id] = /^interested\.([1-9]\d{0,14})$/.exec(payload) ?? [];
  return id === undefined ? null : toApplicationId(id);
}

/** The payload of the button that asks for a review of an application's refusal by a person (D50). */
export function reviewPayload(applicationId: ApplicationId): string {
  return `review.${applicationId}`;
}

/** The payload of the button that asks for no more messages, under the question whether the person wants that. */
export function stopPayload(applicationId: ApplicationId): string {
  return `stop.${applicationId}`;
}

/** Whether a payload is that of a `stopPayload`. */
export function isStopPayload(payload: string): boolean {
  return /^stop\.[1-9]\d{0,14}$/.test(payload);
}

/** The payload of the button beside it, which changes nothing. */
export function goOnPayload(applicationId: ApplicationId): string {
  return `go_on.${applicationId}`;
}

// The language and the number format of a recipient, by the country of the phone.

interface MessageLocale {
  readonly language: MessageLanguage;
  /** For Intl: `es-CO`, `pt-BR`; the language alone for a phone of no country. */
  readonly locale: string;
}

/** The language and locale of a phone: Portuguese in countries where people speak it, else Spanish. */
export function localeOfPhone(phone: Phone): MessageLocale {
  const country = countryOfPhone(phone);
  if (country === null) return { language: 'es', locale: 'es' };
  const language = languageOfCountry(country) === 'pt' ? 'pt' : 'es';
  return { language, locale: `${language}-${country}` };
}
