/**
 * The form of a conversation's flow: its texts, buttons, steps, reminders and limits. A key's brand changes parts of
 * the default flow (docs/conversation.md, "The flow of a brand"). Pure.
 */
import type { Choice } from './input.ts';

/** The languages of conversations. */
export const LANGUAGES = ['es', 'pt', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The values that a text may have, with the most UTF-16 units of each. */
export const LONGEST_VALUE = {
  partner: 60,
  count: 3,
  amount: 28,
  net: 28,
  creditors: 28,
  to_applicant: 28,
  installment: 28,
  months: 3,
  total: 28,
  fees: 28,
  taxes: 28,
  disbursement: 26,
  first_due: 26,
  valid_until: 26,
  interest_rate: 14,
  interest_rate_name: 32,
  rate: 14,
  rate_name: 32,
  late_rate: 24,
  withdrawal: 24,
  lender: 120,
  bureaus: 50,
  purposes: 216,
  data_rights: 60,
  privacy_notice: 80,
  hash: 90,
  way: 40,
  minutes: 3,
  until: 40,
  numbers: 50,
  debts: 480,
  sum: 40,
  limit: 40,
} as const;
export type Value = keyof typeof LONGEST_VALUE;
export type Values = Partial<Readonly<Record<Value, string>>>;

const OFFER = [
  ...([
    'amount',
    'net',
    'creditors',
    'to_applicant',
    'installment',
    'months',
    'total',
    'fees',
    'taxes',
    'interest_rate',
    'interest_rate_name',
  ] as const),
  ...(['rate', 'rate_name', 'late_rate', 'lender'] as const),
  ...(['disbursement', 'first_due', 'valid_until', 'withdrawal'] as const),
] as const;

/** The texts of a flow, each with its values besides `partner`. */
export const TEXTS = {
  // The questions.
  consent: ['lender', 'purposes', 'data_rights', 'privacy_notice'],
  earnings: [],
  debts: [],
  debts_right: ['debts', 'sum'],
  summary: OFFER,
  contract: ['hash'],
  last_four: [],
  code: ['way', 'minutes'],
  /** The link follows the text. */
  open_link: [],
  enter_code: [],
  // The same questions in short.
  earnings_again: [],
  debts_again: [],
  debts_right_again: [],
  summary_again: [],
  contract_again: [],
  code_again: [],
  open_link_again: [],
  // The way to a person, under each question.
  person_hint: [],
  // What is said beside the questions.
  not_understood: [],
  /** For a person who answers "not yet". The question follows. */
  no_hurry: [],
  offer_person: [],
  /** For words that could ask for no more messages. Said once. */
  stop_or_go_on: [],
  handed_over: [],
  wrong_person: [],
  /** For a person who writes instead of tapping the offer's button, which is under this text. */
  tap_first: [],
  given_back: [],
  /** The offer with its new costs follows. */
  costs_changed: [],
  reminder: [],
  /** After the consent, before the documents. */
  outlook: ['amount', 'months', 'installment'],
  amount_too_small: ['limit'],
  amount_too_large: ['limit'],
  other_currency: ['limit'],
  id_number_short: [],
  files_received: ['count'],
  files_needed: [],
  file_not_needed: [],
  too_many_files: [],
  media_not_read: [],
  file_gone: [],
  file_too_large: [],
  file_wrong_type: [],
  file_locked: [],
  file_infected: [],
  file_unreadable: [],
  file_other_person: [],
  /** The service reads no more files of this person today. */
  file_by_person: [],
  /** An operator looked at files, in the order in which they were sent. */
  file_rejected: ['numbers'],
  file_accepted: ['numbers'],
  /** The question for the list follows. */
  debts_change: [],
  /** Lines of a list that the person has to write again. */
  debts_unclear: ['numbers'],
  debts_other_currency: ['numbers'],
  debts_twice: ['numbers'],
  debts_too_many: [],
  /** For a person who writes another list after the offer. */
  debts_by_person: [],
  still_reading: [],
  checking: [],
  in_review: [],
  /** The review approved. */
  approved: [],
  person_will_write: [],
  source_again: [],
  answer_wrong: [],
  code_expired: [],
  /** Before the text of a new code. */
  code_replaced: [],
  code_not_sent: [],
  sending_code: [],
  withdraw_too_late: [],
  /** Said with `signed` and `after_signed`, while the country's time to withdraw lasts. */
  withdrawal_right: ['until'],
  /** For a person who may withdraw and writes words that are not understood. */
  withdrawal_word: ['until'],
  /** Under the signed contract. */
  signed_copy: ['hash'],
  /** Under the final schedule, after the payment. */
  schedule_copy: [],
  // The ends.
  signed: [],
  /** For a person who writes after the signature. */
  after_signed: [],
  declined: [],
  withdrawn: [],
  expired: [],
  closed: [],
} as const satisfies Readonly<Record<string, readonly Value[]>>;
export type TextKey = keyof typeof TEXTS;

/** The texts that ask a question. Each has the hint about a person's help under it. */
export const QUESTIONS = [
  'consent',
  'earnings',
  'debts',
  'debts_right',
  'summary',
  'contract',
  'last_four',
  'code',
  'open_link',
  'enter_code',
  'earnings_again',
  'debts_again',
  'debts_right_again',
  'summary_again',
  'contract_again',
  'code_again',
  'open_link_again',
  'offer_person',
  'stop_or_go_on',
  'files_received',
] as const satisfies readonly TextKey[];
export type QuestionKey = (typeof QUESTIONS)[number];

/** The most characters of a reply with buttons or a document, in UTF-16 units, which is the strictest reading. */
export const MAX_REPLY_LENGTH = 1024;

export interface Flow {
  readonly texts: Readonly<Record<Language, Readonly<Record<TextKey, string>>>>;
  /** The titles of the buttons. */
  readonly buttons: Readonly<Record<Language, Readonly<Record<Choice, string>>>>;
  /** The steps that a partner may leave out. */
  readonly steps: {
    readonly earnings: boolean;
    readonly debts: boolean;
    /** Whether the person may connect an account in the place of statements of earnings. */
    readonly connect: boolean;
  };
  readonly reminders: {
    /** Hours before the end of the channel's window at which the open question is asked again; 0: never. */
    readonly before_window_ends_hours: number;
    /** Hours after the person's last message at which the template is sent; 0: never. */
    readonly template_after_hours: number;
  };
  readonly limits: {
    /** Hours without the person until the conversation ends. */
    readonly expire_after_hours: number;
    /** Files that are taken at one step. */
    readonly files: number;
  };
}

/** The changes by the brand of a key. Parts that are left out have their defaults. */
export interface FlowChanges {
  readonly texts?: Partial<Record<Language, Partial<Record<TextKey, string>>>>;
  readonly buttons?: Partial<Record<Language, Partial<Record<Choice, string>>>>;
  readonly steps?: Partial<Flow['steps']>;
  readonly reminders?: Partial<Flow['reminders']>;
  readonly limits?: Partial<Flow['limits']>;
}

/** A value that the person has to read and that a text lacks. */
export function missingValueOf(key: TextKey, text: string): Value | undefined {
  return (TEXTS[key] as readonly Value[]).find((word) => word !== 'count' && !text.includes(`{${word}}`));
}

/** The changes without the texts that lack such a value: they are older than the value, and the default takes over. */
export function completeChanges(changes: FlowChanges): FlowChanges {
  const texts = Object.entries(changes.texts ?? {}).map(([language, ofLanguage]) => [
    language,
    Object.fromEntries(
      Object.entries(ofLanguage).filter(([key, text]) => missingValueOf(key as TextKey, text) === undefined),
    ),
  ]);
  return { ...changes, texts: Object.fromEntries(texts) };
}

/** The flow with a brand's changes. */
export function flowWith(flow: Flow, changes: FlowChanges): Flow {
  const each = <K extends 'texts' | 'buttons'>(part: K): Flow[K] =>
    Object.fromEntries(
      LANGUAGES.map((language) => [language, { ...flow[part][language], ...changes[part]?.[language] }]),
    ) as unknown as Flow[K];
  return {
    texts: each('texts'),
    buttons: each('buttons'),
    steps: { ...flow.steps, ...changes.steps },
    reminders: { ...flow.reminders, ...changes.reminders },
    limits: { ...flow.limits, ...changes.limits },
  };
}
