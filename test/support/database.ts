/** A migrated database for one test file, and its vault. */
import { createHash, randomBytes } from 'node:crypto';
import { after } from 'node:test';
import pg from 'pg';
import { type Clock, machineClock } from '../../src/ground/base/clock.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { Vault } from '../../src/seal/vault.ts';
import { copyOnAll, dropOnAll, machinesOf } from './citus-database.ts';
import { eventually } from './eventually.ts';
import { openPatiently, openWithLimits } from './open-patiently.ts';
import { as, RUNTIME_ROLE, runtimePassword } from './runtime-role.ts';
import { TEMPLATE } from './template.ts';

export interface TestDatabase {
  /** Sessions of the owner of the tables, for what the test itself does with them. */
  readonly database: Database;
  /** Sessions of the runtime role, which the service has. */
  readonly runtime: Database;
  /** The same on the coordinator, which an erasure needs. null: all sessions are there, or there is no cluster. */
  readonly coordinator: Database | null;
  readonly vault: Vault;
  /** The machine's clock. A test that moves the time hands a `TestClock` down in its place. */
  readonly clock: Clock;
  /** The URL for the runtime role: the DATABASE_URL of a service. */
  readonly url: string;
  /** The URL for the owner, who is a superuser. */
  readonly ownerUrl: string;
  /** Whether the database is on a Citus cluster. */
  readonly isSpread: boolean;
  /** `stop` runs when the file is done, before the sessions end: a service that lost them would wait for ever. */
  readonly stopFirst: (stop: () => Promise<unknown>) => void;
}

/** What the program works on in a test. */
export type TestStore = Pick<TestDatabase, 'database' | 'vault' | 'clock'> &
  Partial<Pick<TestDatabase, 'runtime' | 'coordinator'>>;

/** The sessions of the program: those of the runtime role where the store has them. */
export function sessionsOf({ runtime, database }: Pick<TestStore, 'database' | 'runtime'>): Database {
  return runtime ?? database;
}

const key = (name: string) => createHash('sha256').update(name).digest();

export const TEST_SECRETS = {
  dataKeys: new Map([[1, key('data')]]),
  indexKey: key('index'),
  apiKeyPepper: key('pepper'),
};

/** The same secrets, as an operator sets them. */
export const TEST_VARIABLES = {
  DATA_KEYS: [...TEST_SECRETS.dataKeys].map(([id, text]) => `${id}:${text.toString('base64')}`).join(','),
  INDEX_KEY: TEST_SECRETS.indexKey.toString('base64'),
  API_KEY_PEPPER: TEST_SECRETS.apiKeyPepper.toString('base64'),
};

/** How long a session with real limits may be waited for: below the time of a request. */
const SESSION_WITHIN_MS = 8_000;

/**
 * Call this at the top of a test file; the database is dropped when the file is done. `isPatient`: false where the
 * limits of the runtime role's sessions are the subject of the test.
 */
export async function testDatabase({ isPatient = true } = {}): Promise<TestDatabase> {
  const url = process.env.TEST_DATABASE_URL;
  if (url === undefined) throw new Error('run the tests with npm test: it starts the database');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  // A clone needs the template for itself for a moment; files that start together take turns.
  await admin.query('SELECT pg_advisory_lock(8726, 99)');
  const machines = await machinesOf(url);
  if (machines.length > 0) await copyOnAll(machines, TEMPLATE, name);
  else await admin.query(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} STRATEGY = FILE_COPY`);
  await admin.end();
  const address = new URL(url);
  address.pathname = `/${name}`;
  const ownerUrl = address.href;
  const runtimeUrl = as(ownerUrl, RUNTIME_ROLE, runtimePassword(url));
  const database = openPatiently(ownerUrl);
  const runtime = isPatient ? openPatiently(runtimeUrl) : openWithLimits(runtimeUrl, 10, SESSION_WITHIN_MS);
  const [first] = machines;
  const coordinator =
    first === undefined || new URL(first).port === address.port
      ? null
      : openPatiently(Object.assign(new URL(runtimeUrl), { port: new URL(first).port }).href, 2);
  // A busy machine may need longer for a new session than the service waits for one.
  await eventually('a session', () =>
    Promise.all([database.query('SELECT 1'), runtime.query('SELECT 1')]).then(
      () => true,
      () => false,
    ),
  );
  const stops: (() => Promise<unknown>)[] = [];
  after(async () => {
    await Promise.all(stops.map((stop) => stop()));
    await Promise.all([database.end(), runtime.end(), coordinator?.end()]);
    if (machines.length > 0) return dropOnAll(machines, name);
    const cleaner = new pg.Client({ connectionString: url });
    await cleaner.connect();
    await cleaner.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await cleaner.end();
  });
  const vault = new Vault(TEST_SECRETS);
  const stopFirst = (stop: () => Promise<unknown>) => void stops.push(stop);
  const isSpread = machines.length > 0;
  const sessions = { database, runtime, coordinator };
  return { ...sessions, vault, clock: machineClock, url: runtimeUrl, ownerUrl, isSpread, stopFirst };
}
