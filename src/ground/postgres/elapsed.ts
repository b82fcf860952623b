/**
 * Measures the time that has certainly passed while the service ran (D39; ARCHITECTURE, "Clocks"). Rows are deleted for
 * their age only if they are old by this time and by the database's clock, which may leap. Reads `elapsed`, and writes
 * it by `move_elapsed`.
 */
import type { Clock } from '../base/clock.ts';
import type { Database } from './database.ts';

/**
 * A turn adds a minute at most. Rows between two turns get the time of the first turn, so they seem older by the
 * second turn's step; no retention is so tight that a minute matters.
 */
const MOVE = 'SELECT move_elapsed($1, $2) AS ms';
const READ = 'SELECT ms FROM elapsed';

/** One instance for each process that runs the upkeep. */
export class Elapsed {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #seen: { readonly ms: string; readonly atMs: number } | null = null;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /**
   * Moves the stored time on. If the stored time is the one that this process saw last, the process's own stopwatch
   * tells what has passed since; if another process moved it, that process's step counts. The lesser of the stopwatch
   * and the database's clock counts, so a leap of either one does not.
   */
  async advance(database: Database): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
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
    this.#seen = { ms: rows[0]?.ms ?? '0', atMs: this.#clock.monotonicMs() };
  }
}
