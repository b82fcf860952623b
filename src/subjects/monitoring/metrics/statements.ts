/** Measures the statements of a pool (docs/monitoring.md, "/metrics"). Wraps the pool's sessions in memory. */
import type { Clock } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { watchStatements } from '../../../ground/postgres/statement-watch.ts';
import { type Meters, OTHER } from './meters.ts';

/**
 * Measures every statement on sessions that the pool lends from now on. Statements without a name are counted together.
 */
export function measureStatements(pool: Database, meters: Meters, clock: Clock): void {
  watchStatements(pool, ({ name }) => {
    const begunMs = clock.monotonicMs();
    return (error) => meters.statement(name ?? OTHER, clock.monotonicMs() - begunMs, error !== null);
  });
}
