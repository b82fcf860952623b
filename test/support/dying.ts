/** A database whose sessions end at a statement, as those of a process that is killed there. */
import type { Database } from '../../src/ground/postgres/database.ts';

/** What a process that died says no more. */
export class Crash extends Error {}
type Ask = (...args: unknown[]) => Promise<unknown>;

/** A statement of a process; `at`: its number, from 1. `isEffective`: it takes effect alone or ends a transaction. */
export interface Statement {
  readonly at: number;
  readonly text: string;
  readonly isEffective: boolean;
}

/** Where the process dies: at the statement of this number; `isAfter`: once it took effect. */
export interface Death {
  readonly at: number;
  readonly isAfter: boolean;
}

/** Whether the process dies before or after a statement; null: neither. */
export type Dies = (statement: Statement) => 'before' | 'after' | null;

/** The database of one process, which says nothing more once it has died. */
export class Dying {
  /** Of each statement, whether it took effect alone or ended a transaction. */
  readonly effective: boolean[] = [];
  readonly #dies: Dies;
  #isArmed = false;
  #isDead = false;

  constructor(death: Death | Dies | null) {
    this.#dies =
      typeof death === 'function'
        ? death
        : ({ at }) => (at === death?.at ? (death.isAfter ? 'after' : 'before') : null);
  }

  /** From now on statements count. */
  arm(): void {
    this.#isArmed = true;
  }

  over(pool: Database): Database {
    const query = this.#watched(pool.query.bind(pool) as Ask, true);
    const connect = async () => {
      const client = await pool.connect();
      return {
        // Nobody says ROLLBACK for a process that has died: its session ends.
        query: this.#watched(client.query.bind(client) as Ask, false),
        release: (ended: boolean) => client.release(this.#isDead || ended),
      };
    };
    const own: Readonly<Record<string | symbol, unknown>> = { query, connect };
    return new Proxy(pool, { get: (target, name) => own[name] ?? Reflect.get(target, name) });
  }

  #watched(ask: Ask, isAlone: boolean): Ask {
    return async (...args) => {
      if (this.#isDead) throw new Crash();
      if (!this.#isArmed) return ask(...args);
      const text = textOf(args[0]);
      const isEffective = isAlone || text === 'COMMIT';
      this.effective.push(isEffective);
      const death = this.#dies({ at: this.effective.length, text, isEffective });
      this.#isDead ||= death !== null;
      if (death === 'before') throw new Crash();
      const result = await ask(...args);
      if (this.#isDead) throw new Crash();
      return result;
    };
  }
}

function textOf(statement: unknown): string {
  return typeof statement === 'string' ? statement : (statement as { text: string }).text;
}
