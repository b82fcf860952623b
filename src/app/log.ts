/** The log of a service or a worker. */
import pino, { type Logger } from 'pino';
import type { Config } from './config/config.ts';

/** Writes JSON lines to stdout, from the configured level on. */
export function createLog(config: Config): Logger {
  return pino({ level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime });
}
