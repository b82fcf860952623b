/**
 * The time that has certainly passed while the service ran (D39): what is deleted for its age is old by this as
 * well as by the database's clock, which may leap.
 */
import type { Database } from './database.ts';

/**
 * A turn adds a minute at most. What is stored between two turns is given the time of the first, and so seems older than
 * it is by the second's step; no retention is so tight that a minute matters.
 */
const MOVE = 'SELECT move_elapsed($1, $2) AS ms';
const READ = 'SELECT ms FROM elapsed';

/** One for each process that does the upkeep. */
export class Elapsed {
  readonly #monotonicMs: () => number;
  #seen: { readonly ms: string; readonly atMs: number } | null = null;

  constructor(monotonicMs = () => performance.now()) {
    this.#monotonicMs = monotonicMs;
  }

  /**
   * Moves the stored time on. As long as it has stayed what this process saw, what has passed on the process's own
   * stopwatch has passed since; where another process has moved it, that one's step counts. Of the stopwatch and
   * the database's clock the lesser counts, so neither one's leap does.
   */
  async advance(database: Database): Promise<void> {
    const nowMs = this.#monotonicMs();
    const seen = this.#seen;
    this.#seen = null;
    if (seen !== null) {
      const { rows } = await database.query<{ ms: string | null }>(MOVE, [seen.ms, nowMs - seen.atMs]);
      const ms = rows[0]?.ms ?? null;
      if (ms !== null) {
        this.#seen = { ms, atMs: nowMs };
        return;
      }
    }
    const { rows } = await database.query<{ ms: string }>(READ);
    this.#seen = { ms: rows[0]?.ms ?? '0', atMs: this.#monotonicMs() };
  }
}
