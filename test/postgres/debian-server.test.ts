/**
 * The service's statements on a server with the settings that Debian's PostgreSQL comes with. PostgreSQL's default
 * `jit = on` made the claim of a message take 700 ms.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { debianServers, skip, startDebianServer } from '../support/debian-server.ts';
import { migratePatiently } from '../support/open-patiently.ts';
import { REPOSITORY } from '../support/sources.ts';

/** Test files that together run every statement about partitions, with many of them, and those of operators. */
const FILES = [
  'test/scale/many-partitions.test.ts',
  'test/monitoring/status.test.ts',
  'test/desk/queue*.test.ts',
];

const COMPILED =
  'SELECT query FROM pg_stat_statements WHERE jit_functions > 0 ORDER BY jit_generation_time DESC';

describe('on a server of Debian with its own settings', { skip }, () => {
  let server: Awaited<ReturnType<typeof startDebianServer>>;
  let admin: pg.Client;

  before(async () => {
    const settings = ['shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.track=all'];
    server = await startDebianServer({ bin: debianServers[0]!, settings });
    admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    await admin.query('CREATE EXTENSION pg_stat_statements');
  });
  after(async () => {
    await admin.end();
    await server.stop();
  });

  it('a plan is compiled that costs much', async () => {
    await admin.query(
      'SET jit_above_cost = 0; SELECT sum(n) FROM generate_series(1, 10) AS n; RESET jit_above_cost',
    );
    assert.deepEqual((await admin.query('SHOW jit')).rows, [{ jit: 'on' }]);
    assert.notEqual((await admin.query(COMPILED)).rowCount, 0);
  });

  it('tests of the store pass, and no plan of the service is compiled', async () => {
    await admin.query('SELECT pg_stat_statements_reset()');
    const child = spawn(process.execPath, [join(REPOSITORY, 'test/run/main.ts'), ...FILES], {
      cwd: REPOSITORY,
      // The runner within a test would run nothing.
      env: { ...process.env, TEST_DATABASE_URL: server.url, NODE_TEST_CONTEXT: undefined },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let told = '';
    child.stdout.on('data', (text) => (told += text));
    const [code] = await once(child, 'exit');
    assert.equal(code, 0, told);
    assert.deepEqual((await admin.query(COMPILED)).rows, []);
  });

  it("the claim of messages compiles no plan in a session that is not the service's own, as behind a pooler", async () => {
    await admin.query('CREATE DATABASE pooled');
    const url = server.url.replace(/postgres$/, 'pooled');
    await migratePatiently(url);
    await admin.query('SELECT pg_stat_statements_reset()');
    const pooled = new pg.Client({ connectionString: url });
    await pooled.connect();
    assert.deepEqual((await pooled.query('SHOW jit')).rows, [{ jit: 'on' }]);
    await pooled.query('SELECT partners_in_turn(0, 10, true)');
    await pooled.query('SELECT * FROM claim_due(100, NULL, gen_random_uuid())');
    await pooled.end();
    assert.deepEqual((await admin.query(COMPILED)).rows, []);
  });
});
