/** The routes of the portal (D54): who may use them, what they tell, and that none reaches another partner. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SANDBOX_SCENARIOS } from '../../src/domain/application/sandbox.ts';
import { mayActAs, PARTNER_ROLES } from '../../src/domain/operator/authority.ts';
import { toPartnerId } from '../../src/domain/partner/credential.ts';
import { countRegistrations } from '../../src/subjects/business/uses/count.ts';
import type { Route } from '../../src/wire/operator/route.ts';
import { commandLine } from '../cli/harness.ts';
import type { Visitor } from '../support/console.ts';
import { sessionsOf } from '../support/database.ts';
import { startTestPortal } from '../support/portal.ts';
import { remac } from '../support/remac.ts';
import { anApplication, testService } from '../support/service.ts';

const store = await testService({}, { upkeep: false });
const { database } = store;
const { json } = commandLine(store);
const portal = await startTestPortal(store);
const NAME = 'Zoraida Quintanilla Personal';
const ID_NUMBER = '7700112233';

/** A partner with a key, an owner and a member. */
async function aPartner(name: string) {
  const id = toPartnerId((await json('partner', 'add', '--name', name, '--country', 'CO')).id);
  const key = await json('key', 'issue', '--partner', `${id}`, '--daily-cap', '50');
  const owner = await portal.enrolled(id, `${name}.owner`, 'owner');
  const member = await portal.enrolled(id, `${name}.member`, 'member');
  return { id, key, owner, member };
}
const [acme, rival] = [await aPartner('acme'), await aPartner('rival')];

/** A path of a route with ids of a partner; the body is one that its form takes. */
function filled({ path }: Route, of: { key: { id: number }; member: { id: number } }): string {
  const query = path === '/batches' ? `?key=${of.key.id}&environment=PRO` : '';
  return `/api${path.replace('{key}', `${of.key.id}`).replace('{id}', `${of.member.id}`)}${query}`;
}
const BODIES: Readonly<Record<string, unknown>> = {
  '/batches': { applications: [] },
  '/keys': { like: 1 },
  '/accounts': { login: 'somebody.new' },
};
const send = (visitor: Visitor, route: Route, of = acme) =>
  visitor.ask(
    route.method,
    filled(route, of),
    route.method === 'POST' ? (BODIES[route.path] ?? {}) : undefined,
  );
/** All routes of the portal but those of the way in, which `accounts.test.ts` walks. */
const ROUTES = portal.routes.filter(({ path }) => !/^\/(session|enrolment)/.test(path));

describe('each route of the portal', () => {
  it('is refused without a session, and below its role', async () => {
    assert.ok(ROUTES.length >= 12);
    const people = { owner: acme.owner, member: acme.member };
    for (const route of ROUTES) {
      assert.equal((await send(portal.visitor(), route)).status, 401, route.path);
      assert.ok((PARTNER_ROLES as readonly string[]).includes(route.access), route.path);
      const role = 'member';
      if (mayActAs(role, route.access as never)) continue;
      assert.equal((await send(await people[role].signIn(), route)).status, 403, route.path);
    }
  });

  it('that makes or ends a key or an account needs a sign-in of the last five minutes', async () => {
    const visitor = await acme.owner.signIn();
    await database.query("UPDATE operator_sessions SET proved_at = now() - interval '6 minutes'");
    await remac(store);
    for (const route of ROUTES.filter(
      ({ method, path }) => method !== 'GET' && path !== '/batches' && !path.endsWith('/sign-out'),
    )) {
      const { status, body } = await send(visitor, route);
      assert.deepEqual([status, body.needs], [403, 'sign-in'], route.path);
    }
  });

  it('knows no id of another partner, and changes nothing there', async () => {
    const visitor = await acme.owner.signIn();
    const facts = async () =>
      (
        await database.query(
          `SELECT (SELECT json_agg(k ORDER BY k.id) FROM api_keys k WHERE k.partner_id = $1)::text AS keys,
            (SELECT json_agg(o ORDER BY o.id) FROM operators o WHERE o.partner_id = $1)::text AS accounts`,
          [rival.id],
        )
      ).rows;
    const before = await facts();
    for (const route of ROUTES.filter(({ path }) => path.includes('{') || path === '/batches'))
      assert.equal((await send(visitor, route, rival)).status, 404, `${route.method} ${route.path}`);
    const like = await visitor.ask('POST', '/api/keys', { like: rival.key.id });
    assert.equal(like.status, 404);
    assert.deepEqual(await facts(), before);
    for (const wrong of ['0', '-1', 'x', '99999999999', `${acme.owner.id}'`])
      assert.equal(
        (await visitor.ask('POST', `/api/keys/${encodeURIComponent(wrong)}/revoke`, {})).status,
        404,
      );
  });
});

it('has the requests of the partner alone, also where one of another partner is asked for by its id', async () => {
  const ids = { [acme.id]: crypto.randomUUID(), [rival.id]: crypto.randomUUID() };
  for (const { id, key } of [acme, rival])
    await database.query(
      `INSERT INTO partner_requests (partner_id, request_id, api_key_id, at, method, route, status, ms, replayed, stored_ms)
      VALUES ($1, $2, $3, now(), 'POST', '/PRO', 200, 12, false, 0)`,
      [id, ids[id], key.id],
    );
  const visitor = await acme.member.signIn();
  const asked = async (query = '') =>
    (await visitor.ask('GET', `/api/requests${query}`)).body.requests.map(
      (one: { request_id: string }) => one.request_id,
    );
  assert.deepEqual(await asked(), [ids[acme.id]]);
  assert.deepEqual(await asked(`?request_id=${ids[acme.id]}`), [ids[acme.id]]);
  assert.deepEqual(await asked(`?request_id=${ids[rival.id]}`), []);
});

describe('keys', () => {
  it('an owner issues one that allows no more than the one it is like, shown once and recorded', async () => {
    const visitor = await acme.owner.signIn();
    const { status, body } = await visitor.ask('POST', '/api/keys', {
      like: acme.key.id,
      environment: 'DEV',
    });
    assert.deepEqual([status, body.daily_cap, body.environment], [200, 50, 'DEV']);
    assert.match(body.api_key, /^vtn_/);
    const shown = JSON.stringify((await visitor.ask('GET', '/api/keys')).body);
    assert.equal(shown.includes(body.api_key), false);
    const { rows } = await database.query(
      'SELECT actor, target FROM operator_events WHERE act = $1 ORDER BY id DESC LIMIT 1',
      ['key issue'],
    );
    assert.deepEqual(rows[0], { actor: `account ${acme.owner.id}`, target: `key ${body.id}` });
    const wider = await visitor.ask('POST', '/api/keys', { like: body.id, environment: 'PRO' });
    assert.equal(wider.status, 400, 'a key for one environment is like none for the other');
    const rotated = await visitor.ask('POST', `/api/keys/${body.id}/rotate`, { overlap: '0' });
    assert.deepEqual([rotated.status, rotated.body.daily_cap], [200, 50]);
    for (const times of [1, 2])
      assert.equal(
        (await visitor.ask('POST', `/api/keys/${rotated.body.id}/revoke`, {})).body.status,
        'revoked',
        `${times}`,
      );
    assert.equal((await visitor.ask('POST', '/api/keys', { like: rotated.body.id })).body.code, 'key_ended');
  });

  it('are 20 live ones at most, also where two are asked for at the same moment', async () => {
    const many = await aPartner('many');
    const visitor = await many.owner.signIn();
    const issue = () => visitor.ask('POST', '/api/keys', { like: many.key.id });
    for (let n = 1; n < 18; n += 1) assert.equal((await issue()).status, 200);
    const last = await Promise.all(Array.from({ length: 6 }, issue));
    assert.deepEqual(last.map(({ body }) => body.code ?? 'issued').toSorted(), [
      ...['issued', 'issued'],
      ...Array(4).fill('too_many'),
    ]);
  });
});

describe('accounts', () => {
  it('an owner adds, gives a new link to, signs out and ends those of the partner, but not its own', async () => {
    const visitor = await acme.owner.signIn();
    const added = await visitor.ask('POST', '/api/accounts', { login: 'newcomer' });
    assert.deepEqual([added.status, added.body.account.role], [200, 'member']);
    assert.ok(added.body.link.startsWith(`${portal.url()}/#token=`));
    const { id } = added.body.account;
    assert.equal((await visitor.ask('POST', '/api/accounts', { login: 'rival.owner' })).status, 400);
    const again = await visitor.ask('POST', `/api/accounts/${id}/reset-factors`, {});
    assert.notEqual(again.body.link, added.body.link);
    const other = await acme.member.signIn();
    assert.equal((await visitor.ask('POST', `/api/accounts/${acme.member.id}/sign-out`, {})).status, 200);
    assert.equal((await other.ask('GET', '/api/quota')).status, 401);
    assert.notEqual((await visitor.ask('DELETE', `/api/accounts/${id}`)).body.disabled_at, null);
    assert.equal((await visitor.ask('DELETE', `/api/accounts/${acme.owner.id}`)).status, 400);
    const { rows } = await database.query(
      "SELECT act FROM operator_events WHERE actor = $1 AND act LIKE 'partner account %' ORDER BY id",
      [`account ${acme.owner.id}`],
    );
    assert.deepEqual(
      rows.map(({ act }) => act.replace('partner account ', '')),
      ['add', 'reset-factors', 'sign-out', 'disable'],
    );
  });
});

describe('what a member reads', () => {
  it('is of its partner alone, adds up to what was sent, and has nothing personal', async () => {
    const post = (partner: typeof acme, applications: object[]) =>
      fetch(`${store.url}/PRO`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-API-Key': partner.key.api_key },
        body: JSON.stringify({ applications }),
      });
    const one = { ...anApplication(), name: NAME, id_number: ID_NUMBER, phone: '+573001112233' };
    const other = { ...anApplication(), name: NAME, id_number: ID_NUMBER, phone: '+573001112244' };
    const { results } = (await (await post(acme, [one, other, one])).json()) as {
      results: { id: number; status: string }[];
    };
    assert.equal(results.length, 2);
    await post(rival, [{ ...one, phone: '+573001112255' }]);
    const open = results.find(({ status }) => status !== 'rejected')!;
    await json(
      'application',
      'reject',
      `${open.id}`,
      '--reason',
      'no papers',
      '--reason-code',
      'documents_missing',
    );
    await countRegistrations({ database: sessionsOf(store), clock: store.clock });
    const visitor = await acme.member.signIn();
    const quota = (await visitor.ask('GET', '/api/quota')).body;
    assert.deepEqual(
      [quota.used_24h, quota.daily_cap, quota.remaining, quota.window],
      [2, 50, 48, 'rolling_24h'],
    );
    const { days } = (await visitor.ask('GET', '/api/days')).body;
    const sum = (name: string) =>
      days.reduce((all: number, day: Record<string, number>) => all + day[name]!, 0);
    assert.deepEqual([sum('registered'), sum('approved') + sum('in_review') + sum('rejected')], [2, 2]);
    const { events, next } = (await visitor.ask('GET', '/api/events')).body;
    assert.deepEqual(
      events.map(({ type, application_id }: Record<string, unknown>) => [type, application_id]),
      [['application.status_changed', open.id]],
    );
    assert.equal(next, null);
    const rivals = await rival.member.signIn();
    assert.deepEqual((await rivals.ask('GET', '/api/events')).body.events, []);
    assert.equal((await rivals.ask('GET', '/api/quota')).body.used_24h, 1);
    assert.equal((await visitor.ask('GET', '/api/deliveries')).body.endpoint, null);
    assert.deepEqual(
      (await visitor.ask('GET', '/api/sandbox')).body.scenarios.map(({ phone }: { phone: string }) => phone),
      SANDBOX_SCENARIOS.map(({ phone }) => phone),
    );
    for (const route of ROUTES.filter(({ method }) => method === 'GET')) {
      const { status, body } = await send(visitor, route);
      assert.equal(status, 200, route.path);
      assert.doesNotMatch(JSON.stringify(body), /Zoraida|7700112233|57300111|\bvtn_\w{20}/, route.path);
    }
  });

  it('pages of events go on without gaps, the newest first', async () => {
    await database.query(
      `INSERT INTO partner_event_totals AS t (partner_id, last) VALUES ($1, 7)
       ON CONFLICT (partner_id) DO UPDATE SET last = t.last + 7`,
      [rival.id],
    );
    await database.query(
      `INSERT INTO partner_events (partner_id, number, at, stored_ms, application_id, type)
       SELECT $1, n, now(), 0, 128 + n, 'application.interested' FROM generate_series(1, 7) AS n`,
      [rival.id],
    );
    const visitor = await rival.member.signIn();
    const seen: number[] = [];
    let cursor = '';
    for (let pages = 0; pages < 4; pages += 1) {
      const { body } = await visitor.ask('GET', `/api/events?limit=3${cursor}`);
      seen.push(...body.events.map((event: { application_id: number }) => event.application_id));
      if (body.next === null) break;
      cursor = `&cursor=${body.next}`;
    }
    assert.deepEqual(seen, [135, 134, 133, 132, 131, 130, 129]);
  });

  it('ends with the close of the partner: no route answers any more', async () => {
    const visitors = [await acme.owner.signIn(), await acme.member.signIn()];
    await json('partner', 'close', `${acme.id}`);
    for (const visitor of visitors)
      for (const route of ROUTES) {
        const { cookie } = visitor;
        assert.equal((await send(visitor, route)).status, 401, route.path);
        visitor.cookie = cookie;
      }
  });
});
