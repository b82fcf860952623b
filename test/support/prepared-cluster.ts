/**
 * The data of an embedded server with all migrations: made once for a run, and copied where a test is not about that.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { machineClock } from '../../src/ground/base/clock.ts';
import { SERVICE_PASSWORD_FILE } from '../../src/ground/embedded/cluster.ts';
import { openEmbedded } from '../../src/ground/embedded/server.ts';
import { openDatabase } from '../../src/ground/postgres/open-database.ts';
import { Patience } from '../../src/ground/postgres/patience.ts';
import { migrate } from '../../src/ground/schema/migrations.ts';

/** Makes the data in a new folder, and tells all test processes where the data are. */
export async function prepareCluster(dataDir: string): Promise<void> {
  const server = await openEmbedded({ dataDir, clock: machineClock });
  const database = openDatabase(server.superuser, { max: 1, onError: () => {}, clock: machineClock });
  const { signal } = new AbortController();
  // On a busy machine a connection may take longer than a service waits for it.
  const patience = new Patience({
    clock: machineClock,
    what: 'the embedded database',
    signal,
    notice: () => {},
  });
  await patience.run(() => migrate(database, machineClock));
  await database.end();
  await server.close();
  process.env.TEST_CLUSTER = dataDir;
}

/**
 * Makes a data folder with a copy of the data. Where nothing was prepared (with TEST_DATABASE_URL), makes nothing: the
 * first start in the folder does the same work.
 */
export function copyCluster(dataDir: string): void {
  const prepared = process.env.TEST_CLUSTER;
  if (prepared === undefined) return;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const parts = ['postgres', 'postgres.password', SERVICE_PASSWORD_FILE].map((name) => join(prepared, name));
  // Unlike Node's own copy, this one keeps the owner: the servers of root run as another user.
  execFileSync('cp', ['-Rp', ...parts, dataDir]);
}
