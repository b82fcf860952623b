/** Many messages from registration to their end, and the count of their ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { MessageStatus } from '../../src/domain/message/notify.ts';
import { parseCallback } from '../../src/domain/message/outgoing-message.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { readPauses } from '../../src/subjects/messages/sql/messages.ts';
import { resumeSender, resumeTemplate } from '../../src/subjects/messages/sql/pauses.ts';
import type { ChannelFaults } from './channel-faults.ts';
import { anApplication, postUntilServed } from './service.ts';
import type { WhatsAppApi } from './whatsapp-api.ts';

const BATCH = 100;
const LOOK_EVERY_MS = 50;

/**
 * Registers `count` applicants with consent, of a country whose window is always open; gives their ids. `url` ends
 * before /PRO.
 */
export async function registerApplicants(url: string, apiKey: string, count: number): Promise<number[]> {
  const ids: number[] = [];
  while (ids.length < count) {
    const applications = Array.from({ length: Math.min(BATCH, count - ids.length) }, () => {
      const application = anApplication();
      return { ...application, phone: (application.phone as string).replace('+57', '+52') };
    });
    const { status, body } = await postUntilServed(`${url}/PRO`, apiKey, { applications });
    const { results = [] } = body as { results?: { id: number }[] };
    if (results.length !== applications.length) throw new Error(`a batch was answered with ${status}`);
    ids.push(...results.map(({ id }) => id));
  }
  return ids;
}

/**
 * Makes waiting messages due at once, and the last message to their phones old; leaves rows alone that another
 * session holds.
 */
const HURRY = `
  WITH waiting AS (
    SELECT message_id FROM message_records WHERE status = 'queued' AND due_at > now()
    FOR NO KEY UPDATE SKIP LOCKED
  ), due AS (
    UPDATE message_records SET due_at = now() WHERE message_id IN (SELECT message_id FROM waiting)
  ), known AS (
    SELECT phone_index FROM recipients WHERE phone_index IN (
      SELECT a.phone_index FROM applications a JOIN waiting w ON application_of_message(w.message_id) = a.id)
    FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE recipients SET sent_at = now() - interval '1 hour'
  WHERE phone_index IN (SELECT phone_index FROM known)`;
/** A failing channel is tried at once. */
const PROBE = 'UPDATE sender SET probe_at = now() WHERE broken_at IS NOT NULL';

const OPEN = `SELECT count(*)::integer AS open FROM messages WHERE status IN ('queued', 'sending')`;

/** Lets time pass quickly, and resumes all pauses as an operator would. */
export async function hurry(database: Database): Promise<void> {
  await resumeAll(database);
  await database.query(PROBE);
  await database.query(HURRY);
}

/** Hurries and delivers events, until no message is open and no event is left. Throws after `limitMs`. */
export async function runToEnd(
  database: Database,
  faults: ChannelFaults,
  limitMs: number,
  onProgress: (open: number) => void = () => {},
): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const open = await openMessages(database);
    onProgress(open);
    // A late event may open a message again.
    const delivered = await faults.deliver({ late: open === 0 });
    if (open === 0 && delivered === 0 && (await openMessages(database)) === 0) return;
    if (performance.now() > deadline) throw new Error(`${open} messages are open after ${limitMs} ms`);
    await hurry(database);
    await sleep(LOOK_EVERY_MS);
  }
}

async function openMessages(database: Database): Promise<number> {
  return (await database.query<{ open: number }>(OPEN)).rows[0]?.open ?? 0;
}

async function resumeAll(database: Database): Promise<void> {
  for (const { what } of await readPauses(database)) {
    await (what === 'sender' ? resumeSender(database) : resumeTemplate(database, what));
  }
}

export interface Tally {
  readonly states: Readonly<Partial<Record<MessageStatus, number>>>;
  /** How many messages the channel accepted this many times and did not report as failed. */
  readonly sends: Readonly<Record<number, number>>;
  /** One line for each application that is lost, got its message twice, or ended without a reason. */
  readonly wrong: readonly string[];
}

const MESSAGES = 'SELECT application_id, status, reason FROM messages';
const SENT: readonly MessageStatus[] = ['accepted', 'sent', 'delivered', 'read'];

/**
 * Compares the end of each application's message with what the channel accepted: sent exactly once; failed and not
 * sent; or uncertain and sent at most once; the latter two with a reason.
 */
export async function tally(
  database: Database,
  applicationIds: readonly number[],
  apis: readonly WhatsAppApi[],
  failed: ReadonlySet<string>,
): Promise<Tally> {
  const sendsOf = new Map<number, number>(applicationIds.map((id) => [id, 0]));
  for (const [callback, messages] of apis.flatMap(({ accepted }) => [...accepted])) {
    const id = Number(parseCallback(callback)?.messageId ?? 0);
    const reached = failed.has(callback) ? messages.length - 1 : messages.length;
    sendsOf.set(id, (sendsOf.get(id) ?? 0) + reached);
  }
  const { rows } = await database.query<{
    application_id: string;
    status: MessageStatus;
    reason: string | null;
  }>(MESSAGES);
  const ends = new Map(rows.map((row) => [Number(row.application_id), row]));
  const states: Partial<Record<MessageStatus, number>> = {};
  const sends: Record<number, number> = {};
  const wrong: string[] = [];
  for (const [id, count] of sendsOf) {
    sends[count] = (sends[count] ?? 0) + 1;
    const { status = 'queued', reason = null } = ends.get(id) ?? {};
    states[status] = (states[status] ?? 0) + 1;
    if (!isRight(status, reason, count))
      wrong.push(`application ${id}: ${status} (${reason}), sent ${count}`);
  }
  return { states, sends, wrong };
}

function isRight(status: MessageStatus, reason: string | null, sends: number): boolean {
  if (SENT.includes(status)) return sends === 1;
  if (status === 'failed') return sends === 0 && reason !== null;
  return status === 'uncertain' && sends <= 1 && reason !== null;
}
