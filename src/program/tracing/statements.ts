/** Traces the statements of a pool. Their texts have no values, and are left out because they are long. */
import { context } from '@opentelemetry/api';
import type { Database } from '../../ground/postgres/database.ts';
import { watchStatements } from '../../ground/postgres/statement-watch.ts';
import type { Spans } from './spans.ts';

/** Makes each statement a span, a part of the span that is under way where the statement is sent. */
export function traceStatements(pool: Database, spans: Spans): void {
  keepContext(pool);
  watchStatements(pool, ({ name, verb }) => {
    const span = spans.beginStatement(name ?? verb);
    return (error) => span?.end(error);
  });
}

type Connected = (...args: unknown[]) => void;

/** Who waits for a connection would otherwise go on in the span of the work that gave the connection back. */
function keepContext(pool: Database): void {
  const connect = pool.connect.bind(pool) as (connected?: Connected) => unknown;
  pool.connect = ((connected?: Connected) =>
    connected === undefined
      ? connect()
      : connect(context.bind(context.active(), connected))) as typeof pool.connect;
}
