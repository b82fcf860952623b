/** What admins see of the operators, and how they end a session (D48; docs/operators.md, "The operator API"). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mayActAs, ROLES } from '../../src/domain/operator/authority.ts';
import { operatorRoutes } from '../../src/subjects/operators/routes/operators.ts';
import { PASSWORD, startTestConsole, type Visitor } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';

const store = await testDatabase();
const proxies = ['127.0.0.1'];
const console_ = await startTestConsole(store, operatorRoutes(store), undefined, null, null, proxies);
const admin = await (await console_.enrolled('ana', 'admin')).signIn();

interface Session {
  readonly id: string;
  readonly is_own: boolean;
  readonly is_whole: boolean;
  readonly network: string | null;
  readonly browser: string | null;
}
interface Shown {
  readonly id: number;
  readonly login: string;
  readonly sessions: readonly Session[];
}
const operators = async (): Promise<Shown[]> => (await admin.ask('GET', '/api/operators')).body.operators;
const sessionsOf = async (login: string) =>
  (await operators()).find((one) => one.login === login)?.sessions ?? [];
const acts = async (): Promise<[actor: string, target: string][]> =>
  (
    await store.database.query(
      "SELECT actor, target FROM operator_events WHERE act = 'operator end-session' ORDER BY id",
    )
  ).rows.map(({ actor, target }) => [actor, target]);

describe('GET /api/operators', () => {
  it('D48: is for admins, as the end of a session is', async () => {
    for (const role of ROLES) {
      const visitor = await (await console_.enrolled(`${role}.one`, role)).signIn();
      const isAdmin = mayActAs(role, 'admin');
      assert.equal((await visitor.ask('GET', '/api/operators')).status, isAdmin ? 200 : 403, role);
      const end = await visitor.ask('DELETE', `/api/operators/1/sessions/${'0'.repeat(16)}`);
      assert.equal(end.status, isAdmin ? 404 : 403, role);
    }
    assert.equal((await console_.visitor().ask('GET', '/api/operators')).status, 401);
  });

  it('D48: shows each session that is not over, which one asks, and no part of a cookie', async () => {
    const bea = await console_.enrolled('bea', 'reviewer');
    const browsers = [await bea.signIn(), await bea.signIn()];
    const text = JSON.stringify(await operators());
    for (const { cookie } of [admin, ...browsers])
      for (const part of cookie!.split(/[^A-Za-z0-9_-]/).filter(({ length }) => length >= 16))
        assert.ok(!text.includes(part));
    assert.equal((await sessionsOf('bea')).length, 2);
    assert.deepEqual(
      (await sessionsOf('ana')).map(({ is_own, is_whole }) => [is_own, is_whole]),
      [[true, true]],
    );
    await store.database.query(
      `UPDATE operator_sessions SET seen_at = seen_at - interval '31 minutes'
       WHERE operator_id = (SELECT id FROM operators WHERE login = 'bea')`,
    );
    assert.deepEqual(await sessionsOf('bea'), []);
  });
});

describe('the end of a session', () => {
  it('D48: ends that session alone, once, and is recorded', async () => {
    const eva = await console_.enrolled('eva', 'reviewer');
    const [first, second] = [await eva.signIn(), await eva.signIn()];
    const { id } = (await operators()).find(({ login }) => login === 'eva')!;
    const [newest, oldest] = await sessionsOf('eva');
    const path = `/api/operators/${id}/sessions/${oldest!.id}`;
    const before = (await acts()).length;
    const [one, other] = await Promise.all([admin.ask('DELETE', path), admin.ask('DELETE', path)]);
    assert.deepEqual([one.status, other.status].sort(), [200, 404]);
    assert.equal((await first.ask('GET', '/api/session')).status, 401);
    assert.equal((await second.ask('GET', '/api/session')).status, 200);
    assert.deepEqual(
      (await sessionsOf('eva')).map((session) => session.id),
      [newest!.id],
    );
    assert.deepEqual(
      (await acts()).slice(before).map(([, target]) => target),
      [`operator ${id}`],
    );
  });

  it('D48: the session of another operator, or none, is not found and nothing is recorded', async () => {
    const { id } = (await operators()).find(({ login }) => login === 'ana')!;
    const [own] = await sessionsOf('ana');
    const before = await acts();
    for (const path of [
      `${id + 1}/sessions/${own!.id}`,
      `${id}/sessions/${'0'.repeat(16)}`,
      `${id}/sessions/%27`,
      `x/sessions/${own!.id}`,
      `0/sessions/${own!.id}`,
      `99999999999/sessions/${own!.id}`,
    ])
      assert.equal((await admin.ask('DELETE', `/api/operators/${path}`)).status, 404, path);
    assert.deepEqual(await acts(), before);
    assert.equal((await admin.ask('GET', '/api/session')).status, 200);
  });
});

describe('the own sessions', () => {
  const own = async (visitor: Visitor): Promise<Session[]> =>
    (await visitor.ask('GET', '/api/sessions')).body.sessions;

  it('are for every role: each sees and ends its own alone', async () => {
    const [vera, rob] = [
      await console_.enrolled('vera', 'viewer'),
      await console_.enrolled('rob', 'reviewer'),
    ];
    const [first, second, other] = [await vera.signIn(), await vera.signIn(), await rob.signIn()];
    const sessions = await own(first);
    assert.deepEqual(sessions.map(({ is_own }) => is_own).toSorted(), [false, true]);
    const end = (visitor: Visitor, { id }: Session) => visitor.ask('DELETE', `/api/sessions/${id}`);
    const [stranger] = await own(other);
    assert.equal((await end(first, stranger!)).status, 404);
    assert.equal((await end(other, sessions[0]!)).status, 404);
    assert.equal((await end(first, sessions.find(({ is_own }) => !is_own)!)).status, 200);
    assert.equal((await second.ask('GET', '/api/session')).status, 401);
    assert.equal((await own(first)).length, 1);
    assert.deepEqual((await acts()).at(-1), [`operator ${vera.id}`, `operator ${vera.id}`]);
    assert.equal((await console_.visitor().ask('GET', '/api/sessions')).status, 401);
  });

  it('tell network and browser of the last proof, and nothing that a client made up', async () => {
    const eve = await console_.enrolled('eve', 'viewer');
    const visitor = console_.visitor();
    const from = (address: string, agent: string) => ({ 'X-Forwarded-For': address, 'User-Agent': agent });
    const hostile = `<script>alert(1)</script> Firefox/1 \u00ad ${'x'.repeat(400)}`;
    const password = { login: 'eve', password: PASSWORD };
    await visitor.ask('POST', '/api/session', password, from('198.51.100.7', 'curl/8'));
    const signedIn = await visitor.ask(
      'POST',
      '/api/session/totp',
      { code: eve.recoveryCodes[0] },
      from('6.6.6.6, 203.0.113.77', hostile),
    );
    assert.equal(signedIn.status, 200);
    const [session] = await own(visitor);
    assert.deepEqual([session!.network, session!.browser], ['203.0.113.0/24', 'Firefox']);
    // For the eye alone: who writes the database changes no right, and puts no text before operators.
    await store.database.query(
      "UPDATE operator_sessions SET network = '<b>', browser = 'Firefox<b>' WHERE operator_id = $1",
      [eve.id],
    );
    const [changed] = await own(visitor);
    assert.deepEqual([changed!.network, changed!.browser], [null, null]);
  });
});
