/** The roles of the tests beside the owner of the tables, which is the user of TEST_DATABASE_URL. */
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

/** The role that the service of the tests connects as. It stays on a server that is not the run's own. */
export const RUNTIME_ROLE = 'ventanilla_test_service';

/** The machines of a cluster log in to each other with the one password that they have. */
export function runtimePassword(ownerUrl: string): string {
  return decodeURIComponent(new URL(ownerUrl).password);
}

/** Makes the role on each machine, where it is not there. */
export async function makeRuntimeRole(machines: readonly string[]): Promise<void> {
  for (const url of machines) {
    const password = runtimePassword(url).replaceAll("'", "''");
    await ask(
      url,
      `DO $do$ BEGIN
        PERFORM set_config('citus.enable_create_role_propagation', 'off', true);
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${RUNTIME_ROLE}') THEN CREATE ROLE ${RUNTIME_ROLE} LOGIN; END IF;
        IF '${password}' <> '' THEN ALTER ROLE ${RUNTIME_ROLE} PASSWORD '${password}'; END IF;
      END $do$`,
    );
  }
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
