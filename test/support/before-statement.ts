/** A database that lets something else happen right before a statement: for what comes between two steps. */
import type { Database } from '../../src/ground/postgres/database.ts';

type Ask = (...args: unknown[]) => Promise<unknown>;

/** `act` runs once, before the first statement with `part` in its text, and the statement waits for it. */
export function beforeStatement(pool: Database, part: string, act: () => Promise<unknown>): Database {
  let isDone = false;
  const watched =
    (ask: Ask): Ask =>
    async (...args) => {
      const [statement] = args;
      const text = typeof statement === 'string' ? statement : (statement as { text: string }).text;
      if (!isDone && text.includes(part)) {
        isDone = true;
        await act();
      }
      return ask(...args);
    };
  const own: Readonly<Record<string | symbol, unknown>> = {
    query: watched(pool.query.bind(pool) as Ask),
    connect: async () => {
      const client = await pool.connect();
      return {
        query: watched(client.query.bind(client) as Ask),
        release: (ended: boolean) => client.release(ended),
      };
    },
  };
  return new Proxy(pool, { get: (target, name) => own[name] ?? Reflect.get(target, name) });
}
