/** The end of a run: what waits for a time comes now, and everything under way comes to its end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/ground/postgres/database.ts';

const WITHIN_MS = 10 * 60_000;
const LOOK_MS = 200;

/** What killed processes had in hand. Right only while no process works. */
const END_LEASES = `
  WITH work AS (UPDATE conversation_work SET due_at = now(), leased_until = NULL WHERE leased_until IS NOT NULL),
    messages AS (UPDATE leases SET lost_at = now())
  UPDATE replies SET due_at = now() WHERE status = 'sending'`;

/** Ends the leases of processes that were killed: call it while none of them runs. */
export async function endLeases(database: () => Database): Promise<void> {
  await until(() =>
    looked(() =>
      database()
        .query(END_LEASES)
        .then(() => null),
    ),
  );
}

/** A busy machine refuses a connection now and then: what a look finds, or that it has to be done again. */
function looked(look: () => Promise<string | null>): Promise<string | null> {
  return look().catch((error: Error) => error.message);
}

const IS_BUSY = `
  SELECT EXISTS (SELECT FROM conversation_inputs WHERE application_id = $1 AND turn IS NULL)
    OR EXISTS (SELECT FROM conversation_work WHERE application_id = $1)
    OR EXISTS (SELECT FROM replies WHERE application_id = $1 AND status IN ('queued', 'sending')) AS is_busy`;

/** Whether the service has something to do for an application, or does not say so now. */
export async function isBusy(database: Database, applicationId: number): Promise<boolean> {
  return database.query<{ is_busy: boolean }>(IS_BUSY, [applicationId]).then(
    ({ rows }) => rows[0]?.is_busy === true,
    () => true,
  );
}

const IS_HELD = `
  SELECT FROM conversations WHERE application_id = $1 AND ended_at IS NULL AND held_by = 'operator' LIMIT 1`;

/** Whether an operator holds the conversation of an application, as far as the store says so now. */
export async function isHeld(database: Database, applicationId: number): Promise<boolean> {
  return database.query(IS_HELD, [applicationId]).then(
    ({ rowCount }) => rowCount === 1,
    () => false,
  );
}

const WAITING = `
  SELECT application_id::float8 AS id FROM conversations c
  WHERE waits_since IS NOT NULL AND coalesce(state ->> 'wrongPerson', 'false') = 'false'
  ORDER BY id`;

/** The applications of those who wait for an operator, and may be written to. */
export async function readWaiting(database: Database): Promise<number[]> {
  return (await database.query<{ id: number }>(WAITING)).rows.map(({ id }) => id);
}

const AGE = `
  UPDATE conversations SET heard_at = heard_at - interval '25 hours', due_at = now(), timer = 'template'
  WHERE application_id = ANY ($1::bigint[]) AND ended_at IS NULL`;
const RING = `
  UPDATE conversations SET due_at = now() WHERE application_id = ANY ($1::bigint[]) AND timer = 'expire'`;
const UNREMINDED = `
  SELECT count(*)::integer AS count FROM conversations
  WHERE application_id = ANY ($1::bigint[]) AND ended_at IS NULL AND timer <> 'expire'`;

/** Lets the time of these conversations pass: the template reminds, and then they end. */
export async function letExpire(database: Database, ids: readonly number[]): Promise<void> {
  await database.query(AGE, [ids]);
  await until(async () => ((await countOf(database, UNREMINDED, [ids])) === 0 ? null : 'a template waits'));
  await database.query(RING, [ids]);
}

const OPEN: Readonly<Record<string, string>> = {
  'inputs wait': 'SELECT count(*)::integer AS count FROM conversation_inputs WHERE turn IS NULL',
  'works wait': 'SELECT count(*)::integer AS count FROM conversation_work',
  'replies wait': `SELECT count(*)::integer AS count FROM replies WHERE status IN ('queued', 'sending')`,
  'messages wait': `SELECT count(*)::integer AS count FROM messages WHERE status IN ('queued', 'sending')`,
  'timers ring': 'SELECT count(*)::integer AS count FROM conversations WHERE due_at <= now()',
};
/** Waits that would take longer than the run. */
const HURRY = `UPDATE conversation_work SET due_at = now() WHERE leased_until IS NULL AND due_at > now()`;

/** Waits until nothing is left to do. Throws what is left after ten minutes. */
export function drain(database: () => Database): Promise<void> {
  const look = async () => {
    await database().query(HURRY);
    for (const [what, sql] of Object.entries(OPEN)) {
      const count = await countOf(database(), sql, []);
      if (count > 0) return `${count} ${what}`;
    }
    return null;
  };
  return until(() => looked(look));
}

async function countOf(database: Database, sql: string, values: unknown[]): Promise<number> {
  return (await database.query<{ count: number }>(sql, values)).rows[0]?.count ?? 0;
}

async function until(look: () => Promise<string | null>): Promise<void> {
  const deadline = performance.now() + WITHIN_MS;
  for (let left = await look(); left !== null; left = await look()) {
    if (performance.now() > deadline) throw new Error(`the run does not end: ${left}`);
    await sleep(LOOK_MS);
  }
}
