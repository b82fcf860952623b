/** Whether a process is ready for requests, as `/readyz` tells. */
import type { Logger } from 'pino';
import type { Database } from '../storage/database.ts';
import { isMigrated } from '../storage/migrations.ts';
import { failureLog } from '../usecases/failure-log.ts';

/**
 * Asks the database. The log says once a minute what is wrong with the schema: the probe's answer has no room for it, and
 * no other work of the process would notice.
 */
export function readiness(database: Database, log: Logger): () => Promise<boolean> {
  const tell = failureLog(log);
  return () => isMigrated(database, (fault) => tell(`not ready: ${fault}`, {}));
}
