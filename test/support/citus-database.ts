/** Test databases on a Citus cluster: one of the same name on each machine, known to each other. */
import pg from 'pg';
import { machineClock } from '../../src/ground/base/clock.ts';
import { distributeFor } from '../../src/ground/schema/distribution.ts';
import { migrate } from '../../src/ground/schema/migrations.ts';
import { grantRuntime } from '../../src/ground/schema/runtime-role.ts';
import { eventually, PATIENCE_MS } from './eventually.ts';
import { openPatiently } from './open-patiently.ts';
import { as, RUNTIME_ROLE, runtimePassword } from './runtime-role.ts';

const OBJECT_IN_USE = '55006';

async function ask<Row extends pg.QueryResultRow>(url: string, ...statements: string[]): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const statement of statements) ({ rows } = await client.query<Row>(statement));
    return rows;
  } finally {
    await client.end();
  }
}

/** The same database on another machine, or another one on the same. */
function at(url: string, place: { host?: string; port?: number; name?: string }): string {
  const address = new URL(url);
  if (place.host !== undefined) address.hostname = place.host;
  if (place.port !== undefined) address.port = String(place.port);
  if (place.name !== undefined) address.pathname = `/${place.name}`;
  return address.href;
}

/** URLs of all machines of the cluster, the coordinator's first; empty if the server is not a coordinator of Citus. */
export async function machinesOf(url: string): Promise<string[]> {
  const [has] = await ask<{ citus: boolean }>(url, "SELECT to_regclass('pg_dist_node') IS NOT NULL AS citus");
  if (has?.citus !== true) return [];
  const rows = await ask<{ nodename: string; nodeport: number }>(
    url,
    'SELECT nodename, nodeport FROM pg_dist_node ORDER BY groupid',
  );
  return rows.map(({ nodename, nodeport }) => at(url, { host: nodename, port: nodeport }));
}

/** Makes a database on one machine. The user must be a superuser, as for `CREATE EXTENSION`. */
export async function createOn(machine: string, name: string): Promise<void> {
  await ask(machine, `CREATE DATABASE ${name}`);
  await ask(at(machine, { name }), 'CREATE EXTENSION citus');
}

/** Makes a database on all machines and joins them. */
export async function createOnAll(machines: readonly string[], name: string): Promise<void> {
  for (const machine of machines) await createOn(machine, name);
  const [coordinator, ...workers] = machines.map((machine) => new URL(machine)) as [URL, ...URL[]];
  await ask(
    at(coordinator.href, { name }),
    `SELECT citus_set_coordinator_host('${coordinator.hostname}', ${coordinator.port})`,
    ...workers.map(({ hostname, port }) => `SELECT citus_add_node('${hostname}', ${port})`),
  );
}

/**
 * Copies a database that `createOnAll` and `spread` made, in a tenth of the time that both take. No other process may
 * copy the same database meanwhile.
 */
export async function copyOnAll(machines: readonly string[], template: string, name: string): Promise<void> {
  // Ends the sessions and workers of Citus, which prevent a copy and come back by themselves.
  const end = `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${template}'`;
  const copy = `CREATE DATABASE ${name} TEMPLATE ${template}`;
  await Promise.all(machines.map((machine) => untilUnused('a copy', () => ask(machine, end, copy))));
}

/** Does `work` on a database again until none of the sessions is in its way that come back or take long to end. */
function untilUnused(what: string, work: () => Promise<unknown>): Promise<unknown> {
  return eventually(what, () =>
    work().then(
      () => true,
      (error) => {
        if ((error as { code?: string }).code !== OBJECT_IN_USE) throw error;
        return false;
      },
    ),
  );
}

/** Migrates and distributes a database that `createOnAll` made. */
export async function spread(machines: readonly string[], name: string): Promise<void> {
  const connectionString = at(machines[0] as string, { name });
  const open = (url: string) => openPatiently(url, 1);
  const database = open(connectionString);
  const runtime = open(as(connectionString, RUNTIME_ROLE, runtimePassword(connectionString)));
  try {
    await migrate(database, machineClock);
    // As a start does before the tables are spread.
    await grantRuntime(database, RUNTIME_ROLE);
    await distributeFor(database, runtime);
    // On a busy machine a session of one machine with another one may take longer than a service waits for it.
    for (const role of [database, runtime])
      await role.query(`ALTER ROLE CURRENT_USER SET citus.node_connection_timeout = ${PATIENCE_MS}`);
  } finally {
    await Promise.all([database.end(), runtime.end()]);
  }
}

export async function dropOnAll(machines: readonly string[], name: string): Promise<void> {
  // A busy machine may take longer to end a session than the five seconds that the server waits.
  for (const machine of machines)
    await untilUnused('the end of a database', () =>
      ask(machine, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
    );
}
