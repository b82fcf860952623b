/** Measures the statements of a pool. */
import type { Clock } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { watchStatements } from '../../../ground/postgres/statement-watch.ts';
import { type Meters, OTHER } from './meters.ts';

/** Measures every statement on sessions that the pool lends from now on; those without a name together. */
export function measureStatements(pool: Database, meters: Meters, clock: Clock): void {
  watchStatements(pool, ({ name }) => {
    const begunMs = clock.monotonicMs();
    return (error) => meters.statement(name ?? OTHER, clock.monotonicMs() - begunMs, error !== null);
  });
}
