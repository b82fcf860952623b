/**
 * What happened in a run by the words of those who saw it: the applicants' phones, the channel, the way of the codes,
 * and the store afterwards. Times are milliseconds of the run's own stopwatch.
 */
import type { ApplicationStatus } from '../../src/domain/application/lifecycle.ts';
import type { Script } from './scripts.ts';

/** A message that a person sent. */
export interface Told {
  /** The channel's id. */
  readonly id: string;
  /** What it was, for people: a tap, a word, a file. */
  readonly what: string;
  readonly atMs: number;
  /** The channel lost it: no webhook tells of it. */
  readonly isLost: boolean;
  /** When a webhook with it was answered with 200 the first time; null: never. */
  heardAtMs: number | null;
  /** It is the acceptance of a contract, and the phone had shown the contract with this SHA-256. */
  readonly accepts: string | null;
  /** How many of `PersonSeen.shown` the phone had shown before. */
  readonly shown: number;
  /** The person wants no more messages. */
  readonly optsOut: boolean;
  /** The code that it says. */
  readonly code: string | null;
}

/** A reply as the channel took it. */
export interface Taken {
  /** The id of the reply in the store. */
  readonly replyId: string;
  readonly atMs: number;
  /** The channel told later that it could not deliver it. */
  readonly isFailed: boolean;
  /** The SHA-256 of the document in it, of the bytes that were uploaded. */
  readonly document: string | null;
  /** The SHA-256 that the text says in words. */
  readonly hashInWords: string | null;
}

export interface PersonSeen {
  readonly applicationId: number;
  readonly script: Script;
  /** The channel does not tell the phone. */
  readonly isHidden: boolean;
  readonly told: readonly Told[];
  readonly taken: readonly Taken[];
  readonly codes: readonly string[];
  /** The SHA-256 of the texts that the phone showed, in their order. */
  readonly shown: readonly string[];
}

export interface StoredConversation {
  readonly applicationId: number;
  readonly place: string;
  readonly heldBy: string;
  /** Why an operator holds it; null: none does. */
  readonly handedOver: string | null;
  readonly turn: number;
}

export interface StoredInput {
  readonly applicationId: number;
  readonly source: string;
  /** Blind index of the channel's id. */
  readonly message: string | null;
  readonly turn: number | null;
  readonly fault: string | null;
}

export interface StoredReply {
  readonly id: string;
  readonly applicationId: number;
  readonly turn: number;
  readonly status: string;
  /** An operator wrote it. */
  readonly isAnswer: boolean;
}

export interface StoredEvidence {
  readonly number: number;
  readonly kind: string;
  readonly facts: Readonly<Record<string, unknown>>;
  /** Whether its MAC is the one that follows from the row before. */
  readonly isChained: boolean;
}

export interface StoredContract {
  readonly state: string;
  readonly sha256: string | null;
}

export interface StoredEvent {
  readonly partnerId: number;
  readonly number: number;
  readonly applicationId: number;
  /** With its outcome, where it has one. */
  readonly type: string;
}

export interface Stored {
  readonly conversations: readonly StoredConversation[];
  readonly inputs: readonly StoredInput[];
  readonly replies: readonly StoredReply[];
  /** Answers of operators in the record of acts, by application. */
  readonly answerActs: ReadonlyMap<number, number>;
  readonly applications: ReadonlyMap<number, { status: ApplicationStatus; isSigned: boolean }>;
  readonly evidence: ReadonlyMap<number, readonly StoredEvidence[]>;
  readonly contracts: ReadonlyMap<number, readonly StoredContract[]>;
  /** Rounds of proof whose code was right, by application. */
  readonly usedCodes: ReadonlyMap<number, number>;
  readonly events: readonly StoredEvent[];
  /** Templates that remind, by application. */
  readonly reminders: ReadonlyMap<number, number>;
  readonly waitingWork: number;
}

export interface History {
  readonly persons: readonly PersonSeen[];
  readonly store: Stored;
  /** The applications of those who waited for an operator and may be written to. */
  readonly waited: readonly number[];
  /** The events that the partners read in their feeds. */
  readonly feed: readonly StoredEvent[];
  /** The blind index of an id of the channel. */
  readonly indexOf: (channelId: string) => string;
}

/** How a rule is broken, and at which application. */
export interface Found {
  readonly applicationId: number | null;
  readonly text: string;
}
