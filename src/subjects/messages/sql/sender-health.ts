/**
 * Whether the channel works, as all workers together have found: the one row of `sender`, whose rules are in
 * `sql/functions/messages/sender.sql` (docs/messages.md, "When the channel fails").
 */

import type { MessageReason } from '../../../domain/message/reasons.ts';
import type { Database } from '../../../ground/postgres/database.ts';

/**
 * What the channel's answers changed. `broken`: from now on only probes go out. `mended`: all messages may go out
 * again.
 */
export type HealthChange = 'broken' | 'mended';

export interface Answers {
  /** How many answers said something about their message. */
  readonly alive: number;
  /** How many sends after the last such answer had none. */
  readonly failing: number;
  /** Why the last of the failing sends failed; null: there is none. */
  readonly reason: MessageReason | null;
}

/** Counts answers. Returns the change; null: they change nothing. */
export async function noteAnswers(
  database: Database,
  { alive, failing, reason }: Answers,
): Promise<HealthChange | null> {
  if (alive === 0 && failing === 0) return null;
  const { rows } = await database.query<{ change: HealthChange | null }>({
    name: 'note_answers',
    text: 'SELECT note_answers($1, $2, $3) AS change',
    values: [alive, failing, reason],
  });
  return rows[0]?.change ?? null;
}

/** The break of a channel that fails. */
interface ChannelBreak {
  readonly since: Date;
  readonly reason: MessageReason;
  /** How many messages were sent since then, to try the channel. */
  readonly probes: number;
  /** When the next probe goes out, if a message is due. */
  readonly nextProbeAt: Date;
}

const BREAK = `
  SELECT broken_at AS since, broken_reason AS reason, probes, probe_at AS "nextProbeAt" FROM sender
  WHERE broken_at IS NOT NULL`;

/** The break; null: the channel works. */
export async function readBreak(database: Database): Promise<ChannelBreak | null> {
  return (await database.query<ChannelBreak>(BREAK)).rows[0] ?? null;
}
