/** The simulator in a process: its channel, and the page that shows it. */
import type { FastifyInstance } from 'fastify';
import { applyChannelEvents, type ChannelEventContext } from '../messages/intake/channel-events.ts';
import type { ChannelEvent } from '../messages/rules/channel-event.ts';
import { Simulator } from './channel.ts';
import { addSimulatorPage } from './page.ts';

/** What the phones of the channel do goes to the store as events, and then to `happened`. */
export function openSimulator(
  context: ChannelEventContext,
  happened: (events: readonly ChannelEvent[]) => void,
) {
  const { database, vault } = context;
  const channel = new Simulator(async (events) => {
    await applyChannelEvents(context, events);
    happened(events);
  });
  const page = {
    path: '/simulator',
    add: (ops: FastifyInstance, opsHost: string, docsUrl: (hostname: string) => string) =>
      addSimulatorPage(ops, { database, vault, simulator: channel }, opsHost, docsUrl),
  };
  return { channel, page };
}
