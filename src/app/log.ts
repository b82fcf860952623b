/** The log of a service or a worker. */
import pino, { type Logger } from 'pino';
import type { Config } from './config/config.ts';

/** What can be read of a line before it is written: its level stands first. */
const TROUBLE = /^\{"level":[456]0,/;

/** A log that begins after something else is written. */
export interface StartLog {
  readonly log: Logger;
  /** Writes the lines that were held. Later ones are not held. */
  begin(): void;
}

/**
 * Writes JSON lines to stdout, from the configured level on. Until `begin` it holds all lines but warnings and errors,
 * so that the welcome of a first start stands first.
 */
export function createLog(
  { logLevel: level }: Pick<Config, 'logLevel'>,
  stdout = pino.destination(1),
): StartLog {
  const held: string[] = [];
  const own = stdout.write;
  stdout.write = (line) => (TROUBLE.test(line) ? own.call(stdout, line) : held.push(line) > 0);
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stdout);
  return {
    log,
    begin() {
      stdout.write = own;
      for (const line of held.splice(0)) stdout.write(line);
    },
  };
}
