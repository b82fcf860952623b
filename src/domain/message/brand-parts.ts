/** What brands and their defaults are made of. */
import type { MessageType } from './notify.ts';
import type { MessageLanguage } from './outgoing-message.ts';

/** What stands in braces in a text: the applicant's name, the partner's, the debt balance. */
export const PLACEHOLDERS = ['name', 'partner', 'debt'] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

/** `{word}` in a text; also what is no placeholder at all, for the check to name it. */
export const PLACEHOLDER_PATTERN = /\{([^{}]*)\}/g;

export type ByType<T> = Readonly<Record<MessageType, T>>;
export type ByLanguage<T> = Readonly<Record<MessageLanguage, T>>;
