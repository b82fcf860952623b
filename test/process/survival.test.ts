/** A service runs on while its database is killed, full or read-only (D37). */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import pg from 'pg';
import { readyAt } from '../support/eventually.ts';
import { anApplication, testService } from '../support/service.ts';
import {
  demoKeyOf,
  isAlive,
  killHard,
  newDataDir,
  nodeStart,
  postmasterPid,
  query,
  type ServiceProcess,
  startService,
  submitOnce,
  until,
  ventanillaJson,
} from './support.ts';

/** Sends until a batch is registered. Every other answer must ask for a retry. */
async function registers(service: ServiceProcess, apiKey: string): Promise<void> {
  await until('a batch to be registered', async () => {
    const answer = await submitOnce(service, apiKey, [anApplication()]).catch(() => null);
    // No answer, because the outcome of the batch was in doubt (D15).
    if (answer === null) return false;
    assert.ok([200, 500].includes(answer.status));
    return answer.status === 200;
  });
}

// Most of these tests wait out the pauses of the service, which add up to 18.5 s, so they wait side by side.
describe('a killed PostgreSQL', { concurrency: 2 }, () => {
  test('is started again after each kill, and no acknowledged batch is lost', async () => {
    const dataDir = newDataDir();
    const service = await startService(dataDir);
    const apiKey = demoKeyOf(service);
    const count = (line: string) => service.out.split(line).length - 1;
    const pids = new Set<number>();
    for (let round = 0; round < 3; round += 1) {
      await registers(service, apiKey);
      // A server that is killed before the service holds it would count as the same end.
      await until('the server to be held', () => count('PostgreSQL runs again') === round);
      const pid = postmasterPid(dataDir) as number;
      pids.add(pid);
      await killHard(pid);
      await until('another one', () => ![undefined, pid].includes(postmasterPid(dataDir)));
    }
    await registers(service, apiKey);
    assert.equal(pids.size, 3);
    await readyAt(service.opsUrl);
    await until('each end to be mended', () => count('PostgreSQL runs again') === 3);
    assert.equal(count('PostgreSQL or its connections ended'), 3);
    const { code, out } = await service.stop();
    assert.equal(code, 0, out);
    assert.equal((await ventanillaJson(dataDir, 'application', 'list')).length, 4);
  });

  test('is started again by one of two services, and both go on', async () => {
    const dataDir = newDataDir();
    const both = await Promise.all([startService(dataDir), startService(dataDir)]);
    const apiKey = demoKeyOf({ ...both[0], out: both[0].out + both[1].out });
    await killHard(postmasterPid(dataDir) as number);
    await Promise.all(both.map((service) => registers(service, apiKey)));
    // A service may register as soon as the server runs, before the service holds the server again.
    for (const service of both)
      await until('the server to be held', () => service.out.includes('PostgreSQL runs again'));
    const postmaster = postmasterPid(dataDir) as number;
    assert.equal((await both[0].stop()).code, 0);
    assert.ok(isAlive(postmaster));
    await registers(both[1], apiKey);
    assert.equal((await both[1].stop()).code, 0);
    assert.ok(!isAlive(postmaster));
  });

  test('is given up where it ends soon after each start, with the reason', async () => {
    const dataDir = newDataDir();
    const service = await startService(dataDir);
    for (let starts = 0; !service.hasEnded; starts += 1) {
      // A server that is killed before the service holds it would count as a failed start.
      await until('the server to be held, or the service to end', () => {
        return service.hasEnded || service.out.split('PostgreSQL runs again').length - 1 === starts;
      });
      if (!service.hasEnded) await killHard(postmasterPid(dataDir) as number);
    }
    const { code, out } = await service.exit;
    assert.equal(code, 1);
    assert.match(out, /"level":60.*PostgreSQL ended soon after each start/);
  });

  test('ends the service with exit code 1 and the reason where no start works', async () => {
    const dataDir = newDataDir();
    const service = await startService(dataDir);
    const postmaster = postmasterPid(dataDir) as number;
    writeFileSync(join(dataDir, 'postgres', 'postgresql.conf'), 'no = such setting\n');
    await killHard(postmaster);
    // The server's other processes still run for a moment.
    await until('it not to be ready', async () => (await fetch(`${service.opsUrl}/readyz`)).status === 503);
    // Less than any time limit of the service. A busy machine needs several tries for it.
    await until('an answer at once', async () => {
      const start = performance.now();
      const answer = await submitOnce(service, demoKeyOf(service), [anApplication()]);
      assert.equal(answer.status, 500);
      return performance.now() - start < 1_000;
    });
    const { code, out } = await service.exit;
    assert.equal(code, 1);
    assert.match(out, /"level":60.*PostgreSQL did not start/);
  });
});

const mount = process.getuid?.() === 0 ? mountTmpfs() : null;

test('WAL on a full disk: answers ask for a retry, a start waits, and both go on once there is room', {
  skip: mount === null && 'only root may mount a small disk',
}, async () => {
  const dataDir = join(mount as string, 'data');
  const service = await startService(dataDir);
  const apiKey = demoKeyOf(service);
  await registers(service, apiKey);
  const ballast = join(mount as string, 'ballast');
  const { bavail, bsize } = statfsSync(mount as string);
  try {
    writeFileSync(ballast, Buffer.alloc(bavail * bsize));
  } catch (error) {
    // The server wrote something meanwhile, but the disk is full all the same.
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
  }
  // Writes WAL until no room is left for the next segment, which ends PostgreSQL.
  await until('PostgreSQL to end', () =>
    query(dataDir, "SELECT pg_logical_emit_message(true, 'x', repeat('a', 1000000))").then(
      () => false,
      () => true,
    ),
  );
  await until('the service to say so', () => service.out.includes('its disk is nearly full'));
  const refused = await submitOnce(service, apiKey, [anApplication()]);
  assert.equal(refused.status, 500);
  const second = nodeStart(dataDir);
  const starting = startService(dataDir, {}, () => second);
  await until('the start to say so', () => second.out.includes('its disk is nearly full'));
  rmSync(ballast);
  for (const one of [service, await starting]) {
    await registers(one, apiKey);
    const { code, out } = await one.stop();
    assert.equal(code, 0, out);
    assert.equal(out.match(/its disk is nearly full/g)?.length, 1);
  }
});

function mountTmpfs(): string | null {
  const place = mkdtempSync(join(tmpdir(), 'ventanilla-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=200m', 'tmpfs', place]).status === 0;
  after(async () => {
    if (mounted) {
      const pid = postmasterPid(join(place, 'data'));
      if (pid !== undefined && isServer(pid)) await killHard(pid);
      spawnSync('umount', ['-l', place]);
    }
    rmSync(place, { recursive: true, force: true });
  });
  return mounted ? place : null;
}

function isServer(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('ventanilla.cluster=');
  } catch {
    return false;
  }
}

test('with a read-only database the service sends Retry-After, logs once, is not ready, and goes on once writes work', async () => {
  const service = await testService();
  const { apiKey } = await service.addPartner();
  const name = new URL(service.databaseUrl).pathname.slice(1);
  const send = () =>
    fetch(`${service.url}/PRO`, {
      method: 'POST',
      headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
      body: JSON.stringify({ applications: [anApplication()] }),
    });
  assert.equal((await send()).status, 200);
  const admin = new pg.Client({ connectionString: service.ownerUrl });
  await admin.connect();
  // The database is dropped with its sessions at the end of the file.
  admin.on('error', () => {});
  after(() => admin.end().catch(() => {}));
  await admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  // Only new sessions are read-only.
  await admin.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  await until('a refusal', async () => (await send()).status === 500);
  for (let turn = 0; turn < 10; turn += 1) {
    const answer = await send();
    assert.deepEqual([answer.status, answer.headers.get('Retry-After')], [500, '1']);
  }
  await until('/readyz to say so', async () => (await fetch(`${service.opsUrl}/readyz`)).status === 503);
  assert.equal(service.log.filter((line) => line.includes('is read-only')).length, 1);
  await admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = off`);
  await until('a batch to be registered', async () => (await send()).status === 200);
  await until('/readyz to be ready', async () => (await fetch(`${service.opsUrl}/readyz`)).status === 200);
});
