/**
 * Takes in the events of webhooks. Webhooks that arrive while others are applied go together. So a burst of them takes
 * few connections and few statements, and waits for no connection that the batches of partners hold
 * (src/subjects/messages/README.md). `intake/channel-events.ts` applies the events.
 */

import type { ChannelEvent } from '../../../domain/message/channel-event.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { UnavailableError } from '../../../ground/base/registration-failure.ts';
import { Gathering } from '../../../ground/postgres/gathering.ts';
import {
  applyChannelEvents,
  type ChannelEventContext,
  type ChannelEventCounts,
  countKinds,
  NO_CHANGES,
} from './channel-events.ts';
import { WEBHOOK_LANES } from './webhook-lanes.ts';

/**
 * The most events of a group: as many as the channel puts into one webhook, so that a group takes no longer than one
 * webhook may.
 */
const MAX_EVENTS_TOGETHER = 1_000;
/** The most events that wait, which limits the memory that they take. */
const MAX_EVENTS_WAITING = 50_000;
/** A group that fails is tried once more, because a session may have died. Two tries fit into the time of an answer. */
const MAX_TRIES = 2;
const AGAIN_AFTER_MS = 200;

interface Webhook {
  readonly events: readonly ChannelEvent[];
  resolve(counts: ChannelEventCounts): void;
  reject(error: unknown): void;
}

interface IntakeContext extends ChannelEventContext {
  readonly clock: Clock;
}

export class ChannelEventIntake {
  readonly #context: IntakeContext;
  readonly #gathering: Gathering<Webhook>;
  #eventsWaiting = 0;

  /** The database of the context should serve nothing else. */
  constructor(context: IntakeContext) {
    this.#context = context;
    this.#gathering = new Gathering<Webhook>({
      lanes: WEBHOOK_LANES,
      maxWaiting: MAX_EVENTS_WAITING,
      take: (waiting) => this.#take(waiting),
      run: (webhooks) => this.#run(webhooks),
    });
  }

  /**
   * Applies the events of a webhook, alone or together with others. Resolves when everything is committed. If webhooks
   * went together, the first one gets the counts of all, and the others get zeros. Throws `UnavailableError` if too
   * many events wait, and the errors of `applyChannelEvents`.
   */
  apply(events: readonly ChannelEvent[]): Promise<ChannelEventCounts> {
    return new Promise((resolve, reject) => {
      const fits = this.#eventsWaiting === 0 || this.#eventsWaiting + events.length <= MAX_EVENTS_WAITING;
      if (!fits || !this.#gathering.add({ events, resolve, reject })) {
        reject(new UnavailableError('too many webhooks are waiting'));
        return;
      }
      this.#eventsWaiting += events.length;
    });
  }

  /** At least one webhook, and as many more as fit. */
  #take(waiting: Webhook[]): Webhook[] {
    let events = 0;
    const end = waiting.findIndex((webhook, index) => {
      events += webhook.events.length;
      return index > 0 && events > MAX_EVENTS_TOGETHER;
    });
    const taken = waiting.splice(0, end === -1 ? waiting.length : end);
    for (const webhook of taken) this.#eventsWaiting -= webhook.events.length;
    return taken;
  }

  async #run(webhooks: readonly Webhook[]): Promise<void> {
    try {
      const changes = await this.#applyPatiently(webhooks.flatMap(({ events }) => events));
      for (const [index, { events, resolve }] of webhooks.entries()) {
        resolve({ ...(index === 0 ? changes : NO_CHANGES), ...countKinds(events) });
      }
    } catch (error) {
      for (const { reject } of webhooks) reject(error);
    }
  }

  async #applyPatiently(events: readonly ChannelEvent[]): Promise<ChannelEventCounts> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await applyChannelEvents(this.#context, events);
      } catch (error) {
        if (tries === MAX_TRIES) throw error;
        await this.#context.clock.sleep(AGAIN_AFTER_MS);
      }
    }
  }
}
