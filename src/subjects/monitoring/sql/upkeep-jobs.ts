/**
 * Records the runs of the upkeep's jobs, and the flow of messages (docs/monitoring.md). Writes `upkeep_jobs` and
 * `message_count_hours` by the functions of `sql/functions/monitoring/watched.sql`.
 */
import type { Database } from '../../../ground/postgres/database.ts';
import type { JobEnd } from '../../../program/subject/watcher.ts';

const NOTE = 'SELECT note_upkeep($1, $2, $3, $4)';

/** Records how jobs of a turn ended. Any number of processes may do this at once. */
export async function noteUpkeep(database: Database, ends: readonly JobEnd[]): Promise<void> {
  await database.query(NOTE, [
    ends.map(({ name }) => name),
    ends.map(({ tookMs }) => Math.round(tookMs)),
    ends.map(({ succeeded }) => succeeded),
    ends.map(({ why }) => why),
  ]);
}

/** Remembers the number of messages of each status, once an hour. Any number of processes may do this at once. */
export async function rememberMessageCounts(database: Database): Promise<void> {
  await database.query('SELECT remember_message_counts()');
}
