/** What scripted applicants do in the chat, and how the conversation of each one ends. Data alone. */
import type { ApplicationStatus } from '../../src/domain/application/lifecycle.ts';
import type { TextKey } from '../../src/domain/conversation/flow.ts';
import type { Choice } from '../../src/domain/conversation/input.ts';
import type { ConversationPlace, Holder } from '../../src/domain/conversation/places.ts';
import type { MadeUp } from '../../src/subjects/simulator/made-up-files.ts';

/**
 * What the applicant reads that asks for something. `more_files` and `more_debts`: files came, and there may be more.
 */
export const QUESTIONS = [
  'offer',
  'data_consent',
  'earnings',
  'more_files',
  'debts',
  'debts_right',
  'more_debts',
  'in_review',
  'summary',
  'contract',
  'last_four',
  'code',
  'signed',
  'handed_over',
] as const;
export type Question = (typeof QUESTIONS)[number];

/** What the applicant does. */
export type Act =
  | { readonly kind: 'interested' }
  /** Taps the button of this choice; `twice`: two taps within a second, which are two messages. */
  | { readonly kind: 'tap'; readonly choice: Choice; readonly twice?: boolean }
  | { readonly kind: 'write'; readonly body: string }
  /** Sends files at once. */
  | { readonly kind: 'send'; readonly what: readonly MadeUp[] }
  /** What an operator does by then. */
  | { readonly kind: 'operator'; readonly act: OperatorDoes }
  /** Says that there are no more files, once the last one was a good one. */
  | { readonly kind: 'no_more_files' }
  /** Taps a button of an earlier question. */
  | { readonly kind: 'old_button' }
  | { readonly kind: 'last_four' }
  | { readonly kind: 'wrong_code' }
  /** The newest code of the second phone. */
  | { readonly kind: 'code' };

export type OperatorDoes = 'give_back' | 'approve' | 'reject';

/** How it is when all is over. `none`: there is no conversation. */
export interface Ends {
  readonly place: ConversationPlace | 'none';
  readonly heldBy: Holder;
  readonly status: ApplicationStatus;
  readonly isSigned: boolean;
  /** The events of the partner (D47), in their order. */
  readonly events: readonly string[];
}

export interface Script {
  readonly name: string;
  /** How many of a hundred applicants, or so, follow it. */
  readonly share: number;
  /** `quick`: the brand asks for no documents. `papers`: it asks for statements of earnings. `full`: of debts too. */
  readonly flow: 'quick' | 'papers' | 'full';
  /** The application waits for a review. */
  readonly isInReview?: true;
  /** By question: what is done when it is asked the first time, the second time, and so on. */
  readonly acts: Partial<Readonly<Record<Question, readonly Act[]>>>;
  /** The script is over after the acts of this question and, where it is not null, this sentence. */
  readonly last: { readonly question: Question; readonly hears: TextKey | null };
  readonly ends: Ends;
}

const tap = (choice: Choice, twice = false): Act => ({ kind: 'tap', choice, twice });
const write = (body: string): Act => ({ kind: 'write', body });
const send = (...what: MadeUp[]): Act => ({ kind: 'send', what });
const operator = (act: OperatorDoes): Act => ({ kind: 'operator', act });

const GOOD: Script['acts'] = {
  offer: [{ kind: 'interested' }],
  data_consent: [tap('yes')],
  earnings: [send('fitting')],
  more_files: [{ kind: 'no_more_files' }],
  debts: [write('Banco Azul 4.000.000\nNu 1,7 millones')],
  debts_right: [tap('right')],
  more_debts: [{ kind: 'no_more_files' }],
  summary: [tap('go_on')],
  contract: [tap('accept')],
  last_four: [{ kind: 'last_four' }],
  code: [{ kind: 'code' }],
};
const STARTED = 'conversation.started';
const PAPERS = ['documents.received', 'income.verified confirmed'];
const SIGNED = ['contract.signed', 'conversation.ended signed'];
const open = (place: ConversationPlace, heldBy: Holder = 'service'): Ends => ({
  ...{ place, heldBy, status: 'pending_signature', isSigned: false, events: [STARTED] },
});
const ended = (place: ConversationPlace): Ends => ({
  ...open(place),
  events: [STARTED, `conversation.ended ${place}`],
});
const signed = (...between: string[]): Ends => ({
  ...{ place: 'signed', heldBy: 'service', status: 'pending_signature', isSigned: true },
  events: [STARTED, ...between, ...SIGNED],
});
const quick = { flow: 'quick', acts: GOOD } as const;
const toTheSignature = { question: 'code', hears: 'signed' } as const;

export const SCRIPTS: readonly Script[] = [
  { ...quick, name: 'signs', share: 26, last: toTheSignature, ends: signed() },
  {
    ...quick,
    name: 'taps every button twice, and signs',
    share: 8,
    acts: {
      ...GOOD,
      data_consent: [tap('yes', true)],
      summary: [tap('go_on', true)],
      contract: [tap('accept', true)],
    },
    last: toTheSignature,
    ends: signed(),
  },
  {
    ...quick,
    name: 'writes words, and signs',
    share: 6,
    // Who is asked again and again taps in the end: a word counts only after the channel's news of the question.
    acts: {
      ...GOOD,
      data_consent: [write('sí, autorizo'), write('sí, autorizo'), tap('yes')],
      contract: [write('ACEPTO'), write('ACEPTO'), tap('accept')],
    },
    last: toTheSignature,
    ends: signed(),
  },
  {
    ...quick,
    name: 'taps old buttons, and signs',
    share: 6,
    acts: {
      ...GOOD,
      summary: [{ kind: 'old_button' }, tap('go_on')],
      last_four: [{ kind: 'old_button' }, { kind: 'last_four' }],
    },
    last: toTheSignature,
    ends: signed(),
  },
  {
    ...quick,
    name: 'writes a wrong code, then the right one',
    share: 6,
    acts: { ...GOOD, code: [{ kind: 'wrong_code' }, { kind: 'code' }] },
    last: toTheSignature,
    ends: signed(),
  },
  {
    name: 'sends a statement, and signs',
    share: 1.5,
    flow: 'papers',
    acts: GOOD,
    last: toTheSignature,
    ends: signed(...PAPERS),
  },
  {
    name: 'sends a locked statement, then a right one, and signs',
    share: 1.5,
    flow: 'papers',
    acts: {
      ...GOOD,
      earnings: [send('locked'), send('fitting')],
    },
    last: toTheSignature,
    ends: signed(...PAPERS),
  },
  {
    name: 'sends a statement, tells the debts, and signs',
    share: 0.5,
    flow: 'full',
    acts: GOOD,
    last: toTheSignature,
    ends: signed(...PAPERS),
  },
  {
    name: 'sends two statements at once, writes the debts so that they are asked back, changes them, and signs',
    share: 0.5,
    flow: 'full',
    acts: {
      ...GOOD,
      earnings: [send('fitting', 'fitting')],
      debts: [
        write('Banco Azul 1.500'),
        write('Banco Azul 4.000.000\nNu 1,6 millones'),
        write('Banco Azul 4.000.000\nNu 1,7 millones'),
      ],
      debts_right: [tap('change'), tap('right')],
    },
    last: toTheSignature,
    ends: signed(...PAPERS),
  },
  {
    name: 'earned less than declared, and signs',
    share: 0.5,
    flow: 'papers',
    acts: { ...GOOD, earnings: [send('less')] },
    last: toTheSignature,
    ends: signed('documents.received', 'income.verified adjusted'),
  },
  {
    name: 'earned far less than declared',
    share: 0.5,
    flow: 'papers',
    acts: { ...GOOD, earnings: [send('far_less')] },
    last: { question: 'more_files', hears: 'person_will_write' },
    ends: {
      ...open('checking', 'operator'),
      events: [STARTED, 'documents.received', 'income.verified operator'],
    },
  },
  {
    ...quick,
    name: 'waits for a review that approves, and signs',
    share: 2,
    isInReview: true,
    acts: { ...GOOD, in_review: [operator('approve')] },
    last: toTheSignature,
    ends: signed(),
  },
  {
    ...quick,
    name: 'waits for a review that rejects',
    share: 2,
    isInReview: true,
    acts: { ...GOOD, in_review: [operator('reject')] },
    last: { question: 'in_review', hears: 'closed' },
    ends: { ...ended('closed'), status: 'rejected' },
  },
  {
    ...quick,
    name: 'asks for a person, who gives back, and signs',
    share: 2,
    acts: {
      ...GOOD,
      summary: [write('asesor'), tap('go_on')],
      handed_over: [operator('give_back')],
    },
    last: toTheSignature,
    ends: signed(),
  },
  {
    ...quick,
    name: 'sends a voice message, then an emoji, and signs',
    share: 2,
    acts: { ...GOOD, data_consent: [send('voice'), tap('yes')], summary: [write('😀'), tap('go_on')] },
    last: toTheSignature,
    ends: signed(),
  },
  {
    ...quick,
    name: 'asks for a person, and waits',
    share: 2,
    acts: { ...GOOD, summary: [write('asesor')] },
    last: { question: 'summary', hears: 'handed_over' },
    ends: open('summary', 'operator'),
  },
  {
    ...quick,
    name: 'is another person',
    share: 2,
    acts: { ...GOOD, summary: [write('Número equivocado')] },
    last: { question: 'summary', hears: 'wrong_person' },
    ends: open('summary', 'operator'),
  },
  {
    ...quick,
    name: 'withdraws after the signature',
    share: 6,
    acts: { ...GOOD, signed: [write('me retiro')] },
    last: { question: 'signed', hears: 'withdrawn' },
    ends: {
      ...{ place: 'withdrawn', heldBy: 'service', status: 'rejected', isSigned: true },
      events: [...signed().events, 'contract.withdrawn'],
    },
  },
  {
    ...quick,
    name: 'refuses the consent',
    share: 6,
    acts: { ...GOOD, data_consent: [tap('no')] },
    last: { question: 'data_consent', hears: 'declined' },
    ends: ended('declined'),
  },
  {
    ...quick,
    name: 'declines the offer',
    share: 6,
    acts: { ...GOOD, summary: [tap('decline')] },
    last: { question: 'summary', hears: 'declined' },
    ends: ended('declined'),
  },
  {
    ...quick,
    name: 'refuses the contract',
    share: 5,
    acts: { ...GOOD, contract: [tap('decline')] },
    last: { question: 'contract', hears: 'declined' },
    ends: ended('declined'),
  },
  {
    ...quick,
    name: 'opts out at the offer',
    share: 3,
    acts: { ...GOOD, summary: [write('BAJA')] },
    last: { question: 'summary', hears: null },
    ends: ended('closed'),
  },
  {
    ...quick,
    name: 'opts out with the contract open',
    share: 3,
    acts: { ...GOOD, contract: [write('cancelar')] },
    last: { question: 'contract', hears: null },
    ends: ended('withdrawn'),
  },
  {
    ...quick,
    name: 'refuses the consent with an opt-out',
    share: 3,
    acts: { ...GOOD, data_consent: [write('no autorizo')] },
    last: { question: 'data_consent', hears: null },
    ends: ended('declined'),
  },
  {
    ...quick,
    name: 'is not understood until an operator holds it',
    share: 5,
    acts: { ...GOOD, data_consent: [write('mañana llueve'), write('y pasado también'), write('quién sabe')] },
    last: { question: 'data_consent', hears: 'handed_over' },
    ends: open('data_consent', 'operator'),
  },
  {
    ...quick,
    name: 'never answers',
    share: 4,
    acts: { offer: GOOD.offer! },
    last: { question: 'offer', hears: null },
    ends: open('data_consent'),
  },
  {
    ...quick,
    name: 'never answers, and the time is over',
    share: 3,
    acts: { offer: GOOD.offer! },
    last: { question: 'offer', hears: null },
    ends: ended('expired'),
  },
  {
    ...quick,
    name: 'never taps',
    share: 2,
    acts: {},
    last: { question: 'offer', hears: null },
    ends: { ...open('started'), place: 'none', events: [] },
  },
];

/** The script of the applicants whose conversations the run makes old (`age.ts`). */
export const EXPIRES = 'never answers, and the time is over';

const WAITS = SCRIPTS.find(({ name }) => name === 'asks for a person, and waits')!;

/**
 * The scripts of so many applicants: each once where there are enough applicants, and then by its share; and of so many
 * more who wait for a person.
 */
export function scriptsFor(count: number, waiting = 0): Script[] {
  const total = SCRIPTS.reduce((sum, { share }) => sum + share, 0);
  const more = SCRIPTS.flatMap((script) =>
    Array.from({ length: Math.ceil((script.share / total) * count) }, () => script),
  );
  return [...[...SCRIPTS, ...more].slice(0, count), ...Array.from({ length: waiting }, () => WAITS)];
}
