/** A message as it goes out to a channel, and what of it comes back. Pure. */
import type { MessageType } from './notify.ts';

/** The languages that messages are written in, by the country of the recipient's phone. */
export const MESSAGE_LANGUAGES = ['es', 'pt'] as const;
export type MessageLanguage = (typeof MESSAGE_LANGUAGES)[number];

/** What a button says, and what comes back when it is tapped. */
export interface Button {
  readonly title: string;
  readonly payload: string;
}

/** A template as the channel knows it, with its parameters in order. */
interface TemplateCall {
  readonly name: string;
  /** The code under which the template was approved, such as es or es_CO. */
  readonly language: string;
  readonly parameters: readonly string[];
}

export interface OutgoingMessage {
  readonly applicationId: number;
  /** Counts from 1. */
  readonly attempt: number;
  readonly type: MessageType;
  /** E.164. */
  readonly phone: string;
  /** The text as the recipient reads it. */
  readonly text: string;
  readonly buttons: readonly Button[];
  readonly template: TemplateCall;
  /** Comes back with each of the message's events; holds nothing personal. See `formatCallback`. */
  readonly callback: string;
}

export function formatCallback(applicationId: number, attempt: number): string {
  return `${applicationId}.${attempt}`;
}

/** The inverse of `formatCallback`; null for a text that it did not make. */
export function parseCallback(text: string): { applicationId: number; attempt: number } | null {
  const [, applicationId, attempt] = /^([1-9]\d{0,14})\.([1-9]\d{0,3})$/.exec(text) ?? [];
  if (applicationId === undefined || attempt === undefined) return null;
  return { applicationId: Number(applicationId), attempt: Number(attempt) };
}

/** The payload of the "I am interested" button of an application's message. */
export function interestPayload(applicationId: number): string {
  return `interested.${applicationId}`;
}

/** The application of an interest payload; null for another payload. */
export function parseInterestPayload(payload: string): number | null {
  const [, id] = /^interested\.([1-9]\d{0,14})$/.exec(payload) ?? [];
  return id === undefined ? null : Number(id);
}
