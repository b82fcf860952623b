/** Opens the simulator in a process: its channel, and the page that shows it (docs/messages.md, "The simulator"). */
import type { FastifyInstance } from 'fastify';
import type { ChannelEvent } from '../../domain/message/channel-event.ts';
import type { Clock } from '../../ground/base/clock.ts';
import { applyChannelEvents, type ChannelEventContext } from '../messages/intake/channel-events.ts';
import { Simulator } from './channel.ts';
import { addSimulatorPage } from './page.ts';
import { now } from './said-now.ts';

interface OpenContext extends ChannelEventContext {
  readonly clock: Clock;
}

/** Opens the simulator. What happens on the phones goes to the store as events, and then to `happened`. */
export function openSimulator(context: OpenContext, happened: (events: readonly ChannelEvent[]) => void) {
  const { database, vault, clock } = context;
  const channel = new Simulator(async (events) => {
    const told = await byOneClock(context, events);
    await applyChannelEvents(context, told);
    happened(told);
  }, clock);
  const page = {
    path: '/simulator',
    add: (ops: FastifyInstance, docsUrl: (hostname: string) => string) =>
      addSimulatorPage(ops, { database, vault, simulator: channel }, docsUrl),
  };
  return { channel, page };
}

/**
 * Gives all events the times of one clock, as a channel has one. The phones use the database's clock (D39), so the
 * statuses get its times too.
 */
async function byOneClock(
  context: OpenContext,
  events: readonly ChannelEvent[],
): Promise<readonly ChannelEvent[]> {
  if (!events.some(({ kind }) => kind === 'status')) return events;
  const aheadMs = (await now(context)).getTime() - context.clock.nowMs();
  return events.map((event) =>
    event.kind === 'status' ? { ...event, at: new Date(event.at.getTime() + aheadMs) } : event,
  );
}
