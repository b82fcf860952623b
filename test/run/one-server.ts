/** One real PostgreSQL for the whole run: the embedded one, or that of TEST_DATABASE_URL. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { machineClock } from '../../src/ground/base/clock.ts';
import { openEmbedded } from '../../src/ground/embedded/server.ts';
import { migrate } from '../../src/ground/schema/migrations.ts';
import { grantRuntime } from '../../src/ground/schema/runtime-role.ts';
import { createOnAll, dropOnAll, machinesOf, spread } from '../support/citus-database.ts';
import { openPatiently } from '../support/open-patiently.ts';
import { copyCluster, prepareCluster } from '../support/prepared-cluster.ts';
import { makeRuntimeRole, RUNTIME_ROLE } from '../support/runtime-role.ts';
import { serverFolder } from '../support/server-folder.ts';
import { TEMPLATE } from '../support/template.ts';

const COMPILED = join(import.meta.dirname, '../../node_modules/.cache/ventanilla-tests');

/** Where the tests leave the server little memory: a quarter of it is its cache. */
const SMALL_BYTES = 1024 ** 3;

let close = async () => {};

/** Starts the server where none is given, and makes the template of the test databases. */
export async function openServer(): Promise<void> {
  // Each process would compile the whole program again.
  process.env.NODE_COMPILE_CACHE ??= COMPILED;
  if (process.env.TEST_DATABASE_URL === undefined) {
    const folder = await mkdtemp(join(serverFolder(), 'ventanilla-test-'));
    // A signal ends the runner without the teardown.
    process.once('exit', () => endNow(folder));
    await prepareCluster(join(folder, 'prepared'));
    const dataDir = join(folder, 'server');
    copyCluster(dataDir);
    const server = await likeASmallMachine(() => openEmbedded({ dataDir, clock: machineClock }));
    const { host, port, user, password, database } = server.superuser;
    const url = `postgres://${user}:${encodeURIComponent(password)}@${host}:${port}/${database}`;
    process.env.TEST_DATABASE_URL = url;
    await makeSignInCheap(url, password);
    close = async () => {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    };
  }
  await makeTemplate(process.env.TEST_DATABASE_URL as string);
}

/** A DROP DATABASE looks through all of the server's memory, which the machine's size decides. */
async function likeASmallMachine<T>(act: () => Promise<T>): Promise<T> {
  const { constrainedMemory } = process;
  process.constrainedMemory = () => SMALL_BYTES;
  return act().finally(() => {
    process.constrainedMemory = constrainedMemory;
  });
}

/**
 * Tests open thousands of sessions. The 4,096 rounds of SCRAM, which protect a password against guessing, would be a
 * tenth of the run. Roles that are made later have few rounds too.
 */
async function makeSignInCheap(url: string, password: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('ALTER SYSTEM SET scram_iterations = 1');
  await client.query('ALTER SYSTEM SET autovacuum = off');
  await client.query('SELECT pg_reload_conf()');
  await client.query('SET scram_iterations = 1');
  await client.query(`ALTER ROLE CURRENT_USER PASSWORD ${client.escapeLiteral(password)}`);
  await client.end();
}

/** Ends the servers of a run that is over, and removes their data. */
function endNow(folder: string): void {
  for (const name of ['prepared', 'server']) {
    const pidFile = join(folder, name, 'postgres', 'postmaster.pid');
    if (existsSync(pidFile)) process.kill(Number(readFileSync(pidFile, 'utf8').split('\n')[0]), 'SIGQUIT');
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

async function makeTemplate(url: string): Promise<void> {
  const machines = await machinesOf(url);
  await makeRuntimeRole(machines.length > 0 ? machines : [url]);
  if (machines.length > 0) {
    await dropOnAll(machines, TEMPLATE);
    await createOnAll(machines, TEMPLATE);
    return spread(machines, TEMPLATE);
  }
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`DROP DATABASE IF EXISTS ${TEMPLATE}`);
  await admin.query(`CREATE DATABASE ${TEMPLATE}`);
  await admin.end();
  const address = new URL(url);
  address.pathname = `/${TEMPLATE}`;
  const database = openPatiently(address.href, 1);
  await migrate(database, machineClock);
  await grantRuntime(database, RUNTIME_ROLE);
  await database.end();
}

/** Ends the server, and removes its data. */
export async function closeServer(): Promise<void> {
  await close();
}
