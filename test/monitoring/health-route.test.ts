/** What `GET /api/health` says (docs/monitoring.md, "ventanilla status"). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import { mayActAs, ROLES } from '../../src/domain/operator/authority.ts';
import { Health, HealthHistory, healthRoutes } from '../../src/subjects/monitoring/routes/health.ts';
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
  const console_ = await startTestConsole(store, healthRoutes(view, store.database));

  it('D48: is for admins', async () => {
    const paths = ['/api/health', '/api/health/history'];
    for (const role of ROLES) {
      const visitor = await (await console_.enrolled(`${role}.one`, role)).signIn();
      for (const path of paths) {
        const { status } = await visitor.ask('GET', path);
        assert.equal(status, mayActAs(role, 'admin') ? 200 : 403, `${role} ${path}`);
      }
    }
    for (const path of paths) assert.equal((await console_.visitor().ask('GET', path)).status, 401);
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
    const trouble = paused.troubles.find(({ code }: { code: string }) => code === 'sender_paused');
    assert.ok(Date.parse(trouble.since) > 0);
  });

  it('has the troubles that ended, in pages, without what still stands', async () => {
    const admin = await (await console_.enrolled('lea', 'admin')).signIn();
    await store.database.query(
      `INSERT INTO troubles (code, text, began_at, ended_at, times, ended_ms)
      VALUES ('pushes_late', 'one', '2026-11-01T10:00:00Z', '2026-11-01T10:30:00Z', 3, 0),
        ('messages_late', 'two', '2026-11-02T10:00:00Z', '2026-11-02T10:00:15Z', 1, 0),
        ('sender_paused', 'three', '2026-11-03T10:00:00Z', NULL, 1, NULL)`,
    );
    const page = async (query: string) => (await admin.ask('GET', `/api/health/history?${query}`)).body;
    const first = await page('limit=1');
    assert.ok(Value.Check(HealthHistory, first), JSON.stringify(first));
    assert.deepEqual(
      first.troubles.map(({ text }: { text: string }) => text),
      ['two'],
    );
    const last = await page(`limit=1&cursor=${first.next}`);
    const at = (time: string) => new Date(time).toISOString();
    assert.deepEqual(
      last.troubles.map((one: { began_at: string; ended_at: string }) => ({
        ...one,
        began_at: at(one.began_at),
        ended_at: at(one.ended_at),
      })),
      [
        {
          ...{ code: 'pushes_late', text: 'one', times: 3 },
          ...{ began_at: '2026-11-01T10:00:00.000Z', ended_at: '2026-11-01T10:30:00.000Z' },
        },
      ],
    );
    assert.equal(last.next, null);
    for (const wrong of ['limit=101', 'cursor=x', 'cursor=0'])
      assert.equal((await admin.ask('GET', `/api/health/history?${wrong}`)).status, 400, wrong);
  });
});

it('says which tables do not fit, without the numbers', async () => {
  const console_ = await startTestConsole(
    store,
    healthRoutes(
      { ...view, schema: async () => ({ fault: 'another version', pending: [] }) },
      store.database,
    ),
  );
  const admin = await (await console_.enrolled('eva', 'admin')).signIn();
  const { body } = await admin.ask('GET', '/api/health');
  assert.deepEqual(
    [body.ok, body.troubles, body.upkeep],
    [false, [{ code: 'schema_unfit', text: 'another version', since: null }], undefined],
  );
});
