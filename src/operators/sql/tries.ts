/** How often somebody tried to sign in. */
import type { Database } from '../../postgres/database.ts';

/** What is counted together, with the most tries in 15 minutes. */
export interface Tried {
  /** 16 bytes. */
  readonly name: Buffer;
  readonly most: number;
}

const COUNT = 'SELECT name, tries, ends_in_seconds FROM count_operator_tries($1, $2)';
const WINDOW = '15 minutes';
const AT_ONCE = 5_000;
const FORGET = `
  DELETE FROM operator_tries WHERE name = ANY (ARRAY(
    SELECT t.name FROM operator_tries t
    WHERE t.since NOT BETWEEN now() - interval '${WINDOW}' AND now() + interval '1 minute'
    LIMIT ${AT_ONCE} FOR UPDATE SKIP LOCKED))`;
const CLEAR = 'DELETE FROM operator_tries WHERE name = ANY ($1)';

/**
 * Counts a try before the factors are looked at, so that tries at the same moment count too. Returns the seconds after
 * which the next one is allowed; null: this one is.
 */
export async function countTry(database: Database, tried: readonly Tried[]): Promise<number | null> {
  const { rows } = await database.query<{ name: Buffer; tries: number; ends_in_seconds: number }>(COUNT, [
    tried.map(({ name }) => name),
    WINDOW,
  ]);
  const over = rows.filter(({ name, tries }) =>
    tried.some((one) => one.name.equals(name) && tries > one.most),
  );
  return over.length === 0 ? null : Math.max(1, ...over.map(({ ends_in_seconds }) => ends_in_seconds));
}

/** Forgets tries that led to a sign-in. */
export async function clearTries(database: Database, names: readonly Buffer[]): Promise<void> {
  await database.query(CLEAR, [names]);
}

/** Deletes the counts whose window is over. Returns their number. */
export async function forgetTries(database: Database): Promise<number> {
  for (let forgotten = 0; ; ) {
    const { rowCount } = await database.query(FORGET);
    forgotten += rowCount ?? 0;
    if ((rowCount ?? 0) < AT_ONCE) return forgotten;
  }
}
