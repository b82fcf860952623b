/**
 * What the work of a process reports to the watcher, which shows it to operators (docs/monitoring.md). Types alone, and
 * a watcher that does nothing. A call only adds to numbers, because it must not slow the work down.
 */
import type { FastifyInstance } from 'fastify';
import type { SendResult } from '../../domain/message/channel.ts';
import type { ChannelEvent } from '../../domain/message/channel-event.ts';
import type { PartnerId } from '../../domain/partner/credential.ts';

/** The queue of requests. */
export interface Load {
  /** The cost of the requests that wait, and of those that are worked on, in applications. */
  readonly waiting: number;
  readonly atWork: number;
  /** How long the next request of a partner without a queue would wait. */
  readonly expectedMs: number;
}

/** The result of a transaction of turns of conversations. */
export interface TurnsTaken {
  readonly turns: number;
  readonly tookMs: number;
  /** Events of conversations (D47), whether or not a partner asks for them. */
  readonly events: readonly { readonly event: string; readonly outcome?: string }[];
  /** Templates that remind, queued. */
  readonly reminders: number;
}

/** The end of a job in one turn of the upkeep. */
export interface JobEnd {
  readonly name: string;
  readonly tookMs: number;
  readonly succeeded: boolean;
  /** What operators read about a failure, without personal data; null: only the log says why. */
  readonly why: string | null;
}

/**
 * `later`: it is tried again. `given_up`: it was the last try. `gone`: what the work was for does not exist any more.
 */
export type WorkResult = 'done' | 'later' | 'failed' | 'given_up' | 'gone';

export interface Watcher {
  /** Measures the requests of a listener. */
  measure(app: FastifyInstance): void;
  /** Shows the queue of requests. */
  showLoad(read: () => Load): void;
  /** Requests of partners were refused because of overload. */
  refused(requests: ReadonlyMap<PartnerId, number>): void;
  /** Answered requests of partners are noted nowhere, because there were too many or the write failed. */
  leftOut(requests: number): void;
  /** One statement is about to register batches. */
  registering(batches: number, applications: number): void;
  /** The channel answered a send of a message that the service begins. */
  sent(result: SendResult['kind']): void;
  /** The channel answered a send of a reply. */
  replied(result: SendResult['kind']): void;
  /** Events of the channel are stored. */
  happened(events: readonly ChannelEvent[]): void;
  /** A push of an event ended. */
  pushed(result: string): void;
  /** A transaction of turns of conversations is committed. */
  tookTurns(taken: TurnsTaken): void;
  /** A transaction of turns failed: its turns are taken again. */
  turnsFailed(): void;
  /** A try of work beside a conversation ended. */
  worked(work: string, result: WorkResult, tookMs: number): void;
  /** A process read a document; `result` is `read` or a fault. */
  readDocument(result: string, tookMs: number): void;
  /** The virus scanner was asked. */
  scanned(result: string): void;
  /** A code for a signature went out, or did not. */
  sentCode(way: string, result: string): void;
  /** Somebody tried to sign in to the operators' console. */
  triedToSignIn(step: string, result: string): void;
  /** The jobs of a turn of the upkeep ended. */
  kept(ends: readonly JobEnd[]): Promise<void>;
  /** Adds what it shows to a listener of operators. */
  addPages(app: FastifyInstance): void;
}

/** The watcher of a process that nobody watches. */
export const NOBODY: Watcher = {
  measure: () => {},
  showLoad: () => {},
  refused: () => {},
  leftOut: () => {},
  registering: () => {},
  sent: () => {},
  replied: () => {},
  happened: () => {},
  pushed: () => {},
  tookTurns: () => {},
  turnsFailed: () => {},
  worked: () => {},
  readDocument: () => {},
  scanned: () => {},
  sentCode: () => {},
  triedToSignIn: () => {},
  kept: async () => {},
  addPages: () => {},
};
