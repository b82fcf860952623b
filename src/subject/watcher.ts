/**
 * What hears of the work of a process, to show it to operators. A call only adds to numbers, because it stands on the
 * way of the work.
 */
import type { FastifyInstance } from 'fastify';
import type { ChannelEvent } from '../messages/rules/channel-event.ts';
import type { SendResult } from '../messages/rules/send-result.ts';
import type { PartnerId } from '../partners/rules/credential.ts';

/** The queue of requests. */
export interface Load {
  /** The cost of the requests that wait, and of those that are worked on, in applications. */
  readonly waiting: number;
  readonly atWork: number;
  /** How long the next request of a partner without a queue would wait. */
  readonly expectedMs: number;
}

/** The end of a job in one turn of the upkeep. */
export interface JobEnd {
  readonly name: string;
  readonly tookMs: number;
  readonly succeeded: boolean;
}

export interface Watcher {
  /** Measures the requests of a listener. */
  measure(app: FastifyInstance): void;
  /** Shows the queue of requests. */
  showLoad(read: () => Load): void;
  /** Requests of partners were refused because of overload. */
  refused(requests: ReadonlyMap<PartnerId, number>): void;
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
  /** The jobs of a turn of the upkeep ended. */
  kept(ends: readonly JobEnd[]): Promise<void>;
  /** Adds what it shows to a listener of operators. */
  addPages(app: FastifyInstance): void;
}

/** Where nobody watches. */
export const NOBODY: Watcher = {
  measure: () => {},
  showLoad: () => {},
  refused: () => {},
  registering: () => {},
  sent: () => {},
  replied: () => {},
  happened: () => {},
  pushed: () => {},
  kept: async () => {},
  addPages: () => {},
};
