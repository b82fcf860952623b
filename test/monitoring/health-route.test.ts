/** What `GET /api/health` says (docs/monitoring.md, "ventanilla status"). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import { mayActAs, ROLES } from '../../src/domain/operator/authority.ts';
import { Health, healthRoutes } from '../../src/subjects/monitoring/routes/health.ts';
import { commandLine } from '../cli/harness.ts';
import { startTestConsole } from '../support/console.ts';
import { sessionsOf, testDatabase } from '../support/database.ts';

const store = await testDatabase();
const view = {
  database: sessionsOf(store),
  place: 'the store',
  schema: async () => ({ fault: null, pending: [] }),
  roleFault: async () => null,
};
const { run } = commandLine(store);

describe('GET /api/health', async () => {
  const console_ = await startTestConsole(store, healthRoutes(view));

  it('D48: is for admins', async () => {
    for (const role of ROLES) {
      const visitor = await (await console_.enrolled(`${role}.one`, role)).signIn();
      const { status } = await visitor.ask('GET', '/api/health');
      assert.equal(status, mayActAs(role, 'admin') ? 200 : 403, role);
    }
    assert.equal((await console_.visitor().ask('GET', '/api/health')).status, 401);
  });

  it('has the members of `status --json`, and names what is wrong', async () => {
    const admin = await (await console_.enrolled('ana', 'admin')).signIn();
    const { status, body } = await admin.ask('GET', '/api/health');
    assert.equal(status, 200);
    assert.ok(Value.Check(Health, body), JSON.stringify(body).slice(0, 500));
    const told = JSON.parse((await run('status', '--json')).out);
    assert.deepEqual(Object.keys(body), Object.keys(told));
    assert.deepEqual(body.troubles, told.troubles);
    await store.database.query("UPDATE sender SET paused_at = now(), paused_reason = 'x'");
    const paused = (await admin.ask('GET', '/api/health')).body;
    assert.equal(paused.ok, false);
    assert.ok(paused.troubles.some(({ code }: { code: string }) => code === 'sender_paused'));
  });
});

it('says which tables do not fit, without the numbers', async () => {
  const console_ = await startTestConsole(
    store,
    healthRoutes({ ...view, schema: async () => ({ fault: 'another version', pending: [] }) }),
  );
  const admin = await (await console_.enrolled('eva', 'admin')).signIn();
  const { body } = await admin.ask('GET', '/api/health');
  assert.deepEqual(
    [body.ok, body.troubles, body.upkeep],
    [false, [{ code: 'schema_unfit', text: 'another version' }], undefined],
  );
});
