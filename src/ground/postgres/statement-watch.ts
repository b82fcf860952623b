/**
 * Watches the statements of a pool for traces and metrics; the pool and its sessions do not know about it. Wraps
 * sessions in memory. docs/tracing.md and docs/monitoring.md say what is shown.
 */
import type { Database } from './database.ts';

/** What a statement is called. */
interface StatementName {
  /** The name of a prepared statement, a constant of the program; null without one. */
  readonly name: string | null;
  /** The first word, such as SELECT. */
  readonly verb: string;
}

type Send = (...args: unknown[]) => unknown;
/** Called before a statement is sent. What it returns is called at the end, with the error or null. */
type Begin = (statement: StatementName) => (error: unknown) => void;

/** Watches every statement on sessions that the pool lends from now on. */
export function watchStatements(pool: Database, begin: Begin): void {
  const watched = new WeakSet<object>();
  pool.on('acquire', (client) => {
    if (watched.has(client)) return;
    watched.add(client);
    const send = client.query.bind(client) as unknown as Send;
    client.query = ((...args: unknown[]) => watch(send, args, begin)) as unknown as typeof client.query;
  });
}

function watch(send: Send, args: unknown[], begin: Begin): unknown {
  const end = begin(nameOf(args[0]));
  const answered = args.at(-1);
  if (typeof answered === 'function') {
    return send(...args.slice(0, -1), (error: unknown, result: unknown) => {
      end(error ?? null);
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

function nameOf(query: unknown): StatementName {
  const { name, text } = (typeof query === 'object' && query !== null ? query : { text: query }) as {
    readonly name?: unknown;
    readonly text?: unknown;
  };
  return {
    name: typeof name === 'string' ? name : null,
    get verb() {
      return (typeof text === 'string' && /^\s*([A-Za-z]+)/.exec(text)?.[1]?.toUpperCase()) || 'statement';
    },
  };
}
