/** Measures the statements of a pool. */
import type { Database } from '../../postgres/database.ts';
import { watchStatements } from '../../postgres/statement-watch.ts';
import { type Meters, OTHER } from './meters.ts';

/** Measures every statement on sessions that the pool lends from now on; those without a name together. */
export function measureStatements(pool: Database, meters: Meters): void {
  watchStatements(pool, ({ name }) => {
    const begunMs = performance.now();
    return (error) => meters.statement(name ?? OTHER, performance.now() - begunMs, error !== null);
  });
}
