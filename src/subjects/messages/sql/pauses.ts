/**
 * Pauses of the sender and of templates, which hold messages until an operator resumes them (docs/messages.md,
 * "Pauses"). Reads and writes `sender`, `paused_templates` and the due times of messages.
 */
import type { MessageReason } from '../../../domain/message/reasons.ts';
import type { Database, Session } from '../../../ground/postgres/database.ts';
import { walkWaiting } from './waiting-messages.ts';

const PAUSE_SENDER = `UPDATE sender SET paused_at = now(), paused_reason = $1 WHERE paused_at IS NULL`;
const PAUSE_TEMPLATE = `
  INSERT INTO paused_templates (name, reason) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`;
const RESUME_SENDER = `
  UPDATE sender SET paused_at = NULL, paused_reason = NULL, broken_at = NULL, broken_reason = NULL, failures = 0,
    probes = 0, probe_at = NULL, credit = CASE WHEN broken_at IS NULL THEN credit ELSE 10 END
  WHERE paused_at IS NOT NULL OR broken_at IS NOT NULL`;
const RESUME_TEMPLATE = `DELETE FROM paused_templates WHERE name = $1`;
/** This includes messages of other paused templates; the next turn puts those off again. */
const MAKE_DUE = `
  UPDATE message_records SET due_at = now() WHERE message_id = ANY ($1::bigint[]) AND message_id = ANY (ARRAY(
    SELECT m.message_id FROM message_records m
    WHERE m.message_id = ANY ($1::bigint[])
      AND m.status = 'queued' AND m.reason = 'template_paused' AND m.due_at > now()
    ORDER BY m.message_id FOR NO KEY UPDATE OF m SKIP LOCKED))`;

const PAUSED_AMONG = `
  SELECT name, reason, paused_at AS "pausedAt" FROM paused_templates WHERE name = ANY ($1) ORDER BY name`;

/** Which of these templates are held, since when, and for which code of the channel. */
export async function readPausedAmong(session: Session, names: readonly string[]) {
  const { rows } = await session.query<{ name: string; reason: MessageReason; pausedAt: Date }>(
    PAUSED_AMONG,
    [names],
  );
  return rows;
}

/** Holds all messages until `resumeSender`. Returns false if the sender was already paused. */
export async function pauseSender(session: Session, reason: MessageReason): Promise<boolean> {
  return (await session.query(PAUSE_SENDER, [reason])).rowCount === 1;
}

/** Holds the messages of a template until `resumeTemplate`. Returns false if the template was already paused. */
export async function pauseTemplate(session: Session, name: string, reason: MessageReason): Promise<boolean> {
  return (await session.query(PAUSE_TEMPLATE, [name, reason])).rowCount === 1;
}

/** Lets messages go out again, also after a break of the channel. Returns false if nothing held them. */
export async function resumeSender(database: Database): Promise<boolean> {
  return (await database.query(RESUME_SENDER)).rowCount === 1;
}

/** Lets the template's messages go out from now on. Returns false if the template was not paused. */
export async function resumeTemplate(database: Database, name: string): Promise<boolean> {
  if ((await database.query(RESUME_TEMPLATE, [name])).rowCount === 0) return false;
  for await (const ids of walkWaiting(database, 'queued')) await database.query(MAKE_DUE, [ids]);
  return true;
}
