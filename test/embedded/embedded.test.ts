import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { machineClock } from '../../src/ground/base/clock.ts';
import { type EmbeddedConnection, EmbeddedError, openEmbedded } from '../../src/ground/embedded/server.ts';
import {
  maxKeptLogMiB,
  maxWalSizeMiB,
  settings,
  sharedBuffersMiB,
  startPostmaster,
} from '../../src/ground/embedded/start.ts';
import { eventually, SLACK_MS } from '../support/eventually.ts';
import { oneQuery } from '../support/one-query.ts';
import { copyCluster } from '../support/prepared-cluster.ts';
import { serverFolder } from '../support/server-folder.ts';

const isRoot = process.getuid?.() === 0;
const root = mkdtempSync(join(serverFolder(), 'ventanilla-embedded-'));
const children = new Set<ChildProcess>();
let count = 0;

after(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const name of readdirSync(root)) {
    const pid = serverPid(join(root, name));
    if (pid !== undefined) await kill(pid);
  }
  rmSync(root, { recursive: true, force: true, maxRetries: 10 });
});

function emptyDataDir(): string {
  count += 1;
  return join(root, `data-${count}`);
}

/** A folder where PostgreSQL is set up. */
function newDataDir(): string {
  const dataDir = emptyDataDir();
  copyCluster(dataDir);
  return dataDir;
}

function serverPid(dataDir: string): number | undefined {
  const file = join(dataDir, 'postgres', 'postmaster.pid');
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined;
}

/** With `hot_standby` off, PostgreSQL writes this status when it begins to recover. */
function isRecovering(dataDir: string): boolean {
  const file = join(dataDir, 'postgres', 'postmaster.pid');
  return existsSync(file) && readFileSync(file, 'utf8').includes('\nstandby');
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // A process that has ended but that was not waited for yet still exists, without arguments.
  return !existsSync(`/proc/${pid}`) || readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
}

async function kill(pid: number): Promise<void> {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {}
  for (let i = 0; i < 6_000 && isAlive(pid); i += 1) await sleep(10);
}

interface Child {
  readonly superuser: EmbeddedConnection;
  close(): Promise<void>;
  kill(): Promise<void>;
}

async function openInChild(dataDir: string): Promise<Child> {
  const program = fileURLToPath(new URL('embedded-child.ts', import.meta.url));
  const child = spawn(process.execPath, [program, dataDir], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.add(child);
  const exit = once(child, 'exit');
  const [line] = (await Promise.race([
    once(createInterface(child.stdout!), 'line'),
    exit.then(([code]) => Promise.reject(new Error(`child ended: ${code}`))),
  ])) as [string];
  return {
    superuser: JSON.parse(line) as EmbeddedConnection,
    close: async () => {
      child.stdin!.end();
      assert.deepEqual(await exit, [0, null]);
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

test('buffers and log follow the memory and the disk', () => {
  const GIB = 1024 ** 3;
  const of = (memoryGiB: number, diskGiB: number) => [
    sharedBuffersMiB(memoryGiB * GIB),
    maxWalSizeMiB(memoryGiB * GIB, diskGiB * GIB),
  ];
  assert.deepEqual(of(0.25, 100), [128, 1_024]);
  assert.deepEqual(of(8, 100), [2_048, 4_096]);
  assert.deepEqual(of(64, 1_000), [8_192, 8_192]);
  assert.deepEqual(of(64, 10), [8_192, 1_024]);
  assert.deepEqual(of(64, 1), [8_192, 128]);
  assert.deepEqual(
    [1, 100, 10_000].map((disk) => maxKeptLogMiB(disk * GIB)),
    [256, 10_240, 65_536],
  );
});

test('keeps its data over a restart, as a private server with its settings', async () => {
  const dataDir = emptyDataDir();
  mkdirSync(dataDir, { mode: 0o700 });
  mkdirSync(join(dataDir, 'postgres.making-999999999-00'));
  const first = await openEmbedded({ dataDir, clock: machineClock });
  const pid = serverPid(dataDir)!;
  assert.ok(isAlive(pid));
  await oneQuery(first.superuser, 'CREATE TABLE t AS SELECT 42 AS n');
  const { blocks, bsize } = statfsSync(dataDir);
  for (const { name, value } of settings(blocks * bsize)) {
    const [row] = await oneQuery(first.superuser, `SELECT current_setting('${name}') AS now`);
    // PostgreSQL gives these in another unit.
    if (!['shared_buffers', 'max_wal_size', 'max_slot_wal_keep_size'].includes(name))
      assert.equal(row?.now, value, name);
  }
  const [facts] = await oneQuery(
    first.superuser,
    `SELECT current_setting('data_checksums') AS checksums, current_setting('server_encoding') AS encoding,
       upper('ñandú') AS upper, (SELECT rolname FROM pg_roles r JOIN pg_database d ON d.datdba = r.oid
       WHERE datname = current_database()) AS owner`,
  );
  assert.deepEqual(facts, { checksums: 'on', encoding: 'UTF8', upper: 'ÑANDÚ', owner: 'ventanilla' });
  await assert.rejects(oneQuery({ ...first.superuser, password: 'wrong' }, 'SELECT 1'), { code: '28P01' });
  await assert.rejects(oneQuery(first.superuser, "SELECT 'Maria Perez'::int"), { code: '22P02' });
  await first.close();
  await first.close();
  assert.equal(isAlive(pid), false);
  assert.doesNotMatch(readFileSync(join(dataDir, 'postgres.log'), 'utf8'), /Maria/);

  // From a process that was killed when the password was in its place already.
  writeFileSync(join(dataDir, 'postgres.password.making-999999999-00'), 'left behind');
  const second = await openEmbedded({ dataDir, clock: machineClock });
  assert.deepEqual(await oneQuery(second.superuser, 'SELECT n FROM t'), [{ n: 42 }]);
  await second.close();
  assert.deepEqual(readdirSync(dataDir).sort(), [
    'postgres',
    'postgres.log',
    'postgres.password',
    'postgres.service-password',
  ]);
  assert.equal(statSync(join(dataDir, 'postgres')).mode & 0o777, 0o700);
  assert.equal(statSync(join(dataDir, 'postgres.password')).mode & 0o777, 0o600);
});

test('adopts the server of a killed process', async () => {
  const dataDir = newDataDir();
  const child = await openInChild(dataDir);
  await oneQuery(child.superuser, 'CREATE TABLE t AS SELECT 42 AS n');
  const pid = serverPid(dataDir)!;
  await child.kill();
  assert.ok(isAlive(pid));
  const server = await openEmbedded({ dataDir, clock: machineClock });
  assert.equal(serverPid(dataDir), pid);
  assert.deepEqual(server.superuser, child.superuser);
  assert.deepEqual(await oneQuery(server.superuser, 'SELECT n FROM t'), [{ n: 42 }]);
  await server.close();
  assert.equal(isAlive(pid), false);
});

test('recovers what was committed when service and server are killed', async () => {
  const dataDir = newDataDir();
  const child = await openInChild(dataDir);
  await oneQuery(child.superuser, 'CREATE TABLE t AS SELECT 42 AS n');
  await Promise.all([child.kill(), kill(serverPid(dataDir)!)]);
  const server = await openEmbedded({ dataDir, clock: machineClock });
  assert.deepEqual(await oneQuery(server.superuser, 'SELECT n FROM t'), [{ n: 42 }]);
  await server.close();
});

test('starts though the pid of the killed server now belongs to another program', async () => {
  const dataDir = newDataDir();
  const child = await openInChild(dataDir);
  await oneQuery(child.superuser, 'CREATE TABLE t AS SELECT 42 AS n');
  await Promise.all([child.kill(), kill(serverPid(dataDir)!)]);
  // As the server's own user: PostgreSQL ignores a pid that it may not signal.
  const { uid, gid } = statSync(join(dataDir, 'postgres'));
  const stranger = spawn('sleep', ['60'], isRoot ? { uid, gid, cwd: '/' } : {});
  children.add(stranger);
  await once(stranger, 'spawn');
  const file = join(dataDir, 'postgres', 'postmaster.pid');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(stranger.pid)));
  const server = await openEmbedded({ dataDir, clock: machineClock });
  assert.notEqual(serverPid(dataDir), stranger.pid);
  assert.deepEqual(await oneQuery(server.superuser, 'SELECT n FROM t'), [{ n: 42 }]);
  await server.close();
  assert.ok(isAlive(stranger.pid!));
});

test('two processes share one server, and the last one stops it', async () => {
  const dataDir = newDataDir();
  const first = await openEmbedded({ dataDir, clock: machineClock });
  const pid = serverPid(dataDir)!;
  const second = await openInChild(dataDir);
  assert.deepEqual(second.superuser, first.superuser);
  await first.close();
  assert.deepEqual(await oneQuery(second.superuser, 'SELECT 1 AS one'), [{ one: 1 }]);
  await second.close();
  assert.equal(isAlive(pid), false);
});

test('two processes that start at once in an empty folder get one cluster', async () => {
  const dataDir = emptyDataDir();
  const both = await Promise.all([openInChild(dataDir), openInChild(dataDir)]);
  assert.deepEqual(both[0].superuser, both[1].superuser);
  const pid = serverPid(dataDir)!;
  await Promise.all(both.map((child) => child.close()));
  assert.equal(isAlive(pid), false);
  assert.deepEqual(readdirSync(dataDir).sort(), [
    'postgres',
    'postgres.log',
    'postgres.password',
    'postgres.service-password',
  ]);
});

test('no process loses the server when openings and closings cross', async () => {
  const dataDir = newDataDir();
  const openAndClose = async (worker: number) => {
    for (let round = 0; round < 5; round += 1) {
      const server = await openEmbedded({ dataDir, clock: machineClock });
      await sleep((worker * 7 + round * 13) % 30);
      assert.deepEqual(await oneQuery(server.superuser, 'SELECT 1 AS one'), [{ one: 1 }]);
      await server.close();
    }
  };
  await Promise.all([1, 2, 3].map(openAndClose));
  assert.equal(serverPid(dataDir), undefined);
});

test('the end of the server does not end the process', async () => {
  const dataDir = newDataDir();
  const server = await openEmbedded({ dataDir, clock: machineClock });
  await kill(serverPid(dataDir)!);
  await sleep(100);
  await server.close();
});

test('a stop during the recovery ends the start, and the recovery goes on for the next start', async () => {
  const dataDir = newDataDir();
  await (await openEmbedded({ dataDir, clock: machineClock })).close();
  // The server recovers without end and takes no connections, as after a crash.
  const standby = join(dataDir, 'postgres', 'standby.signal');
  writeFileSync(standby, '');
  appendFileSync(join(dataDir, 'postgres', 'postgresql.conf'), 'hot_standby = off\n');
  const stop = new AbortController();
  const notices: string[] = [];
  const listener = { notice: (text: string) => notices.push(text), moved() {}, lost() {} };
  const opening = openEmbedded({ dataDir, signal: stop.signal, listener, clock: machineClock });
  // A server may write its pid and then give way, for instance to another program on its port: a later one stays.
  const pid = await eventually('the recovery', () => isRecovering(dataDir) && serverPid(dataDir));
  stop.abort();
  const sinceMs = performance.now();
  await assert.rejects(opening, { name: 'AbortError' });
  assert.ok(performance.now() - sinceMs < 5_000 + SLACK_MS);
  assert.match(notices.join(), /still starts, recovers or stops.*the next start waits for it/);
  assert.ok(isAlive(pid));
  await kill(pid);
  rmSync(standby);
  await (await openEmbedded({ dataDir, clock: machineClock })).close();
});

test('a stop before the server has its postmaster.pid ends the server, which no process would find', async () => {
  const directory = emptyDataDir();
  mkdirSync(directory);
  const postgres = join(directory, 'postgres');
  // Replaces itself by no other program: a signal at that moment may be lost in some shells.
  const lines = ['#!/bin/sh', 'echo $$ > pid', 'for second in $(seq 600); do sleep 0.1; done', ''];
  writeFileSync(postgres, lines.join('\n'), { mode: 0o700 });
  const cluster = {
    clock: machineClock,
    directory,
    logFile: join(directory, 'log'),
    passwordFile: '',
    password: '',
    account: undefined,
    binaries: { major: '17', initdb: '', postgres },
  };
  const stop = new AbortController();
  const { signal } = stop;
  const starting = startPostmaster(cluster, machineClock.monotonicMs() + 60_000, { signal });
  const file = join(directory, 'pid');
  const pid = await eventually('the program', () => existsSync(file) && Number(readFileSync(file, 'utf8')));
  stop.abort();
  await assert.rejects(starting, { name: 'AbortError' });
  await eventually('its end', () => !isAlive(pid));
});

test('a stop while the server starts leaves no server behind', async () => {
  const dataDir = newDataDir();
  await (await openEmbedded({ dataDir, clock: machineClock })).close();
  const stop = new AbortController();
  // A busy machine ends the server later than the stop waits.
  const clock = { ...machineClock, monotonicMs: () => 0 };
  const opening = openEmbedded({ dataDir, signal: stop.signal, clock });
  await eventually('the server to start', () => serverPid(dataDir));
  stop.abort();
  await assert.rejects(opening, { name: 'AbortError' });
  assert.equal(serverPid(dataDir), undefined);
});

test('names what is wrong', async () => {
  const fails = (dataDir: string, message: RegExp) =>
    assert.rejects(
      openEmbedded({ dataDir, clock: machineClock }),
      (error) =>
        error instanceof EmbeddedError && message.test(error.message) && error.message.includes(dataDir),
    );
  const dataDir = emptyDataDir();
  mkdirSync(join(dataDir, 'postgres'), { recursive: true });
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '18\n');
  await fails(dataDir, /postgres\.password is missing/);
  writeFileSync(join(dataDir, 'postgres.password'), 'x\n');
  await fails(dataDir, /was made by PostgreSQL 18, and this version runs 17/);
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
  await fails(dataDir, /did not start .*postgresql\.conf.* \(see .*postgres\.log\)/);
  const file = emptyDataDir();
  writeFileSync(file, '');
  await fails(file, /DATA_DIR is not a directory/);
});

test('says that DATA_DIR is not writable', {
  skip: isRoot && 'root may write anywhere',
}, async () => {
  const dataDir = emptyDataDir();
  mkdirSync(dataDir, { mode: 0o500 });
  await assert.rejects(openEmbedded({ dataDir, clock: machineClock }), /DATA_DIR cannot be used/);
});

test('works for root in a folder that no other user may enter', {
  skip: !isRoot && 'only root',
}, async () => {
  const closed = join(root, 'closed');
  mkdirSync(closed, { mode: 0o700 });
  chmodSync(root, 0o700);
  const dataDir = join(closed, 'data');
  const server = await openEmbedded({ dataDir, clock: machineClock });
  const pid = serverPid(dataDir)!;
  const owner = statSync(join(dataDir, 'postgres'));
  const [uid] = /^Uid:\s+(\d+)/m
    .exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
    .slice(1)
    .map(Number);
  assert.notEqual(uid, 0);
  assert.equal(owner.uid, uid);
  assert.equal(owner.mode & 0o777, 0o700);
  assert.equal(statSync(join(dataDir, 'postgres', 'base')).uid, uid);
  assert.equal(statSync(join(dataDir, 'postgres.password')).uid, 0);
  assert.equal(statSync(dataDir).mode & 0o777, 0o700);
  await server.close();
  assert.equal(isAlive(pid), false);
});
