/** The log of a service or a worker. */
import pino, { type Logger } from 'pino';
import type { Config } from './config/config.ts';

/** Logs to stderr-free stdout as JSON lines; sent where the level allows. */
export function createLog(config: Config): Logger {
  return pino({ level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime });
}
