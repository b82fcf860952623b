/** What a primary waits for: its standby, and what its sessions wait for. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Machine } from './machine.ts';

const FOLLOWS_WITHIN_MS = 120_000;
const POLL_MS = 50;
const IN_STEP = "SELECT FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'";
const WAITS = `
  SELECT format('%s %s: %s', coalesce(wait_event, 'works'), state, count(*)) AS text FROM pg_stat_activity
  WHERE backend_type IN ('client backend', 'walsender') GROUP BY wait_event, state
  UNION ALL SELECT format('standby %s %s', r.state, r.sync_state) FROM pg_stat_replication r`;

/** From now on commits wait for the standby of this name; for none where it is empty. */
export function waitFor(primary: Machine, name: string): Promise<void> {
  return primary.ask(async (client) => {
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
    await client.query('SELECT pg_reload_conf()');
  });
}

/** Resolves when the standby has every commit. */
export async function inStep(primary: Machine): Promise<void> {
  const deadline = performance.now() + FOLLOWS_WITHIN_MS;
  const look = () => primary.ask((client) => client.query(IN_STEP));
  while ((await look()).rowCount !== 1) {
    if (performance.now() > deadline) throw new Error('the standby does not follow the primary');
    await sleep(POLL_MS);
  }
}

/** What the sessions wait for, as a line of text; where the server does not answer, why. */
export function waitsOf(primary: Machine): Promise<string> {
  const look = () => primary.ask((client) => client.query<{ text: string }>(WAITS));
  return look().then(
    ({ rows }) => rows.map(({ text }) => text).join(', '),
    (error: Error) => error.message,
  );
}
