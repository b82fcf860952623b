/** Whether the channel works, as all workers together found: one row, whose rules stand in `migrations/0006_sender.sql`. */
import type { Session } from '../../storage/database.ts';

/** What answers of the channel changed: `broken` means that only probes go out, `mended` that all may again. */
export type HealthChange = 'broken' | 'mended';

export interface Answers {
  /** How many told something of their message. */
  readonly alive: number;
  /** How many after the last of those told nothing. */
  readonly failing: number;
  /** Why the last of these did not; null where there is none. */
  readonly reason: string | null;
}

/** Takes note of answers; null where they change nothing. */
export async function noteAnswers(
  session: Session,
  { alive, failing, reason }: Answers,
): Promise<HealthChange | null> {
  if (alive === 0 && failing === 0) return null;
  const { rows } = await session.query<{ change: HealthChange | null }>({
    name: 'note_answers',
    text: 'SELECT note_answers($1, $2, $3) AS change',
    values: [alive, failing, reason],
  });
  return rows[0]?.change ?? null;
}

/** Why messages wait for the channel. */
interface ChannelBreak {
  readonly since: Date;
  readonly reason: string;
  /** Messages that were sent since, to see whether it works again. */
  readonly probes: number;
  /** When the next one goes, if there is one to send. */
  readonly nextProbeAt: Date;
}

const BREAK = `
  SELECT broken_at, broken_reason, probes, probe_at FROM sender WHERE broken_at IS NOT NULL`;

/** Null while the channel works. */
export async function readBreak(session: Session): Promise<ChannelBreak | null> {
  const { rows } = await session.query<{
    broken_at: Date;
    broken_reason: string;
    probes: number;
    probe_at: Date;
  }>(BREAK);
  const row = rows[0];
  if (row === undefined) return null;
  return {
    since: row.broken_at,
    reason: row.broken_reason,
    probes: row.probes,
    nextProbeAt: row.probe_at,
  };
}
