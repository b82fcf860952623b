/** The simulator in a process: its channel, and the page that shows it. */
import type { FastifyInstance } from 'fastify';
import { applyChannelEvents } from '../messages/intake/channel-events.ts';
import type { ChannelEvent } from '../messages/rules/channel-event.ts';
import type { Database } from '../postgres/database.ts';
import type { Vault } from '../seal/vault.ts';
import { Simulator } from './channel.ts';
import { addSimulatorPage } from './page.ts';

/** What the phones of the channel do goes to the store as events, and then to `happened`. */
export function openSimulator(
  { database, vault }: { readonly database: Database; readonly vault: Vault },
  happened: (events: readonly ChannelEvent[]) => void,
) {
  const channel = new Simulator(async (events) => {
    await applyChannelEvents({ database, vault }, events);
    happened(events);
  });
  const page = {
    path: '/simulator',
    add: (ops: FastifyInstance, opsHost: string, docsUrl: (hostname: string) => string) =>
      addSimulatorPage(ops, { database, vault, simulator: channel }, opsHost, docsUrl),
  };
  return { channel, page };
}
