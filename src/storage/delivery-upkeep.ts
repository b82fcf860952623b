/** What delivery leaves behind, and the upkeep puts right. */
import type { Database } from './database.ts';

const GIVE_UP_LOST = `
  UPDATE messages SET status = 'uncertain', reason = 'no_record', changed_at = now(),
    due_at = now() + $1 * interval '1 millisecond'
  WHERE application_id IN (
    SELECT application_id FROM messages WHERE status = 'sending' AND due_at <= now()
    ORDER BY due_at LIMIT 1000 FOR UPDATE SKIP LOCKED)`;

/**
 * Messages whose sender died between sending and recording become uncertain; an operator may settle them after
 * `settleAfterMs`. How many there were.
 */
export async function findLost(database: Database, settleAfterMs: number): Promise<number> {
  const { rowCount } = await database.query(GIVE_UP_LOST, [settleAfterMs]);
  return rowCount ?? 0;
}

const FORGET_RECIPIENTS = `
  DELETE FROM recipients WHERE phone_index IN (
    SELECT phone_index FROM recipients
    WHERE sent_at < now() - interval '24 hours' AND sent_ms <= elapsed_ms() - 24 * 3600000
    ORDER BY sent_at LIMIT 5000 FOR UPDATE SKIP LOCKED)`;

/** Deletes what no limit needs any more. */
export async function forgetRecipients(database: Database): Promise<void> {
  while ((await database.query(FORGET_RECIPIENTS)).rowCount === 5000);
}

/**
 * Where the database's clock has stepped back: mends the times that were written while it was ahead. True where it
 * has.
 */
export async function mendLeap(database: Database): Promise<boolean> {
  for (;;) {
    const { rows } = await database.query<{ more: boolean | null }>('SELECT mend_leap() AS more');
    const more = rows[0]?.more ?? null;
    if (more === null) return false;
    if (!more) return true;
  }
}
