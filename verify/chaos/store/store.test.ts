/** The store of a chaos run: its full disk ends the primary, whatever happened to the standby. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Store } from './store.ts';

const folder = mkdtempSync(join(tmpdir(), 'ventanilla-chaos-store-'));
// PostgreSQL runs as another user than root.
chmodSync(folder, 0o755);
const leave: (() => void)[] = [];
const store = await Store.start(folder, { hasStandby: true, hasSmallDisk: true }, leave);
after(async () => {
  await store.stop();
  for (const one of leave) one();
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

const machine = (serial: number, file: string) =>
  readFileSync(join(store.disk.path, `machine-${serial}`, file), 'utf8');
const skip = !store.disk.isOwn && 'only root on Linux may mount a small disk';

test('a full disk ends the primary, also where commits wait for a standby that is gone', {
  skip,
}, async () => {
  process.kill(Number(machine(1, 'postgres/postmaster.pid').split('\n')[0]), 'SIGKILL');
  await store.fillDisk(0);
  assert.match(machine(0, 'postgres.log'), /PANIC: .*No space left on device/);
  await store.database.query('CREATE TABLE kept AS SELECT 1 AS number');
  assert.equal(store.hasStandby, true);
});
