/** A database that counts the locks on tables that each statement takes. */
import type pg from 'pg';
import type { Database } from '../../src/ground/postgres/database.ts';

/** By the text of a statement: the most locks that its transaction held after it. */
export type LockCounts = Map<string, number>;

const COUNT = `
  SELECT count(*)::integer AS locks FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation'`;
const ENDS = /^\s*(COMMIT|ROLLBACK|BEGIN|SAVEPOINT)/;

/** The same database. A statement outside a transaction runs in one of its own, so that its locks can be counted. */
export function countingLocks(database: Database, counts: LockCounts): Database {
  const connect = async () => {
    const client = await database.connect();
    const query = async (...given: [string | pg.QueryConfig, unknown[]?]) => {
      const result = await (client.query as (...all: unknown[]) => Promise<pg.QueryResult>)(...given);
      const text = textOf(given[0]);
      if (!ENDS.test(text)) {
        const { locks } = (await client.query(COUNT)).rows[0] as { locks: number };
        counts.set(text, Math.max(locks, counts.get(text) ?? 0));
      }
      return result;
    };
    return over(client, { query });
  };
  const query = async (...given: [string | pg.QueryConfig, unknown[]?]) => {
    const client = await connect();
    let isBroken = true;
    try {
      await client.query('BEGIN');
      const result = await (client.query as (...all: unknown[]) => Promise<pg.QueryResult>)(...given);
      await client.query('COMMIT');
      isBroken = false;
      return result;
    } finally {
      client.release(isBroken);
    }
  };
  return over(database, { connect, query });
}

function over<T extends object>(target: T, members: object): T {
  return new Proxy(target, {
    get: (_, name) => {
      const value = Reflect.get(name in members ? members : target, name);
      return typeof value === 'function' && !(name in members) ? value.bind(target) : value;
    },
  });
}

function textOf(given: string | pg.QueryConfig): string {
  return typeof given === 'string' ? given : given.text;
}
