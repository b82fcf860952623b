/** Waits for a database that is not up yet, as when it is started together with the service. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, errorCode, SetupError } from './database.ts';

const WAIT_MS = 60_000;
const POLL_MS = 500;

/** The network's errors: nobody listens there, or not yet. */
const UNREACHED =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|ENOENT|ENOTFOUND|EAI_AGAIN)$/;
/** Starting, stopping or full (57P, 53300), and connections that broke (08). */
const NOT_NOW = /^(57P0[1-3]|53300|08...)$/;
/** The driver's own words for a connection that was not made in time. */
const TIMEOUT = /timeout|terminated/i;

export interface Waiting {
  /** Ends the waiting: the returned promise rejects. */
  readonly signal: AbortSignal;
  /** Hears once, at the first failure, why the database is waited for. */
  readonly notice: (text: string) => void;
  readonly withinMs?: number;
}

/**
 * Resolves when the server of `DATABASE_URL` answers. What waiting cannot mend, a wrong password say, fails at once,
 * as does a server that has not answered within 60 s.
 * @throws SetupError that names DATABASE_URL and never shows its value
 */
export async function awaitServer(
  database: Database,
  { signal, notice, withinMs = WAIT_MS }: Waiting,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (let told = false; ; ) {
    const error = await failureOf(database);
    if (error === null) return;
    // What the checks of a session refuse is told by them.
    if (error instanceof SetupError) throw error;
    if (!isPassing(error)) throw new SetupError(`DATABASE_URL cannot be used: ${reasonOf(error)}`);
    if (performance.now() >= deadline) {
      const seconds = Math.round(withinMs / 1_000);
      throw new SetupError(
        `DATABASE_URL: the database did not answer within ${seconds} s: ${reasonOf(error)}`,
      );
    }
    if (!told) notice(`waiting for the database of DATABASE_URL: ${reasonOf(error)}`);
    told = true;
    await sleep(POLL_MS, undefined, { signal });
  }
}

async function failureOf(database: Database): Promise<unknown> {
  try {
    await database.query('SELECT 1');
    return null;
  } catch (error) {
    return error ?? new Error('unknown');
  }
}

function isPassing(error: unknown): boolean {
  const code = errorCode(error);
  if (code === undefined) return error instanceof Error && TIMEOUT.test(error.message);
  return UNREACHED.test(code) || NOT_NOW.test(code);
}

/** The server's own text may quote the user or the database, so it is left out where there is a code. */
function reasonOf(error: unknown): string {
  const code = errorCode(error);
  if (code === undefined) return error instanceof Error ? error.message : 'unknown';
  const texts: Readonly<Record<string, string>> = {
    '28P01': 'the server refuses the user or the password',
    '28000': 'the server refuses the user, or a connection of this kind',
    '3D000': 'the server has no such database',
    '42501': 'the user may not connect to this database',
    '57P03': 'the server is starting up, or shutting down',
    '53300': 'the server has too many connections',
    ECONNREFUSED: 'nobody listens there',
    ENOTFOUND: 'its host is not known',
    EAI_AGAIN: 'its host could not be looked up',
  };
  const text = texts[code];
  return text === undefined ? code : `${text} (${code})`;
}
