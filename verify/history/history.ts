/**
 * What happened in a run, by the words of those who saw it: the clients, the channel, the endpoints, and the store
 * afterwards. Times are milliseconds of the run, by the one stopwatch of the process that watched all of them.
 */
import type { ApplicationStatus, ReviewAction } from '../../src/domain/application/lifecycle.ts';
import type { PartnerEventType } from '../../src/domain/event/event.ts';
import type { MessageStatus, MessageType } from '../../src/domain/message/notify.ts';
import type { Decision } from '../../src/domain/scorecard/scorecard.ts';
import type { ProposalState } from '../../src/subjects/desk/rules/proposal.ts';
import type { ReturnCode } from '../../src/subjects/desk/rules/returned.ts';

export interface Partner {
  readonly id: number;
  readonly cap: number | null;
  readonly hasEndpoint: boolean;
  /** False: a flood, whose batches nobody noted. */
  readonly isNoted: boolean;
}

/** The fields of an application that the rules ask for. An ID number occurs once in a run. */
export interface SentApplication {
  readonly idNumber: string;
  /** In E.164. */
  readonly phone: string;
  readonly optin: boolean;
  /** What its data lead to; null: it is invalid. */
  readonly decision: Decision | null;
}

export type Outcome =
  | {
      readonly kind: 'registered';
      readonly id: number;
      readonly score: number;
      readonly decision: Decision;
      readonly status: ApplicationStatus;
    }
  | { readonly kind: 'duplicate' | 'over_quota' | 'invalid' };

/** An answer as the client got it. */
export interface Answer {
  readonly status: number;
  readonly isReplay: boolean;
  /** Of the body's bytes. */
  readonly digest: string;
  /** By position; null where the status is not 200. */
  readonly outcomes: readonly Outcome[] | null;
}

/** One request of a batch. */
export interface Call {
  readonly fromMs: number;
  readonly toMs: number;
  /** null: the connection was closed without an answer, so the batch may be stored. */
  readonly answer: Answer | null;
}

/** A batch, and all requests with it: the same bytes, and the same Idempotency-Key if it has one. */
export interface Batch {
  readonly partnerId: number;
  readonly hasKey: boolean;
  readonly applications: readonly SentApplication[];
  /** Whether nothing stands against any of its applications, so that all or none are registered. */
  readonly isAllNew: boolean;
  /** In the order of their answers. */
  readonly calls: readonly Call[];
}

/**
 * A review by the command line, or a proposal of the desk from when it was made to when it was seen applied. `unknown`:
 * the connection died, so the review may be stored.
 */
export interface Review {
  /** null: the command line. */
  readonly operatorId: number | null;
  readonly applicationId: number;
  readonly action: ReviewAction;
  readonly fromMs: number;
  readonly toMs: number;
  readonly end: 'done' | 'refused' | 'unknown';
  /** What the store knew after its end; null: it ended otherwise than `done`. */
  readonly seen: UnderWay | null;
}

/** A look into the store: the messages whose send had begun and had no end yet. Later sends are not there. */
export interface UnderWay {
  readonly atMs: number;
  readonly messageIds: readonly string[];
}

/** A person asked for no more messages, and the service took the webhook. */
export interface OptOut {
  /** In E.164. */
  readonly phone: string;
  readonly seen: UnderWay;
}

/** An operator of the desk. */
export interface DeskOperator {
  readonly id: number;
  /** Whether each amount of the run is within the operator's authority. */
  readonly hasAuthority: boolean;
}

/** An act of an operator at the desk, repeated until its end was known. */
export interface DeskAct {
  readonly act: 'claim' | 'release' | 'propose' | 'undo' | 'confirm' | 'decline';
  readonly operatorId: number;
  readonly applicationId: number;
  /** null: it is about no proposal, or none was made. */
  readonly proposalId: number | null;
  /** What was proposed; null for the other acts. */
  readonly action: ReviewAction | null;
  readonly fromMs: number;
  readonly toMs: number;
  /** `late`: refused, because the proposal was applied already. */
  readonly end: 'done' | 'refused' | 'late';
}

/** What GET /PRO told a partner with a cap. */
export interface QuotaReading {
  readonly partnerId: number;
  readonly used: number;
  readonly toMs: number;
}

/** A send that the channel accepted. */
export interface Send {
  /** Too large for a number after a review. */
  readonly messageId: string;
  /** In E.164. */
  readonly phone: string;
  readonly atMs: number;
  /** Whether the channel reported the message as failed afterwards, so that it reached no phone. */
  readonly isFailed: boolean;
}

/** An event as the partner's feed told it. */
export interface ReadEvent {
  readonly id: string;
  readonly type: PartnerEventType;
  readonly applicationId: number;
  readonly idNumber: string | null;
}

/** Everything that a partner read of its feed, page after page, to the end. */
export interface Feed {
  readonly partnerId: number;
  readonly events: readonly ReadEvent[];
}

/** The ids of the events that came to a partner's endpoint, in the order of their coming. */
export interface Pushes {
  readonly partnerId: number;
  readonly ids: readonly string[];
}

/** The time in which the database's clock was set; `toMs` is Infinity where nobody knows whether it was. */
export interface ClockStep {
  readonly fromMs: number;
  readonly toMs: number;
  /** How far it is ahead of the right time from then on. It is right before the first step. */
  readonly aheadMs: number;
}

export interface Move {
  readonly action: ReviewAction;
  readonly from: ApplicationStatus;
  readonly to: ApplicationStatus;
  /** As the history of the application names who did it, and the second operator. */
  readonly actor: string;
  readonly second: string | null;
}

export interface StoredProposal {
  readonly id: number;
  readonly applicationId: number;
  readonly action: ReviewAction;
  readonly makerId: number;
  readonly state: ProposalState;
  readonly returnedFor: ReturnCode | null;
  /** What the record of acts has of its end. */
  readonly recorded: readonly string[];
}

export interface StoredApplication {
  readonly id: number;
  readonly partnerId: number;
  /** null: no client sent it. */
  readonly idNumber: string | null;
  /** Another text than a phone where no client sent it; null: the store has none. */
  readonly phone: string | null;
  readonly optin: boolean;
  readonly score: number | null;
  readonly decision: Decision | null;
  readonly status: ApplicationStatus;
  /** Its reviews in the order of the history. */
  readonly moves: readonly Move[];
}

export interface StoredMessage {
  readonly messageId: string;
  readonly type: MessageType;
  readonly status: MessageStatus;
}

export interface StoredEvent {
  readonly partnerId: number;
  readonly number: number;
  /** As partners see it. */
  readonly id: string;
  readonly type: PartnerEventType;
  readonly applicationId: number;
  readonly from: ApplicationStatus | null;
  readonly to: ApplicationStatus | null;
}

/** The store after the run. */
export interface Store {
  readonly applications: readonly StoredApplication[];
  readonly proposals: readonly StoredProposal[];
  readonly messages: readonly StoredMessage[];
  readonly events: readonly StoredEvent[];
}

export interface History {
  readonly partners: readonly Partner[];
  readonly batches: readonly Batch[];
  readonly reviews: readonly Review[];
  readonly operators: readonly DeskOperator[];
  readonly deskActs: readonly DeskAct[];
  readonly optOuts: readonly OptOut[];
  readonly quota: readonly QuotaReading[];
  readonly sends: readonly Send[];
  readonly feeds: readonly Feed[];
  readonly pushes: readonly Pushes[];
  readonly clockSteps: readonly ClockStep[];
  readonly store: Store;
}

/** What a rule finds in a history: how it is broken, and whose data show it; null: no partner's alone. */
export interface Found {
  readonly partnerId: number | null;
  readonly text: string;
}
