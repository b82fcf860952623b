/** Who may use which route of the operator API, and what it says of itself: the test walks the table of routes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Type } from 'typebox';
import { mayActAs, ROLES } from '../../src/domain/operator/authority.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { BROWSER_LIMITS, browserApi } from '../../src/listeners/browser/browser-api.ts';
import { type Route, route } from '../../src/wire/operator/route.ts';
import { startTestConsole, type Visitor } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { remac } from '../support/remac.ts';
import { TestClock } from '../support/test-clock.ts';

const store = await testDatabase();
const { database } = store;
/** A route of each role, and one that fails. */
const SAMPLES: Route[] = [
  ...ROLES.map((access) =>
    route({
      ...{ method: 'POST', path: `/samples/${access}/{id}`, access, summary: 'A sample.' },
      body: Type.Object({ note: Type.String({ maxLength: 5 }) }, { additionalProperties: false }),
      query: Type.Object(
        { page: Type.Optional(Type.String({ pattern: '^[0-9]+$' })) },
        { additionalProperties: false },
      ),
      reply: Type.Object({ id: Type.String() }),
      run: async ({ params }) => ({ body: { id: params.id ?? '' } }),
    }),
  ),
  route({
    ...{
      method: 'GET',
      path: '/samples/fresh',
      access: 'viewer',
      summary: 'Needs a new sign-in.',
      needsFresh: true,
    },
    reply: Type.Object({}),
    run: async () => ({ body: {} }),
  }),
  route({
    ...{ method: 'POST', path: '/samples/told', access: 'viewer', summary: 'Has all of them.' },
    ...{ headers: ['If-Match'], conflicts: ['held'], hasTag: true },
    body: Type.Object({}),
    reply: Type.Object({}),
    run: async () => ({ body: {}, tag: '1' }),
  }),
  route({
    ...{ method: 'POST', path: '/samples/large', access: 'reviewer', summary: 'Takes a large body.' },
    maxBodyBytes: 200_000,
    body: Type.Object({ note: Type.String() }),
    reply: Type.Object({ length: Type.Integer() }),
    run: async ({ body }) => ({ body: { length: body.note.length } }),
  }),
  route({
    ...{ method: 'GET', path: '/samples/address', access: 'open', summary: 'Tells the address.' },
    reply: Type.Object({ address: Type.String() }),
    run: async ({ address }) => ({ body: { address } }),
  }),
  route({
    ...{ method: 'GET', path: '/samples/broken', access: 'open', summary: 'Fails.' },
    reply: Type.Object({}),
    run: async () => {
      throw new Error('the secret text of a failure');
    },
  }),
];
const desk = await startTestConsole(store, SAMPLES);
const people = Object.fromEntries(
  await Promise.all(ROLES.map(async (role) => [role, await desk.enrolled(`${role}.one`, role)] as const)),
);
const sample = (visitor: Visitor, role: string, body: unknown = { note: 'ok' }, query = '') =>
  visitor.ask('POST', `/api/samples/${role}/7${query}`, body);

interface Operation {
  readonly security: readonly unknown[];
  readonly parameters: readonly { readonly name: string }[];
}

describe('each route', () => {
  it('of a role answers operators of this role and higher ones alone', async () => {
    for (const needed of ROLES) {
      for (const role of ROLES) {
        const may = mayActAs(role, needed);
        // What a route refuses by role, it refuses before it looks at the body.
        const sent = may ? { note: 'ok' } : {};
        const { status, body } = await sample(await people[role]!.signIn(), needed, sent);
        const error = may ? undefined : `this needs the role ${needed}`;
        assert.deepEqual([status, body.error], [may ? 200 : 403, error], `${role} at a route of ${needed}`);
      }
    }
  });

  it('but the open ones answers 401 without a whole session: none, half, ended, and of a disabled operator', async () => {
    const document = (await desk.visitor().ask('GET', '/api/openapi.json')).body;
    const half = desk.visitor();
    const gone = await desk.enrolled('gone', 'admin');
    const [ended, disabled] = [await people.admin!.signIn(), await gone.signIn()];
    const halfOf = await people.admin!.signIn();
    half.cookie = halfOf.cookie;
    const idOf = (visitor: Visitor) =>
      Buffer.from(visitor.cookie!.split('=')[1]!.split('.')[0]!, 'base64url');
    await database.query('UPDATE operator_sessions SET is_whole = false WHERE id = $1', [idOf(half)]);
    await remac(store);
    await database.query("UPDATE operator_sessions SET seen_at = now() - interval '1 hour' WHERE id = $1", [
      idOf(ended),
    ]);
    await remac(store);
    await database.query('UPDATE operators SET disabled_at = now() WHERE id = $1', [gone.id]);
    await remac(store);
    let walked = 0;
    for (const [path, operations] of Object.entries<Record<string, Operation>>(document.paths)) {
      for (const [method, { security }] of Object.entries(operations)) {
        if (security.length === 0) continue;
        for (const [who, visitor] of Object.entries({ nobody: desk.visitor(), half, ended, disabled })) {
          if (who === 'half' && path === '/api/session/totp') continue;
          const { cookie } = visitor;
          const { status } = await visitor.ask(
            method.toUpperCase(),
            path.replaceAll(/\{\w+\}/g, '1'),
            method === 'get' ? undefined : {},
          );
          assert.equal(status, 401, `${who} at ${method} ${path}`);
          visitor.cookie = cookie;
        }
        walked += 1;
      }
    }
    assert.ok(walked >= 5);
  });

  it('refuses a tab that shows another operator than that of the session, also at the open ones (D48)', async () => {
    const { viewer, admin } = people;
    const visitor = await viewer!.signIn();
    const as = (id: string) =>
      visitor.ask('POST', '/api/samples/viewer/7', { note: 'ok' }, { 'Operator-Id': id });
    assert.equal((await as(`${viewer!.id}`)).status, 200);
    for (const other of [`${admin!.id}`, '', `${viewer!.id},${viewer!.id}`, 'x']) {
      const { status, body } = await as(other);
      assert.deepEqual([status, body.error], [401, 'the session is of another operator'], other);
    }
    const { paths } = (await visitor.ask('GET', '/api/openapi.json')).body;
    const { cookie } = visitor;
    for (const [path, operations] of Object.entries<Record<string, Operation>>(paths)) {
      for (const [method, { parameters }] of Object.entries(operations)) {
        const { status } = await visitor.ask(
          method.toUpperCase(),
          path.replaceAll(/\{\w+\}/g, '1'),
          method === 'get' ? undefined : {},
          { 'Operator-Id': `${admin!.id}` },
        );
        assert.equal(status, 401, `${method} ${path}`);
        assert.ok(
          parameters.some(({ name }) => name === 'Operator-Id'),
          `${method} ${path}`,
        );
        assert.equal(visitor.cookie, cookie, `${method} ${path}`);
      }
    }
    assert.equal((await visitor.ask('GET', '/api/session')).body.login, viewer!.login);
  });

  it('lets a tab sign out whose session has ended', async () => {
    const { status } = await desk.visitor().ask('DELETE', '/api/session', {}, { 'Operator-Id': '1' });
    assert.equal(status, 200);
  });

  it('names the field that breaks its form, and repeats nothing of the value', async () => {
    const admin = await people.admin!.signIn();
    for (const [body, query, name] of [
      [{ note: 'too long' }, '', /^body: note /],
      [{ note: 'ok', more: 'hidden' }, '', /^body: more is no field/],
      [['hidden'], '', /^the body /],
      [{ note: 'ok' }, '?page=hidden', /^query: page /],
    ] as const) {
      const { status, body: answer } = await sample(admin, 'viewer', body, query);
      assert.equal(status, 400);
      assert.match(answer.error, name);
      assert.doesNotMatch(answer.error, /too long|hidden/);
    }
  });

  it('gets the address of the connection, by which tries are counted', async () => {
    const { body } = await desk.visitor().ask('GET', '/api/samples/address');
    assert.deepEqual(body, { address: '127.0.0.1' });
    const app = browserApi({
      ...{
        whose: 'operator' as const,
        database,
        vault: store.vault,
        clock: machineClock,
        routes: SAMPLES,
        origin: () => desk.url(),
        page: Promise.resolve(null),
        logFailure: () => {},
      },
    });
    for (const [remoteAddress, address] of [
      ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
      ['2001:db8:1:2:7::8', '2001:db8:1:2'],
      ['192.0.2.1', '192.0.2.1'],
    ] as const)
      assert.deepEqual((await app.inject({ url: '/api/samples/address', remoteAddress })).json(), {
        address,
      });
    await app.close();
  });

  it('answers 500 at the end of its time where a route never does', async () => {
    const hangs = route({
      ...{ method: 'GET', path: '/samples/hangs', access: 'open', summary: 'Never answers.' },
      ...{ reply: Type.Object({}), run: () => new Promise<never>(() => {}) },
    });
    const clock = new TestClock();
    const { vault } = store;
    const page = Promise.resolve(null);
    const api = {
      whose: 'operator' as const,
      database,
      vault,
      clock,
      routes: [hangs],
      origin: () => desk.url(),
      page,
    };
    const app = browserApi({ ...api, logFailure: () => {} });
    let isAnswered = false;
    const asked = app.inject({ url: '/api/samples/hangs' }).finally(() => {
      isAnswered = true;
    });
    await clock.untilTimer(BROWSER_LIMITS.answerWithinMs);
    await clock.advance(BROWSER_LIMITS.answerWithinMs - 1);
    assert.equal(isAnswered, false);
    await clock.advance(1);
    const answer = await asked;
    assert.deepEqual([answer.statusCode, answer.json()], [500, { error: 'temporary internal error; retry' }]);
    await app.close();
  });

  it('takes JSON alone', async () => {
    const send = (type: string, body: string) =>
      fetch(`${desk.url()}/api/session`, { method: 'POST', headers: { 'Content-Type': type }, body });
    assert.equal((await send('text/plain', '{}')).status, 415);
    assert.equal((await send('application/x-www-form-urlencoded', 'login=ana')).status, 415);
    assert.equal((await send('application/json', '{')).status, 400);
    assert.equal((await send('application/json', JSON.stringify({ login: 'x'.repeat(70_000) }))).status, 413);
  });

  it('that takes large bodies reads them for those who may use it alone; the others stay at 64 KiB', async () => {
    const body = { note: 'x'.repeat(150_000) };
    const ask = (visitor: Visitor, path: string, more = body) =>
      visitor.ask('POST', `/api/samples/${path}`, more);
    const [reviewer, viewer] = [await people.reviewer!.signIn(), await people.viewer!.signIn()];
    const { status, body: reply } = await ask(reviewer, 'large');
    assert.deepEqual([status, reply], [200, { length: 150_000 }]);
    assert.equal((await ask(viewer, 'large')).status, 403);
    assert.equal((await ask(desk.visitor(), 'large')).status, 401);
    assert.equal((await ask(reviewer, 'reviewer/7')).status, 413);
    const over = await ask(reviewer, 'large', { note: 'x'.repeat(200_001) });
    assert.deepEqual([over.status, over.body.error], [413, 'the body is over 200000 bytes']);
    // What one body took is there for the next ones.
    for (let times = 0; times < 300; times += 1) assert.equal((await ask(reviewer, 'large')).status, 200);
  });

  it('that needs a new sign-in refuses one of six minutes ago', async () => {
    const viewer = await people.viewer!.signIn();
    assert.equal((await viewer.ask('GET', '/api/samples/fresh')).status, 200);
    await database.query("UPDATE operator_sessions SET proved_at = now() - interval '6 minutes'");
    await remac(store);
    const { status, body } = await viewer.ask('GET', '/api/samples/fresh');
    assert.equal(status, 403);
    assert.match(body.error, /sign in again/);
  });

  it('answers an unknown failure with the constant 500', async () => {
    const { status, body } = await desk.visitor().ask('GET', '/api/samples/broken');
    assert.deepEqual([status, body], [500, { error: 'temporary internal error; retry' }]);
    assert.equal(desk.failures.length, 1);
  });
});

describe('the document', () => {
  it('is open, and marks open routes with the empty security', async () => {
    const { status, body } = await desk.visitor().ask('GET', '/api/openapi.json');
    assert.equal(status, 200);
    assert.equal(body.openapi, '3.1.0');
    assert.deepEqual(body.paths['/api/session'].post.security, []);
    assert.notDeepEqual(body.paths['/api/session'].get.security, []);
    assert.equal(body.paths['/api/samples/admin/{id}'].post['x-role'], 'admin');
    assert.deepEqual(
      body.paths['/api/samples/admin/{id}'].post.parameters.map(({ name }: { name: string }) => name),
      ['id', 'page', 'Operator-Id', 'Operator-Active'],
    );
  });

  it('tells the failures of each route by its table, and who did what when of a 412', async () => {
    const { paths } = (await desk.visitor().ask('GET', '/api/openapi.json')).body;
    const { responses } = paths['/api/samples/told'].post;
    assert.deepEqual(Object.keys(responses), [
      ...['200', '304', '400', '401', '403', '409', '412', '413', '415', '428', '429', '500'],
    ]);
    assert.deepEqual(Object.keys(responses['412'].content['application/json'].schema.properties), [
      ...['error', 'needs', 'by', 'act', 'at'],
    ]);
    assert.deepEqual(responses['409'].content['application/json'].schema.properties.code.enum, ['held']);
    assert.ok('ETag' in responses['200'].headers);
    const { description, 'x-needs-fresh-sign-in': isMarked } = paths['/api/samples/fresh'].get;
    assert.deepEqual([isMarked, /^Needs a sign-in of the last five minutes/.test(description)], [true, true]);
    assert.deepEqual(Object.keys(paths['/api/samples/fresh'].get.responses), [
      ...['200', '400', '401', '403', '429', '500'],
    ]);
  });
});
