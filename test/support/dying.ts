/** A database whose session ends at a statement, as that of a process which is killed there. */
import type { Database } from '../../src/postgres/database.ts';

/** What a process that died says no more. */
export class Crash extends Error {}
type Ask = (...args: unknown[]) => Promise<unknown>;

/** Where the session of a process ends: at the statement of this number, from 1; `isAfter`: once it took effect. */
export interface Death {
  readonly at: number;
  readonly isAfter: boolean;
}

/** A database whose session ends once. `effective`: whether each statement took effect alone or ended a transaction. */
export class Dying {
  readonly effective: boolean[] = [];
  readonly #death: Death | null;
  #isArmed = false;

  constructor(death: Death | null) {
    this.#death = death;
  }

  /** From now on statements count. */
  arm(): void {
    this.#isArmed = true;
  }

  over(pool: Database): Database {
    const query = this.#watched(pool.query.bind(pool) as Ask, true, () => {});
    const connect = async () => {
      const client = await pool.connect();
      let isOver = false;
      const ask = this.#watched(client.query.bind(client) as Ask, false, () => {
        isOver = true;
      });
      return {
        // Nobody says ROLLBACK for a process that has died: its session ends.
        query: (...args: unknown[]) => (isOver ? Promise.reject(new Crash()) : ask(...args)),
        release: (ended: boolean) => client.release(isOver || ended),
      };
    };
    const own: Readonly<Record<string | symbol, unknown>> = { query, connect };
    return new Proxy(pool, { get: (target, name) => own[name] ?? Reflect.get(target, name) });
  }

  #watched(ask: Ask, isAlone: boolean, end: () => void): Ask {
    return async (...args) => {
      if (!this.#isArmed) return ask(...args);
      this.effective.push(isAlone || args[0] === 'COMMIT');
      const dies = this.effective.length === this.#death?.at;
      if (dies) end();
      if (dies && !this.#death?.isAfter) throw new Crash();
      const result = await ask(...args);
      if (dies) throw new Crash();
      return result;
    };
  }
}
