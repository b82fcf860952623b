/** Counts the replies that wait, for `status` and the metrics. Reads `replies`. */
import { type Database, onlyRow } from '../../../../ground/postgres/database.ts';

/** How many replies wait or are on their way, and since when the oldest of them does; null: there are none. */
export interface ReplyBacklog {
  readonly waiting: number;
  readonly since: Date | null;
}

const BACKLOG = `
  SELECT count(*)::integer AS waiting, min(r.created_at) AS since FROM replies r WHERE r.status IN ('queued', 'sending')`;

/** Reads the backlog. It reads only the waiting replies, however many others there are. */
export async function readReplyBacklog(database: Database): Promise<ReplyBacklog> {
  return onlyRow((await database.query<ReplyBacklog>(BACKLOG)).rows);
}
