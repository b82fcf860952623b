/** What a conversation remembers. Codes and numbers alone: nothing of the person and no text. Pure. */
import type { ApplicationStatus } from '../../applications/rules/lifecycle.ts';
import type { HandOverReason, Holder, Place } from './places.ts';

/** What documents are asked for. */
export const PURPOSES = ['earnings', 'debts'] as const;
export type Purpose = (typeof PURPOSES)[number];

/** What an income source needs of the person before it can go on. */
export const SOURCE_STEPS = ['open_link', 'enter_code'] as const;
export type SourceStep = (typeof SOURCE_STEPS)[number];

export interface State {
  readonly place: Place;
  readonly heldBy: Holder;
  /** Why an operator holds the conversation; null: the service holds it. */
  readonly handedOver: HandOverReason | null;
  /** The person wants no more messages. */
  readonly optedOut: boolean;
  /** The number of the question that is open. A button with another number is old. */
  readonly nonce: number;
  /** The open question was not told, because the channel's window was closed. */
  readonly unsaid: boolean;
  /** The button that was tapped last, and when by the channel's clock; null: none was. */
  readonly tapped: {
    readonly place: string;
    readonly nonce: number;
    readonly choice: string;
    readonly under: string;
    readonly atMs: number;
  } | null;
  /** Inputs in a row that were not understood. */
  readonly misunderstood: number;
  /** In a row: taps of old buttons, wrong answers, and what came while nothing is asked. */
  readonly repeats: number;
  /** How often the open question was told again because it had not reached the person, or not for certain. */
  readonly retold: number;
  /** Reminders since the person was heard the last time. */
  readonly reminders: number;
  /** Files that were taken, by purpose. */
  readonly files: Readonly<Record<Purpose, number>>;
  /** Files of these that can be used, or that an operator has to look at. */
  readonly usable: Readonly<Record<Purpose, number>>;
  /** Files that were refused at this step. */
  readonly refused: number;
  /** Files that are being fetched and read. */
  readonly reading: number;
  /** The person said that there are no more files. */
  readonly complete: boolean;
  /** What was found about the income; null: nothing yet. */
  readonly income: 'asked' | SourceStep | 'confirmed' | 'adjusted' | 'operator' | null;
  /** What the income source has asked of the person so far, one step after the other. */
  readonly sourceSteps: number;
  /** The application's status, as far as the conversation knows. */
  readonly status: ApplicationStatus;
  /** The turn whose reply asked the open question whole, of those that prove what was shown; null: none yet. */
  readonly askedTurn: number | null;
  /** The offer was told at this question. */
  readonly offerShown: boolean;
  /** The SHA-256 of the contract that was shown, in hex; null: none was. */
  readonly shownContract: string | null;
  /** The SHA-256 of the contract that the person accepted. */
  readonly acceptedContract: string | null;
  /** What is proven of the person, and what is waited for, at the step `code`. */
  readonly proof: 'none' | 'last_four' | 'code_asked' | 'code_sent' | 'code';
  /** After the end: the person has been told. */
  readonly toldEnd: boolean;
}

/** A conversation that has begun and said nothing. */
export function newState(status: ApplicationStatus): State {
  return {
    place: 'started',
    heldBy: 'service',
    handedOver: null,
    optedOut: false,
    nonce: 0,
    unsaid: false,
    tapped: null,
    misunderstood: 0,
    repeats: 0,
    retold: 0,
    reminders: 0,
    files: { earnings: 0, debts: 0 },
    usable: { earnings: 0, debts: 0 },
    refused: 0,
    reading: 0,
    complete: false,
    income: null,
    sourceSteps: 0,
    status,
    askedTurn: null,
    offerShown: false,
    shownContract: null,
    acceptedContract: null,
    proof: 'none',
    toldEnd: false,
  };
}

/** The state at another place: a new question, so that every button from before is old. */
export function at(state: State, place: Place): State {
  return {
    ...state,
    place,
    nonce: state.nonce + 1,
    refused: 0,
    complete: false,
    askedTurn: null,
    offerShown: false,
    ...UNDERSTOOD,
  };
}

/**
 * The state as it is stored. One from before a question's turn was kept has none: its question is asked again. One from
 * before sources asked something has no number of their steps, and one from before double taps were known no last tap.
 * One from before tellings were counted has none.
 */
export function storedState(stored: State): State {
  const { askedTurn = null, sourceSteps = 0, tapped = null, retold = 0 } = stored as Partial<State>;
  return { ...stored, askedTurn, sourceSteps, tapped, retold };
}

/** What an input that was understood resets. */
export const UNDERSTOOD = { misunderstood: 0, repeats: 0, retold: 0 } as const;
