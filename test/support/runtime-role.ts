/** Roles for the tests: the server is shared, so each role has a name of its own and is dropped in the end. */
import { randomBytes } from 'node:crypto';
import { after } from 'node:test';
import pg from 'pg';

/** Makes a role that may log in and has no privileges, and its URL of the database. It goes with the test file. */
export async function makeRole(url: string): Promise<{ readonly name: string; readonly url: string }> {
  const name = `role_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  await ask(url, `CREATE ROLE ${name} LOGIN PASSWORD '${password}'`);
  // The database of `url` is dropped before, and with it what the role may do there.
  after(() => ask(process.env.TEST_DATABASE_URL as string, `DROP ROLE ${name}`));
  return { name, url: as(url, name, password) };
}

/** The URL of the same database for another role. */
export function as(url: string, name: string, password: string): string {
  const address = new URL(url);
  address.username = name;
  address.password = password;
  return address.href;
}

async function ask(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
