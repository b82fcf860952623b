/** The stop of `npm start`: requests under way are answered, new ones refused, and PostgreSQL stops cleanly. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  applications,
  beginSubmit,
  demoKeyOf,
  isAlive,
  newDataDir,
  npmStart,
  postgresLog,
  postmasterPid,
  type ServiceProcess,
  startService,
  until,
  ventanillaJson,
} from './support.ts';

const CLEANLY = /database system is shut down\n$/;

function refusesConnections(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
    socket.once('connect', () => socket.destroy());
  });
}

function assertStopped(dataDir: string, postmaster: number | undefined): void {
  assert.ok(postmaster !== undefined && !isAlive(postmaster));
  assert.equal(postmasterPid(dataDir), undefined);
  assert.match(postgresLog(dataDir), CLEANLY);
}

/**
 * Exit code 0 means that every part ended in its time, by the process's own clock (docs/operations.md). A bound here
 * would measure the machine. endings.test.ts tests the end of a process whose parts hang.
 */
async function stopsInTime(service: ServiceProcess, signal: NodeJS.Signals): Promise<void> {
  const { code, err } = await service.stop(signal);
  assert.equal(code, 0, err);
}

describe('stopping', { concurrency: 2 }, () => {
  test('SIGTERM to npm: every request under way is answered and stored', async () => {
    const dataDir = newDataDir();
    const service = await startService(dataDir, {}, npmStart);
    const apiKey = demoKeyOf(service);
    const postmaster = postmasterPid(dataDir);
    const idle = await fetch(`${service.url}/PRO`, { headers: { 'X-API-Key': apiKey } });
    assert.equal(idle.status, 200);

    const slow = await beginSubmit(service, apiKey, applications(3));
    const burst = await Promise.all(
      Array.from({ length: 24 }, () => beginSubmit(service, apiKey, applications(100))),
    );
    const answers = burst.map((begun) => begun.finish());
    const exit = service.stop('SIGTERM');
    await until('new connections to be refused', () => refusesConnections(service.url));
    assert.equal((await fetch(`${service.opsUrl}/readyz`)).status, 503);
    assert.equal((await fetch(`${service.opsUrl}/healthz`)).status, 200);
    const answered = await Promise.all(answers);
    // The service waits for the request whose body is not whole yet, but not for ever.
    await sleep(300);
    assert.ok(isAlive(service.nodePid));
    answered.push(await slow.finish());
    assert.equal((await exit).code, 0);
    assertStopped(dataDir, postmaster);

    assert.deepEqual(
      answered.map(({ status, body }) => [status, body.processed]),
      [...Array(24).fill([200, 100]), [200, 3]],
    );
    const stored = await ventanillaJson(dataDir, 'application', 'list');
    const storedIds = stored.map(({ id }: { id: number }) => id).sort();
    assert.deepEqual(
      answered.flatMap(({ body }) => body.results.map(({ id }: { id: number }) => id)).sort(),
      storedIds,
    );
  });

  test('SIGINT to npm, then Ctrl-C, which reaches both npm and the service', async () => {
    const dataDir = newDataDir();
    const first = await startService(dataDir, {}, npmStart);
    const postmaster = postmasterPid(dataDir);
    await stopsInTime(first, 'SIGINT');
    assertStopped(dataDir, postmaster);

    const second = await startService(dataDir, {}, npmStart);
    const next = postmasterPid(dataDir);
    const slow = await beginSubmit(second, demoKeyOf(first), applications(3));
    // The terminal signals the whole group, and npm passes the signal on: the service gets it twice.
    process.kill(-second.pid, 'SIGINT');
    // Two signals at once arrive as one, so this one comes a little later.
    await sleep(100);
    process.kill(second.nodePid, 'SIGINT');
    await sleep(100);
    assert.equal((await slow.finish()).status, 200);
    assert.equal((await second.exit).code, 0);
    assertStopped(dataDir, next);
  });
});
