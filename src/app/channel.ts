/** The channel that CHANNEL names. */
import type { Logger } from 'pino';
import type { Channel } from '../messages/channels/channel.ts';
import { logChannel } from '../messages/channels/log.ts';
import { whatsappChannel } from '../messages/channels/whatsapp.ts';
import type { Config } from './config/config.ts';
import type { Store } from './open-store.ts';
import { simulatorOn } from './simulator.ts';

export function channelOf(config: Config, store: Store, log: Logger): Channel {
  if (config.channel === 'simulator') return simulatorOn(store);
  return config.whatsapp === null ? logChannel(log) : whatsappChannel(config.whatsapp);
}
