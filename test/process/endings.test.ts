/**
 * The process ends within 8 s of SIGTERM with any part hanging, also during its start, and tells why it does not
 * start.
 */
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { GONE_WITHIN_MS } from '../../src/app/lifetime.ts';
import { TEST_SECRETS, testDatabase } from '../support/database.ts';
import { registerApplicants } from '../support/delivery-run.ts';
import { PATIENCE_MS, SLACK_MS } from '../support/eventually.ts';
import { Middleman } from '../support/middleman.ts';
import { anApplication, testService } from '../support/service.ts';
import { startWhatsAppApi } from '../support/whatsapp-api.ts';
import {
  beginSubmit,
  demoKeyOf,
  emptyDataDir,
  isAlive,
  killHard,
  newDataDir,
  npmStart,
  postgresLog,
  postmasterPid,
  type Running,
  run,
  scratch,
  startService,
  submit,
  submitOnce,
  until,
  type Variables,
} from './support.ts';

const bounded = { timeout: PATIENCE_MS };

const service = await testService();
const { databaseUrl: url } = service;
const { apiKey } = await service.addPartner();

const SECRETS = {
  DATA_KEYS: [...TEST_SECRETS.dataKeys].map(([id, key]) => `${id}:${key.toString('base64')}`).join(','),
  INDEX_KEY: TEST_SECRETS.indexKey.toString('base64'),
  API_KEY_PEPPER: TEST_SECRETS.apiKeyPepper.toString('base64'),
};

/** Starts `ventanilla serve` or `worker` on the operator's own PostgreSQL, without npm. */
function start(role: 'serve' | 'worker', variables: Variables): Running {
  return run(process.execPath, ['src/main.ts', role], {
    PORT: '0',
    OPS_PORT: '0',
    CHANNEL: 'log',
    DELIVERY: 'on',
    CONTACT_WINDOWS_FILE: '',
    MESSAGES_PER_SECOND: 'none',
    ...SECRETS,
    DATABASE_URL: url,
    ...variables,
  });
}

async function urlOf(running: Running): Promise<string> {
  return until('the service to be ready', () => /Partner API\s+(\S+)\/PRO/.exec(running.out)?.[1]);
}

/**
 * Sends SIGTERM. Resolves to the exit code. The parts that hang here hang for ever, so a process without limits of its
 * own never ends. The length of the limit is measured apart, because a busy machine may be late.
 */
async function endOf(running: Running): Promise<number | null> {
  process.kill(running.pid, 'SIGTERM');
  return (await running.exit).code;
}

async function middleman(): Promise<{ proxy: Middleman; url: string }> {
  const address = new URL(url);
  const proxy = new Middleman({ host: address.hostname, port: Number(address.port) });
  await proxy.start();
  after(() => proxy.stop());
  address.hostname = '127.0.0.1';
  address.port = String(proxy.port);
  return { proxy, url: address.href };
}

const HANGS = `
  import pino from 'pino';
  import { runUntilStopped } from './src/app/lifetime.ts';
  import { machineClock } from './src/ground/base/clock.ts';
  setInterval(() => {}, 1_000);
  const start = async () => {
    process.stdout.write('runs');
    return () => new Promise(() => {});
  };
  await runUntilStopped(pino(), machineClock, start, 1_000);`;

test('the process ends in its time where the stop hangs, and says so', bounded, async () => {
  const running = run(process.execPath, ['--input-type=module-typescript', '-e', HANGS], {});
  await until('it to run', () => running.out.includes('runs'));
  const start = performance.now();
  assert.equal(await endOf(running), 1);
  assert.ok(performance.now() - start < 1_000 + SLACK_MS);
  assert.match(running.out, /did not stop in time/);
  // docs/operations.md promises 8 s, because containers are killed after 10 s.
  assert.ok(GONE_WITHIN_MS < 8_000);
});

describe('the process ends after SIGTERM', { concurrency: 2 }, () => {
  test('serve with a database that hangs, requests under way and endless ones', bounded, async () => {
    const { proxy, url } = await middleman();
    const running = start('serve', { DATABASE_URL: url });
    const base = await urlOf(running);
    proxy.blackHole = true;
    const answer = submitOnce({ url: base }, apiKey, [anApplication()]).catch(() => null);
    const stuck = await beginSubmit({ url: base }, apiKey, [anApplication()]).catch(() => null);
    assert.ok([0, 1].includes((await endOf(running)) as number));
    // There is no answer (D15), or the answer says that nothing was stored (D37).
    assert.ok([undefined, 500].includes((await answer)?.status));
    await stuck?.finish().catch(() => {});
  });

  test('worker with a database that hangs', bounded, async () => {
    const { proxy, url } = await middleman();
    const running = start('worker', { DATABASE_URL: url });
    await until('the worker to work', () => running.out.includes('worker started'));
    proxy.blackHole = true;
    await endOf(running);
  });

  test('with a channel that never answers; its messages become uncertain', bounded, async () => {
    const api = await startWhatsAppApi();
    after(() => api.close());
    api.fault = () => ({ accept: true, answer: 'never' });
    // Its own service, so that no other test's service delivers the messages.
    const own = await testService();
    const partner = await own.addPartner();
    const ids = await registerApplicants(own.url, partner.apiKey, 3);
    const running = start('worker', { ...api.environment, DATABASE_URL: own.databaseUrl });
    await until('sends under way', () => api.accepted.size === ids.length);
    assert.equal(await endOf(running), 0);
    const { rows } = await own.database.query('SELECT status FROM messages WHERE application_id = ANY ($1)', [
      ids,
    ]);
    assert.deepEqual(
      rows,
      ids.map(() => ({ status: 'uncertain' })),
    );
  });

  test('serve with a PostgreSQL that does not stop; the log says so', bounded, async () => {
    const dataDir = newDataDir();
    const running = await startService(dataDir);
    const postmaster = postmasterPid(dataDir) as number;
    process.kill(postmaster, 'SIGSTOP');
    try {
      const { code, out } = await running.stop();
      assert.equal(code, 1);
      assert.match(out, /"step":"store".*did not stop cleanly/);
    } finally {
      process.kill(postmaster, 'SIGCONT');
    }
  });

  test('a second SIGTERM, later than npm’s, ends the process at once', bounded, async () => {
    const running = start('serve', {});
    const base = await urlOf(running);
    const stuck = await beginSubmit({ url: base }, apiKey, [anApplication()]);
    process.kill(running.pid, 'SIGTERM');
    await until('it to stop', () => running.out.includes('"stopping"'));
    await sleep(1_200);
    process.kill(running.pid, 'SIGTERM');
    assert.equal((await running.exit).code, 1);
    await assert.rejects(stuck.finish());
  });
});

test('D33: nothing is sent while the requests under way are answered', bounded, async () => {
  const api = await startWhatsAppApi();
  after(() => api.close());
  const own = await testService();
  const partner = await own.addPartner();
  const many = await registerApplicants(own.url, partner.apiKey, 100);
  const variables = { ...api.environment, DATABASE_URL: own.databaseUrl, MESSAGES_PER_SECOND: '10' };
  const running = start('serve', variables);
  const base = await urlOf(running);
  await until('messages to go', () => api.accepted.size >= 5);
  const slow = await beginSubmit({ url: base }, partner.apiKey, [anApplication()]);
  process.kill(running.pid, 'SIGTERM');
  await until('new connections to be refused', () => refuses(base));
  await until('what was being sent to be out', async () => {
    const { rows } = await own.database.query("SELECT FROM messages WHERE status = 'sending'");
    return rows.length === 0;
  });
  const sent = api.accepted.size;
  // At ten messages a second, a worker that went on would send many.
  await sleep(1_500);
  assert.equal(api.accepted.size, sent);
  assert.equal((await slow.finish()).status, 200);
  assert.equal((await running.exit).code, 0);
  assert.ok(sent < many.length);
});

function refuses(base: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(base).port), '127.0.0.1');
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
    socket.once('connect', () => socket.destroy());
  });
}

describe('SIGTERM during the start ends the process', { concurrency: 2 }, () => {
  test('while the process waits for the database', bounded, async () => {
    const running = start('serve', { DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/d' });
    await until('it to wait', () => running.out.includes('waiting for the database of DATABASE_URL'));
    assert.equal(await endOf(running), 0);
    assert.doesNotMatch(running.out + running.err, /hunter2/);
  });

  test('while another process migrates', bounded, async () => {
    const own = await testDatabase();
    // With every migration applied, a start would not wait.
    await own.database.query('DROP TABLE schema_migrations');
    const other = new pg.Client({ connectionString: own.ownerUrl });
    await other.connect();
    await other.query('SELECT pg_advisory_lock(8726, 1)');
    const running = start('worker', { DATABASE_URL: own.url, MIGRATE_DATABASE_URL: own.ownerUrl });
    await until('it to wait for its turn', async () => {
      const { rows } = await own.database.query(
        "SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = 8726 AND objid = 1 AND NOT granted",
      );
      return rows.length > 0;
    });
    assert.equal(await endOf(running), 0);
    await other.end();
  });

  test('while PostgreSQL is set up; the next start works as a first start', bounded, async () => {
    const dataDir = emptyDataDir();
    const running = npmStart(dataDir);
    await until('initdb', () => readdirIfThere(dataDir).some((name) => name.includes('.making-')));
    await endOf(running);
    assert.equal(postmasterPid(dataDir), undefined);
    assert.equal((await (await startService(dataDir)).stop()).code, 0);
  });
});

describe('a process that does not start tells why and ends', { concurrency: 2 }, () => {
  const broken = scratch('broken.json');
  writeFileSync(broken, '{');
  const cases: [role: 'serve' | 'worker', variables: Variables, line: RegExp][] = [
    ['worker', { CONTACT_WINDOWS_FILE: broken }, /^error: CONTACT_WINDOWS_FILE .*broken\.json/m],
    ['serve', { CONTACT_WINDOWS_FILE: broken }, /^error: CONTACT_WINDOWS_FILE .*broken\.json/m],
  ];
  for (const [role, variables, line] of cases) {
    test(`${role} with ${Object.keys(variables).join()}: ${line.source}`, bounded, async () => {
      const { code, err } = await start(role, variables).exit;
      assert.equal(code, 1);
      assert.match(err, line);
    });
  }
});

describe('nothing is left behind', { concurrency: 2 }, () => {
  test('SIGKILL of npm: the service ends, and PostgreSQL cleanly', bounded, async () => {
    const dataDir = newDataDir();
    const running = await startService(dataDir, {}, npmStart);
    const postmaster = postmasterPid(dataDir) as number;
    await killHard(running.pid);
    await until('the service to be gone', () => !isAlive(running.nodePid));
    await until('PostgreSQL to be gone', () => !isAlive(postmaster));
    assert.match(postgresLog(dataDir), /database system is shut down\n$/);
    assert.match((await running.exit).out, /npm has ended/);
  });

  const moments: [what: string, look: (dataDir: string) => boolean][] = [
    ['initdb runs', (dataDir) => readdirIfThere(dataDir).some((name) => name.includes('.making-'))],
    ['PostgreSQL starts', (dataDir) => postmasterPid(dataDir) !== undefined],
    [
      'the secrets are made',
      (dataDir) => readdirIfThere(dataDir).some((name) => name.includes('secrets.json')),
    ],
  ];
  for (const [what, look] of moments) {
    test(`kill -9 of a first start when ${what}, and the next start works`, bounded, async () => {
      const dataDir = emptyDataDir();
      const running = npmStart(dataDir);
      await until(what, () => look(dataDir));
      // Kills npm and the service together, as a power cut would. PostgreSQL's processes go on.
      process.kill(-running.pid, 'SIGKILL');
      await running.exit;
      const again = await startService(dataDir);
      assert.equal((await submit(again, demoKeyOf(again), [anApplication()])).body.processed, 1);
      assert.equal((await again.stop()).code, 0);
      assert.deepEqual(
        readdirIfThere(dataDir).filter((name) => name.includes('.making-')),
        [],
      );
    });
  }
});

function readdirIfThere(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
