/** A migrated database for one test file, and its vault. */
import { createHash, randomBytes } from 'node:crypto';
import { after } from 'node:test';
import pg from 'pg';
import type { Database } from '../../src/postgres/database.ts';
import { openDatabase } from '../../src/postgres/open-database.ts';
import { Vault } from '../../src/seal/vault.ts';
import { copyOnAll, dropOnAll, machinesOf } from './citus-database.ts';
import { eventually } from './eventually.ts';
import { TEMPLATE } from './global-setup.ts';

export interface TestDatabase {
  readonly database: Database;
  readonly vault: Vault;
  readonly url: string;
  /** Whether the database is on a Citus cluster. */
  readonly isSpread: boolean;
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

/** Call this at the top of a test file; the database is dropped when the file is done. */
export async function testDatabase(): Promise<TestDatabase> {
  const url = process.env.TEST_DATABASE_URL;
  if (url === undefined) throw new Error('run the tests with npm test: it starts the database');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  // A clone needs the template for itself for a moment; files that start together take turns.
  await admin.query('SELECT pg_advisory_lock(8726, 99)');
  const machines = await machinesOf(url);
  if (machines.length > 0) await copyOnAll(machines, TEMPLATE, name);
  else await admin.query(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`);
  await admin.end();
  const address = new URL(url);
  address.pathname = `/${name}`;
  const database = openDatabase({ connectionString: address.href }, { max: 10, onError: () => {} });
  // A busy machine may need longer for a new session than the service waits for one.
  await eventually('a session', () =>
    database.query('SELECT 1').then(
      () => true,
      () => false,
    ),
  );
  after(async () => {
    await database.end();
    if (machines.length > 0) return dropOnAll(machines, name);
    const cleaner = new pg.Client({ connectionString: url });
    await cleaner.connect();
    await cleaner.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await cleaner.end();
  });
  return { database, vault: new Vault(TEST_SECRETS), url: address.href, isSpread: machines.length > 0 };
}
