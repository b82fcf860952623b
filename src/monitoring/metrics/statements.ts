/** Measures the statements of a pool, from outside: the pool and its sessions need not know. */
import type { Database } from '../../postgres/database.ts';
import { type Meters, OTHER } from './meters.ts';

type Send = (...args: unknown[]) => unknown;

/** Measures every statement on sessions that the pool lends from now on. */
export function measureStatements(pool: Database, meters: Meters): void {
  const measured = new WeakSet<object>();
  pool.on('acquire', (client) => {
    if (measured.has(client)) return;
    measured.add(client);
    const send = client.query.bind(client) as unknown as Send;
    client.query = ((...args: unknown[]) => measure(send, args, meters)) as unknown as typeof client.query;
  });
}

function measure(send: Send, args: unknown[], meters: Meters): unknown {
  const begunMs = performance.now();
  const name = nameOf(args[0]);
  const end = (error: unknown) => meters.statement(name, performance.now() - begunMs, Boolean(error));
  const answered = args.at(-1);
  if (typeof answered === 'function') {
    return send(...args.slice(0, -1), (error: unknown, result: unknown) => {
      end(error);
      answered(error, result);
    });
  }
  const sent = send(...args);
  if (sent instanceof Promise) {
    sent.then(
      () => end(null),
      (error) => end(error),
    );
  }
  return sent;
}

/** Prepared statements have names, which are constants of the program. */
function nameOf(query: unknown): string {
  const name = typeof query === 'object' && query !== null && 'name' in query ? query.name : undefined;
  return typeof name === 'string' ? name : OTHER;
}
