/** The simulator in a process: its channel, its page, and the way to the page. */
import type { FastifyInstance } from 'fastify';
import { isLoopback } from '../base/loopback.ts';
import type { Channel } from '../messages/channels/channel.ts';
import { applyChannelEvents } from '../messages/intake/channel-events.ts';
import { Simulator } from '../simulator/channel.ts';
import { addSimulatorPage } from '../simulator/page.ts';
import type { Config } from './config/config.ts';
import { portOf } from './listen.ts';
import type { Store } from './open-store.ts';

const PATH = '/simulator';

/** Makes the channel. What its phones do goes to the store as events. */
export function simulatorOn({ database, vault }: Store): Simulator {
  return new Simulator((events) => applyChannelEvents({ database, vault }, events).then(() => {}));
}

/** Adds the page where the channel is the simulator, and returns its path. Returns null with another channel. */
export function addSimulator(
  ops: FastifyInstance,
  { database, vault }: Store,
  channel: Channel | null,
  { opsHost, docsUrl }: { readonly opsHost: string; readonly docsUrl: (hostname: string) => string },
): string | null {
  if (!(channel instanceof Simulator)) return null;
  addSimulatorPage(ops, { database, vault, simulator: channel }, opsHost, docsUrl);
  return PATH;
}

/**
 * The way from the documentation to the page, by the hostname of a request; null where nobody who reads the documentation
 * could open the page.
 */
export function wayToSimulator(
  { channel, delivery, host }: Config,
  ops: () => FastifyInstance,
): ((hostname: string) => string) | null {
  const hasPage = channel === 'simulator' && delivery && isLoopback(host);
  return hasPage ? (hostname) => `http://${hostname}:${portOf(ops())}${PATH}` : null;
}
