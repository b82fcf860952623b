/**
 * Makes the channel that CHANNEL names (docs/messages.md, "Channels"), and refuses a simulator that others could reach.
 */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Channel } from '../domain/message/channel.ts';
import type { ReadTemplates } from '../domain/message/channel-templates.ts';
import type { Clock } from '../ground/base/clock.ts';
import { isLoopbackAddress } from '../ground/base/loopback.ts';
import type { Watcher } from '../program/subject/watcher.ts';
import { logChannel } from '../subjects/messages/channels/log.ts';
import { whatsappChannel } from '../subjects/messages/channels/whatsapp.ts';
import { whatsappTemplates } from '../subjects/messages/channels/whatsapp-templates.ts';
import { openSimulator } from '../subjects/simulator/open.ts';
import { type Config, ConfigError } from './config/config.ts';
import type { Hear } from './hearing.ts';
import type { Store } from './open-store.ts';

/** A page for operators that shows a channel. */
export interface ChannelPage {
  readonly path: string;
  /**
   * Adds the page to the operators' listener. `docsUrl` gives the URL of the documentation under the hostname of a
   * request.
   */
  add(ops: FastifyInstance, docsUrl: (hostname: string) => string): void;
}

interface OpenChannel {
  readonly channel: Channel;
  readonly page?: ChannelPage;
}

/** `channel` is any text: a program without the simulator has no such channel. */
type Reached = Pick<Config, 'delivery' | 'opsHost'> & { readonly channel: string };

/** Throws a `ConfigError` if others could reach the page of the simulator, which has no password. */
export function refuseOpenSimulator({ channel, delivery, opsHost }: Reached): void {
  if (channel !== 'simulator' || !delivery || isLoopbackAddress(opsHost)) return;
  throw new ConfigError(
    'OPS_HOST',
    'must be an address of this machine alone with CHANNEL=simulator, whose page shows names and phones: probes have HEALTH_PORT',
  );
}

/** `watcher` and `hear` get the events of a channel that this process plays itself. */
export function openChannel(
  config: Config,
  store: Store,
  log: Logger,
  { watcher, hear }: { readonly watcher: Watcher; readonly hear: Hear },
): OpenChannel {
  if (config.channel === 'simulator') return openSimulator({ ...store, hear }, watcher.happened);
  return {
    channel: config.whatsapp === null ? logChannel(log) : whatsappChannel(config.whatsapp, store.clock),
  };
}

/** Reads the templates of the channel's account, where it has one. */
export function templatesAt({ whatsapp }: Pick<Config, 'whatsapp'>, clock: Clock): ReadTemplates {
  const accountId = whatsapp?.accountId ?? null;
  if (whatsapp === null || accountId === null) return async () => ({ kind: 'not_asked' });
  return whatsappTemplates({ ...whatsapp, accountId }, clock);
}
