/** The types and names that brands and their defaults share. */
import type { MessageType } from '../message/notify.ts';
import type { MessageLanguage } from '../message/outgoing-message.ts';

/** The placeholders of a text: the applicant's name, the partner's name and the debt balance. */
export const PLACEHOLDERS = ['name', 'partner', 'debt'] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

/** `{word}` in a text. Any word matches, so that the check can name an unknown placeholder. */
export const PLACEHOLDER_PATTERN = /\{([^{}]*)\}/g;

export type ByType<T> = Readonly<Record<MessageType, T>>;
export type ByLanguage<T> = Readonly<Record<MessageLanguage, T>>;
