/** The embedded server has two roles as well: the superuser's cluster is used by the role of the service. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { makeServiceRole, SERVICE_ROLE } from '../../src/ground/embedded/join.ts';
import { type EmbeddedServer, openEmbedded } from '../../src/ground/embedded/server.ts';
import { oneQuery } from '../support/one-query.ts';
import { copyCluster } from '../support/prepared-cluster.ts';
import { serverFolder } from '../support/server-folder.ts';

const root = mkdtempSync(join(serverFolder(), 'ventanilla-service-role-'));
const servers: EmbeddedServer[] = [];
after(async () => {
  for (const server of servers) await server.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 10 });
});

async function open(dataDir: string): Promise<EmbeddedServer> {
  const server = await openEmbedded({ dataDir, clock: machineClock });
  servers.push(server);
  return server;
}

const passwordIn = (dataDir: string) =>
  readFileSync(join(dataDir, 'postgres.service-password'), 'utf8').trim();

test('the role of the service is no superuser, and its session holds the server', async () => {
  const dataDir = join(root, 'new');
  const { service, superuser } = await open(dataDir);
  assert.equal(service.user, SERVICE_ROLE);
  assert.equal(service.password, passwordIn(dataDir));
  assert.notEqual(service.password, superuser.password);
  assert.equal(statSync(join(dataDir, 'postgres.service-password')).mode & 0o777, 0o600);
  const rights = 'rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls';
  assert.deepEqual(
    await oneQuery(service, `SELECT ${rights} AS more FROM pg_roles WHERE rolname = current_user`),
    [{ more: false }],
  );
  const sessions = `SELECT usename::text AS role FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;
  assert.deepEqual(await oneQuery(superuser, sessions), [{ role: SERVICE_ROLE }]);
  await assert.rejects(oneQuery(service, 'CREATE TABLE mine ()'), { code: '42501' });
});

test('a store of the superuser alone gets the role at the next start', async () => {
  const dataDir = join(root, 'older');
  copyCluster(dataDir);
  const first = await open(dataDir);
  await oneQuery(first.superuser, 'CREATE TABLE kept AS SELECT 42 AS n');
  await oneQuery(first.superuser, `DROP OWNED BY ${SERVICE_ROLE}; DROP ROLE ${SERVICE_ROLE}`);
  await first.close();
  rmSync(join(dataDir, 'postgres.service-password'));
  const second = await open(dataDir);
  assert.deepEqual(await oneQuery(second.service, 'SELECT current_user::text AS role'), [
    { role: SERVICE_ROLE },
  ]);
  assert.deepEqual(await oneQuery(second.superuser, 'SELECT n FROM kept'), [{ n: 42 }]);
  await second.close();
});

test('a lost password is replaced, and what the role may do stays', async () => {
  const dataDir = join(root, 'lost');
  copyCluster(dataDir);
  const first = await open(dataDir);
  await oneQuery(
    first.superuser,
    `CREATE TABLE shown AS SELECT 42 AS n; GRANT SELECT ON shown TO ${SERVICE_ROLE}`,
  );
  await first.close();
  rmSync(join(dataDir, 'postgres.service-password'));
  const second = await open(dataDir);
  assert.notEqual(second.service.password, first.service.password);
  assert.deepEqual(await oneQuery(second.service, 'SELECT n FROM shown'), [{ n: 42 }]);
  await second.close();
});

test('several processes may make the role at once', async () => {
  const { superuser, service } = await open(join(root, 'new'));
  await oneQuery(superuser, `DROP OWNED BY ${SERVICE_ROLE}; DROP ROLE ${SERVICE_ROLE}`);
  await Promise.all([1, 2, 3, 4].map(() => makeServiceRole(superuser, service.password, machineClock)));
  assert.deepEqual(await oneQuery(service, 'SELECT current_user::text AS role'), [{ role: SERVICE_ROLE }]);
});
