/** The replies that wait. */
import { type Database, onlyRow } from '../../../../ground/postgres/database.ts';

/** The replies that wait or are on their way, and since when the oldest of them does; null: none does. */
export interface ReplyBacklog {
  readonly waiting: number;
  readonly since: Date | null;
}

const BACKLOG = `
  SELECT count(*)::integer AS waiting, min(r.created_at) AS since FROM replies r WHERE r.status IN ('queued', 'sending')`;

/** Reads only the replies that wait, however many there are of others. */
export async function readReplyBacklog(database: Database): Promise<ReplyBacklog> {
  return onlyRow((await database.query<ReplyBacklog>(BACKLOG)).rows);
}
