/**
 * The state that a conversation remembers between turns, how it begins, and how an older or damaged one is read. Pure.
 * It has codes and numbers alone: no data of the person and no text. docs/conversation.md ("Inputs, turns and replies")
 * has the rule.
 */
import type { ApplicationStatus } from '../application/lifecycle.ts';
import type { ConversationPlace, HandOverReason, Holder } from './places.ts';

/** What documents are asked for. */
export const PURPOSES = ['earnings', 'debts'] as const;
export type Purpose = (typeof PURPOSES)[number];

/** What an income source needs from the person before it can continue. */
export const SOURCE_STEPS = ['open_link', 'enter_code'] as const;
export type SourceStep = (typeof SOURCE_STEPS)[number];

/**
 * The message outside the chat that reports an approval. `none`: there is none, or it failed. `queued`: it has not gone
 * out. `left`: the person has it, or may have it.
 */
export type ApprovalMessage = 'none' | 'queued' | 'left';

export interface State {
  readonly place: ConversationPlace;
  readonly heldBy: Holder;
  /** Why an operator holds the conversation; null: the service holds it. */
  readonly handedOver: HandOverReason | null;
  /** The person wants no more messages. */
  readonly optedOut: boolean;
  /** The phone is somebody else's, so nothing is said there, even after the end. */
  readonly wrongPerson: boolean;
  /** The number of the question that is open. A button with another number is old. */
  readonly nonce: number;
  /** The open question was not sent, because the channel's window was closed. */
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
  /** How often in a row the person tapped old buttons, gave wrong answers, or wrote while no question was open. */
  readonly repeats: number;
  /** How often the open question was sent again because it had not, or perhaps not, reached the person. */
  readonly retold: number;
  /** Reminders since the person was last heard. */
  readonly reminders: number;
  /** Files that were taken, by purpose. */
  readonly files: Readonly<Record<Purpose, number>>;
  /** Files of these that can be used, or that an operator has to look at. */
  readonly usable: Readonly<Record<Purpose, number>>;
  /**
   * Files that an operator rejected and about which the person does not know yet: their numbers in the order of
   * sending.
   */
  readonly rejected: Readonly<Record<Purpose, readonly number[]>>;
  /** Files that were refused at this step. */
  readonly refused: number;
  /** Files that are being fetched and read. */
  readonly reading: number;
  /** The person said that there are no more files. */
  readonly complete: boolean;
  /** The list of debts. `told`: the person has not said yet that it is right. */
  readonly debtList: 'none' | 'told' | 'confirmed';
  /** Lists of debts that the person has written. */
  readonly debtLists: number;
  /** What was found about the income; null: nothing yet. */
  readonly income: 'asked' | SourceStep | 'confirmed' | 'adjusted' | 'operator' | null;
  /** What the income source has asked of the person so far, one step after the other. */
  readonly sourceSteps: number;
  /**
   * Whether an offer is possible, which is found out after the consent, before a document is asked for. `asked`: the
   * consent is given, and the work is under way.
   */
  readonly outlook: 'none' | 'asked' | 'told';
  /** The application's status, as far as the conversation knows. */
  readonly status: ApplicationStatus;
  /** The turn whose reply asked the open question in full, if that question proves what was shown; null: none yet. */
  readonly askedTurn: number | null;
  /** The offer was shown with the open question. */
  readonly offerShown: boolean;
  /** The costs of the offer that was shown last, as one value; null: none was. */
  readonly shownCosts: string | null;
  /** The SHA-256 of the contract that was shown, in hex; null: none was. */
  readonly shownContract: string | null;
  /** The SHA-256 of the contract that the person accepted. */
  readonly acceptedContract: string | null;
  /** The review's approval. `untold`: the chat has not reported it. `said`: the reply of `approvalTurn` reported it. */
  readonly approval: 'none' | 'untold' | 'said';
  /** The turn whose reply reported the approval; null: none did, or the turn has not ended. */
  readonly approvalTurn: number | null;
  /** What was known about the message outside the chat that reports the approval. */
  readonly approvalMessage: ApprovalMessage;
  /** What is proven of the person, and what is waited for, at the step `code`. */
  readonly proof: 'none' | 'last_four' | 'code_asked' | 'code_sent' | 'code';
  /** Until when the signature may be withdrawn, by the database's clock; null: it may not be withdrawn. */
  readonly withdrawableUntilMs: number | null;
  /** The last day for that, as the person reads it; null: there is none, or it was not remembered. */
  readonly lastDayToWithdraw: string | null;
  /** The signed contract in the chat. `due`: it is not said, or its reply is lost. */
  readonly signedCopy: 'none' | 'due' | 'said';
  /** The turn whose reply has the signed contract; null: none has. */
  readonly copyTurn: number | null;
  /** The final schedule in the chat, and the turn whose reply has it; as the two members before. */
  readonly schedule: 'none' | 'due' | 'said';
  readonly scheduleTurn: number | null;
  /** After the end: the person has been told. */
  readonly toldEnd: boolean;
  /** Whether the person was asked if they want no more messages. `open`: they have sent nothing since. */
  readonly stopAsked: 'no' | 'open' | 'asked';
}

/** The person knows about every file that an operator rejected. */
export const NONE_REJECTED: State['rejected'] = { earnings: [], debts: [] };

/** One reminder inside the channel's window, and the template after it. */
export const MOST_REMINDERS = 2;

/** More questions than one turn can ask. */
const NONCES_A_TURN = 1_000;

/**
 * The state of a conversation that has begun and said nothing. `turn`: the last turn of the application's earlier
 * conversations, so that none of their buttons counts here.
 */
export function newState(status: ApplicationStatus, turn = 0): State {
  return {
    place: 'started',
    heldBy: 'service',
    handedOver: null,
    optedOut: false,
    wrongPerson: false,
    nonce: turn * NONCES_A_TURN,
    unsaid: false,
    tapped: null,
    misunderstood: 0,
    repeats: 0,
    retold: 0,
    reminders: 0,
    files: { earnings: 0, debts: 0 },
    usable: { earnings: 0, debts: 0 },
    rejected: NONE_REJECTED,
    refused: 0,
    reading: 0,
    complete: false,
    debtList: 'none',
    debtLists: 0,
    income: null,
    sourceSteps: 0,
    outlook: 'none',
    status,
    askedTurn: null,
    offerShown: false,
    shownCosts: null,
    shownContract: null,
    acceptedContract: null,
    approval: 'none',
    approvalTurn: null,
    approvalMessage: 'none',
    proof: 'none',
    withdrawableUntilMs: null,
    lastDayToWithdraw: null,
    signedCopy: 'none',
    copyTurn: null,
    schedule: 'none',
    scheduleTurn: null,
    toldEnd: false,
    stopAsked: 'no',
  };
}

/** The state at another place: a new question, so that every button from before is old. */
export function at(state: State, place: ConversationPlace): State {
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

/** The values for a state that was stored before the program had these members. */
const BEFORE = {
  askedTurn: null,
  sourceSteps: 0,
  outlook: 'none',
  tapped: null,
  retold: 0,
  withdrawableUntilMs: null,
  lastDayToWithdraw: null,
  shownCosts: null,
  rejected: NONE_REJECTED,
  debtList: 'none',
  debtLists: 0,
  wrongPerson: false,
  approval: 'none',
  approvalTurn: null,
  approvalMessage: 'none',
  signedCopy: 'none',
  copyTurn: null,
  schedule: 'none',
  scheduleTurn: null,
  stopAsked: 'no',
} as const satisfies Partial<State>;

/** A state that was stored before `copyTurn` existed. It says instead whether a reply had followed the copy. */
type StoredState = Omit<State, 'signedCopy'> & {
  readonly signedCopy: State['signedCopy'] | 'newest' | 'sent';
};

/** The state as it is stored, complete. `turn`: the last one of the conversation. */
export function storedState(stored: StoredState, turn: number): State {
  const state = { ...BEFORE, ...stored };
  const { signedCopy } = state;
  if (signedCopy === 'newest') return { ...state, signedCopy: 'said', copyTurn: turn };
  return { ...state, signedCopy: signedCopy === 'sent' ? 'said' : signedCopy };
}

/**
 * The state of a conversation whose rows make a turn fail: an operator has it, and the questions begin again. What the
 * person said about themselves and about the phone stays. So does what they still have to get, or may still do.
 */
export function setAsideState(
  row: {
    readonly place: ConversationPlace;
    readonly status: ApplicationStatus;
    readonly state: State | null;
  },
  turn: number,
): State {
  const fresh = newState(row.status, turn);
  // A damaged state may have any of its parts.
  const stored = storedState({ ...fresh, ...row.state }, turn - 1);
  const { optedOut, wrongPerson, withdrawableUntilMs, lastDayToWithdraw } = stored;
  const { signedCopy, copyTurn, schedule, scheduleTurn } = stored;
  return {
    ...fresh,
    place: row.place,
    heldBy: 'operator',
    handedOver: 'unreadable',
    optedOut,
    wrongPerson,
    withdrawableUntilMs,
    lastDayToWithdraw,
    ...{ signedCopy, copyTurn, schedule, scheduleTurn },
    approval: stored.approval === 'untold' ? 'untold' : 'none',
  };
}

/** What an input that was understood resets. */
export const UNDERSTOOD = { misunderstood: 0, repeats: 0, retold: 0 } as const;
