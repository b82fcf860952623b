/** Makes the log of a service or a worker: JSON lines on stdout, without personal data (README.md, "Operating"). */
import pino, { type Logger } from 'pino';
import type { Config } from './config/config.ts';

/** A log whose lines wait until something else is written. */
export interface StartLog {
  readonly log: Logger;
  /** Writes a warning at once: what a start waits for must be seen while it waits. */
  notice(text: string): void;
  /** Writes the lines that were held. Later ones are not held. */
  begin(): void;
}

/**
 * Writes JSON lines to stdout, from the configured level on. Until `begin` it holds all lines except notices, so that
 * the welcome of a first start comes first: on a busy machine a loop may fail once before it.
 */
export function createLog(
  { logLevel: level }: Pick<Config, 'logLevel'>,
  stdout = pino.destination(1),
): StartLog {
  const held: string[] = [];
  const own = stdout.write;
  const hold = (line: string) => held.push(line) > 0;
  stdout.write = hold;
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stdout);
  return {
    log,
    notice(text) {
      const now = stdout.write;
      stdout.write = own;
      log.warn(text);
      stdout.write = now;
    },
    begin() {
      stdout.write = own;
      for (const line of held.splice(0)) stdout.write(line);
    },
  };
}
