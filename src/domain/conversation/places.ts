/** The steps of a conversation, its ends, who speaks, and why an operator took over (D43). Pure. */

/** The steps in the order in which a conversation takes them. */
export const STEPS = [
  'started',
  'data_consent',
  'earnings',
  'debts',
  'checking',
  'summary',
  'contract',
  'code',
] as const;
export type Step = (typeof STEPS)[number];

/** How a conversation ends. `signed` may still become `withdrawn`, in the time that the law gives. */
export const ENDS = ['signed', 'declined', 'withdrawn', 'expired', 'closed'] as const;
export type End = (typeof ENDS)[number];

/** The step or the end at which a conversation is. */
export type ConversationPlace = Step | End;
export const PLACES: readonly ConversationPlace[] = [...STEPS, ...ENDS];

/** Who speaks. While an operator does, the service is silent. */
export const HOLDERS = ['service', 'operator'] as const;
export type Holder = (typeof HOLDERS)[number];

/** Why an operator holds a conversation: one code for the list of operators. */
export const HAND_OVER_REASONS = [
  'asked',
  'not_understood',
  'old_buttons',
  'withdrawal',
  'wrong_person',
  'other_phone',
  'income',
  'source',
  'documents',
  'debts',
  'debts_differ',
  'debts_above_net',
  'no_offer',
  'no_contract',
  'code',
  'not_signable',
  'not_shown',
  'failure',
  'unreadable',
  'operator',
] as const;
export type HandOverReason = (typeof HAND_OVER_REASONS)[number];

/** Whether a conversation has ended. */
export function isEnd(place: ConversationPlace): place is End {
  return (ENDS as readonly string[]).includes(place);
}
