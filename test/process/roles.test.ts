/** The embedded store over its life: the service connects as a role that is no superuser, and migrates as the owner. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { SERVICE_ROLE } from '../../src/ground/embedded/join.ts';
import { anApplication } from '../support/service.ts';
import {
  demoKeyOf,
  newDataDir,
  query,
  type ServiceProcess,
  startService,
  submit,
  until,
  ventanillaJson,
} from './support.ts';

/** The roles of all other sessions. */
const SESSIONS = `SELECT DISTINCT usename::text AS role FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY 1`;

async function registersOne(service: ServiceProcess, apiKey: string): Promise<void> {
  const { status, body } = await submit(service, apiKey, [anApplication()]);
  assert.deepEqual([status, body.processed], [200, 1]);
}

/** A session as the service has it. */
async function asService(dataDir: string): Promise<pg.Client> {
  const [{ port }] = await query(dataDir, "SELECT current_setting('port')::integer AS port");
  const password = readFileSync(join(dataDir, 'postgres.service-password'), 'utf8').trim();
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: SERVICE_ROLE,
    password,
    database: 'ventanilla',
  });
  await client.connect();
  return client;
}

test('the service is never the superuser: first start, commands, restart', async () => {
  const dataDir = newDataDir();
  const first = await startService(dataDir);
  const apiKey = demoKeyOf(first);
  await registersOne(first, apiKey);
  await ventanillaJson(dataDir, 'partner', 'add', '--name', 'Another', '--country', 'CO');
  assert.deepEqual(await query(dataDir, SESSIONS), [{ role: SERVICE_ROLE }]);

  const session = await asService(dataDir);
  for (const sql of [
    "UPDATE operator_events SET actor = 'x'",
    'DELETE FROM operator_events',
    'TRUNCATE operator_events',
    'CREATE TABLE mine ()',
    'DROP TABLE outbox',
  ]) {
    await assert.rejects(session.query(sql), { code: '42501' }, sql);
  }
  await session.end();
  // A job that lacks a right fails in each turn; one that had no session in time on a busy machine works in the next.
  const jobs = `SELECT count(succeeded_at)::integer AS done,
    count(*) FILTER (WHERE failed_at > coalesce(succeeded_at, '-infinity'))::integer AS failing FROM upkeep_jobs`;
  await until('a turn of the upkeep in which no job fails', async () => {
    const [{ done, failing }] = await query(dataDir, jobs);
    return done > 5 && failing === 0;
  });
  await first.stop();

  const second = await startService(dataDir);
  await registersOne(second, apiKey);
  assert.deepEqual(await query(dataDir, SESSIONS), [{ role: SERVICE_ROLE }]);
  await second.stop();
});

test('a store that knows the superuser alone is brought up to date by a start', async () => {
  const dataDir = newDataDir();
  const first = await startService(dataDir);
  const apiKey = demoKeyOf(first);
  await registersOne(first, apiKey);
  await query(dataDir, `DROP OWNED BY ${SERVICE_ROLE}; DROP ROLE ${SERVICE_ROLE}`);
  await first.kill();
  rmSync(join(dataDir, 'postgres.service-password'));

  const second = await startService(dataDir);
  await registersOne(second, apiKey);
  assert.deepEqual(await query(dataDir, SESSIONS), [{ role: SERVICE_ROLE }]);
  await second.stop();
});
