/** PgBouncer before the database: in session mode, and in transaction mode from 1.24 on (D15, D37). */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import pg from 'pg';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import { type OpenStore, openStore } from '../../src/app/open-store.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { SetupError } from '../../src/ground/postgres/setup-error.ts';
import { migrate } from '../../src/ground/schema/migrations.ts';
import { countOfStatus } from '../../src/subjects/messages/sql/message-counts.ts';
import { TEST_VARIABLES, testDatabase } from '../support/database.ts';
import { eventually, readyAt } from '../support/eventually.ts';
import { openWithLimits } from '../support/open-patiently.ts';
import { bringsStatements, pooledUrl, skip } from '../support/pgbouncer.ts';
import { addPartner, anApplication, postUntilServed } from '../support/service.ts';
import { startPatiently } from '../support/start-patiently.ts';

const direct = await testDatabase();

function configOf(databaseUrl: string) {
  return {
    ...readConfig({
      DATABASE_URL: databaseUrl,
      CHANNEL: 'log',
      ...TEST_VARIABLES,
      MESSAGES_PER_SECOND: 'none',
      LOG_LEVEL: 'silent',
    }),
    port: 0,
    opsPort: 0,
  };
}

function open(databaseUrl: string): Promise<OpenStore> {
  const { signal } = new AbortController();
  const nobody = { notice() {}, lost() {}, onError() {} };
  return openStore(configOf(databaseUrl), {
    clock: machineClock,
    kind: 'service',
    makes: 'store',
    signal,
    ...nobody,
  });
}

/** Without the service's time limit, because a busy machine needs long for a database. */
async function administer(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: direct.ownerUrl });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

/** Registers batches and delivers their messages, on more connections than the pooler has sessions. */
async function works(t: TestContext, databaseUrl: string): Promise<void> {
  const store = await open(databaseUrl);
  const service = await startPatiently(configOf(databaseUrl), store, pino({ level: 'silent' }));
  t.after(async () => {
    await service.stop();
    await store.close();
  });
  const { apiKey } = await addPartner(direct, { country: 'MX', dailyCap: 1_000 });
  const count = 60;
  const answers = await Promise.all(
    Array.from({ length: count }, () => {
      const applicant = anApplication({ currency: 'MXN', income: 25_000, debt_amount: 22_000 });
      const phone = String(applicant.phone).replace('+57', '+52');
      return postUntilServed(`${service.url}/PRO`, apiKey, { applications: [{ ...applicant, phone }] });
    }),
  );
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  const counts = answers.map(({ body }) => (body as { processed: number }).processed);
  assert.deepEqual([...new Set(counts)], [1]);
  const { rows } = await direct.database.query('SELECT count(*)::integer AS n FROM applications');
  assert.ok(rows[0].n >= count);
  await eventually('the messages to go', async () => (await countOfStatus(direct.database, 'queued')) === 0);
  await readyAt(service.opsUrl);
  // Another start beside this one finds nothing to do.
  await (await open(databaseUrl)).close();
}

describe('D15, D37: PgBouncer', { skip, concurrency: false }, () => {
  it('D15: the service works in session mode', async (t) => {
    await works(t, await pooledUrl(t, direct.url, 'session'));
  });

  it('D15: the service works in transaction mode, or says what is missing', async (t) => {
    const url = await pooledUrl(t, direct.url, 'transaction');
    if (bringsStatements) return works(t, url);
    const told = (error: unknown) =>
      error instanceof SetupError && /PgBouncer 1\.21.*pool_mode = session/.test(error.message);
    await assert.rejects(open(url), told);
    await assert.rejects(open(url), told, 'the next start finds what the first one found');
  });

  for (const mode of ['session', 'transaction'] as const) {
    it(`D15: migrations of a new database go through it: ${mode} mode`, async (t) => {
      const address = new URL(direct.ownerUrl);
      address.pathname = `/${address.pathname.slice(1)}_${mode}`;
      const name = address.pathname.slice(1);
      await administer(`CREATE DATABASE ${name} TEMPLATE template0`);
      const url = await pooledUrl(t, address.href, mode);
      const databases = [1, 2].map(() => openWithLimits(url, 1));
      t.after(async () => {
        await Promise.all(databases.map((database) => database.end()));
        await administer(`DROP DATABASE ${name} WITH (FORCE)`);
      });
      const applied = await Promise.all(databases.map((database) => migrate(database, machineClock)));
      assert.equal(applied.flat().length, new Set(applied.flat()).size);
      assert.ok(applied.flat().length > 0);
      assert.deepEqual(await migrate(databases[0] as Database, machineClock), []);
    });

    it(`D37: a statement that is given up is cancelled through it: ${mode} mode`, async (t) => {
      const url = await pooledUrl(t, direct.url, mode);
      const database = openWithLimits(url, 2);
      t.after(() => database.end());
      await assert.rejects(database.query('SELECT pg_sleep(600)'), /timeout/);
      await eventually('the end of the statement', async () => {
        const { rows } = await direct.database.query(
          "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_sleep(600)%' AND state = 'active' AND pid <> pg_backend_pid()",
        );
        return rows.length === 0;
      });
    });
  }
});
