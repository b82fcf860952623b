/**
 * Counts how often somebody tried to sign in, in windows of 15 minutes: rows of `operator_tries`, by the function
 * `count_operator_tries`. `uses/throttle.ts` has the limits.
 */
import { type Database, onlyRow } from '../../../ground/postgres/database.ts';

/** What is counted, with the most tries in 15 minutes. */
export interface Tried {
  /** 16 bytes. */
  readonly name: Buffer;
  readonly most: number;
}

const COUNT = 'SELECT tries, ends_in_seconds FROM count_operator_tries($1, $2)';
const WINDOW = '15 minutes';
/** A window that begins in the future was written while the clock was ahead. */
export const TRY_COUNTS = `since BETWEEN now() - interval '${WINDOW}' AND now() + interval '1 minute'`;
const TAKE_BACK = 'UPDATE operator_tries SET tries = tries - 1 WHERE name = ANY ($1) AND tries > 0';
const CLEAR = 'DELETE FROM operator_tries WHERE name = ANY ($1)';

/** There were too many tries. */
export interface LockedOut {
  /** The seconds after which the next one is allowed. */
  readonly retryAfterSeconds: number;
  /** This is the first one too many. */
  readonly begins: boolean;
}

/**
 * Counts a try before the factors are checked, so that tries at the same moment count too. Null: the try is allowed.
 */
export async function countTry(database: Database, { name, most }: Tried): Promise<LockedOut | null> {
  const { rows } = await database.query<{ tries: number; ends_in_seconds: number }>(COUNT, [[name], WINDOW]);
  const { tries, ends_in_seconds } = onlyRow(rows);
  if (tries <= most) return null;
  return { retryAfterSeconds: Math.max(1, ends_in_seconds), begins: tries === most + 1 };
}

/** Counts one try less: the try led to a sign-in, or nobody checked it. */
export async function takeTryBack(database: Database, names: readonly Buffer[]): Promise<void> {
  await database.query(TAKE_BACK, [names]);
}

/** Forgets tries that led to a sign-in. */
export async function clearTries(database: Database, names: readonly Buffer[]): Promise<void> {
  await database.query(CLEAR, [names]);
}
