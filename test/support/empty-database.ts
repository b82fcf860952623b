/** Databases without tables on the server of the tests. */
import { randomBytes } from 'node:crypto';
import { after } from 'node:test';
import pg from 'pg';
import type { Database } from '../../src/ground/postgres/database.ts';
import { openPatiently } from './open-patiently.ts';

const url = process.env.TEST_DATABASE_URL as string;
/** The pools on each database that is there, by the path of its URL. */
const pools = new Map<string, Database[]>();

async function admin(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // Other files clone their databases at the same time; the lock makes them take turns.
  await client.query('SELECT pg_advisory_lock(8726, 99)');
  await client.query(sql);
  await client.end();
}

/** An empty database; each call of the returned function opens a pool on it, as another process would. */
export async function emptyDatabase(): Promise<() => Database> {
  const connectionString = await emptyDatabaseUrl();
  return () => openPool(connectionString);
}

/** The URL of an empty database for its owner, a superuser. It goes with the test, or the file, that asks for it. */
export async function emptyDatabaseUrl(): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await admin(`CREATE DATABASE ${name}`);
  const address = new URL(url);
  address.pathname = `/${name}`;
  const opened: Database[] = [];
  pools.set(address.pathname, opened);
  after(async () => {
    await Promise.all(opened.map((pool) => pool.end()));
    await admin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  });
  return address.href;
}

/** A pool that ends with its database. */
export function openPool(connectionString: string): Database {
  const pool = openPatiently(connectionString, 2);
  pools.get(new URL(connectionString).pathname)?.push(pool);
  return pool;
}
