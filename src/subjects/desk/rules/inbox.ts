/** What the inbox lists, and its limits (docs/operators.md, "The inbox"). Pure. */

/** `waiting`: nobody has answered the person. `answered`: an operator has, and the person has not written since. */
export const INBOX_STATES = ['waiting', 'answered'] as const;
export type InboxState = (typeof INBOX_STATES)[number];

/** The most conversations that are counted; this number stands for itself and more. */
export const MOST_WAITING = 1_000;
