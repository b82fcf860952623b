/**
 * Tells from the code of a failure (SQLSTATE or Node's) whether the store has trouble, which is no fault of the
 * program. Pure. D37 says what follows for a request.
 */
import { errorCode } from '../base/describe-error.ts';
import { ToldError } from '../base/told-error.ts';

type Trouble = 'disk_full' | 'read_only' | 'crowded' | 'short' | 'files' | 'starting' | 'unreached';

/** The meaning of the codes, both SQLSTATEs and Node's. The first pattern that fits decides. */
const CODES: readonly (readonly [trouble: Trouble, codes: RegExp])[] = [
  ['disk_full', /^53100$|^ENOSPC$/],
  ['read_only', /^25006$/],
  ['crowded', /^53300$/],
  ['short', /^53...$/],
  ['files', /^58030$/],
  ['starting', /^57P..$/],
  ['unreached', /^08...$|^E(CONN|PIPE|TIMEDOUT|HOST|NET|NOTFOUND|AI_)/],
];

const SHORT = 'the database is short of memory or connections';
const TEXTS: Readonly<Record<Trouble, string>> = {
  disk_full: 'the disk of the database is full: nothing can be stored until there is room',
  read_only: 'the database is read-only: nothing can be stored until it takes writes again',
  crowded: SHORT,
  short: SHORT,
  files: 'the database cannot read or write its files',
  starting: 'the database is starting or stopping',
  unreached: 'the database cannot be reached',
};

/** The trouble of a server that starts, stops or has no connection left. */
const PASSING: readonly (Trouble | null)[] = ['crowded', 'starting', 'unreached'];

/** The driver's messages without a code, for a server that is gone or silent, and for a session that has ended. */
const UNREACHABLE =
  /^(Connection terminated|timeout exceeded when trying to connect$|timeout expired$|Query read timeout$|.* is not queryable$)/;

/**
 * A password, a database or a right that is wrong, and what ends a single statement: its time limit, a lock, a conflict
 * with another session.
 */
const OF_THE_SERVER = /^(?:28...|3D000|42501|57014|55P03|55006|40...|25P0[34])$/;

/** True for trouble of the server or of the way to it, also if it does not pass by itself. */
export function isServerTrouble(error: unknown): boolean {
  return storeTrouble(error) !== null || OF_THE_SERVER.test(errorCode(error) ?? '');
}

/**
 * A sentence for the log if a failure or its cause is temporary trouble of the store; null for other failures. A
 * `ToldError` already says what is wrong, for example with the disk of a place of backups or documents.
 */
export function storeTrouble(error: unknown): string | null {
  if (!(error instanceof Error) || error instanceof ToldError) return null;
  const trouble = troubleOf(error);
  return trouble === null ? storeTrouble(error.cause) : TEXTS[trouble];
}

/** True if a failure to connect may pass by itself in a moment. */
export function isPassingTrouble(error: unknown): boolean {
  return error instanceof Error && PASSING.includes(troubleOf(error));
}

function troubleOf(error: Error): Trouble | null {
  const code = 'code' in error ? String(error.code) : '';
  if (code === '' && UNREACHABLE.test(error.message)) return 'unreached';
  return CODES.find(([, codes]) => codes.test(code))?.[0] ?? null;
}
