/** What admins do with the endpoint of a partner at the console (D41, D48; docs/operators.md, "The endpoint"). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toPartnerId } from '../../../src/domain/partner/credential.ts';
import { eventIdOf } from '../../../src/seal/event-ids.ts';
import { endpointRoutes } from '../../../src/subjects/events/push/routes/endpoint.ts';
import { forgetAttempts, readAttempts } from '../../../src/subjects/events/push/sql/attempts.ts';
import { claimPushes } from '../../../src/subjects/events/push/sql/claim.ts';
import { recordPushes } from '../../../src/subjects/events/push/sql/record.ts';
import { commandLine } from '../../cli/harness.ts';
import { startTestConsole } from '../../support/console.ts';
import { testDatabase } from '../../support/database.ts';
import { startEndpointPeer } from '../../support/endpoint-peer.ts';
import { eventually } from '../../support/eventually.ts';
import { addEvents, pushContext, runPusher, setEndpoint } from '../../support/pushes.ts';

const store = await testDatabase();
const peer = await startEndpointPeer();
const ROUTES = endpointRoutes({ ...store, database: store.runtime }, new Set([peer.host]));
const site = await startTestConsole(store, ROUTES);
const admin = await (await site.enrolled('ana', 'admin')).signIn();
const { json } = commandLine(store);
const { id } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
interface Waiting {
  readonly application_id: number;
  readonly attempts: number;
  readonly is_behind: boolean;
  readonly last_failure: string | null;
}
interface Made {
  readonly application_id: number;
  readonly attempt: number;
  readonly result: string;
  readonly failure: string | null;
  readonly type: string;
}
const ask = (method: string, path: string, body?: object) =>
  admin.ask(method, `/api/partners/${id}${path}`, body);

it('D48: each route is for admins', async () => {
  const visitor = await (await site.enrolled('rosa', 'reviewer')).signIn();
  for (const { method, path } of ROUTES) {
    const url = `/api${path.replace('{id}', `${id}`)}`;
    assert.equal((await visitor.ask(method, url, method === 'GET' ? undefined : {})).status, 403, path);
  }
});

it('D41: an endpoint is set, tested, rotated, resent to and disabled, and its secret is shown once', async () => {
  assert.equal((await ask('GET', '/endpoint')).body.code, 'no_endpoint');
  const refused = await ask('POST', '/endpoint', { url: 'http://example.com/x' });
  assert.equal(refused.status, 400);
  const { body: set } = await ask('POST', '/endpoint', { url: peer.url });
  assert.match(set.secret, /^whsec_/);
  assert.equal((await ask('POST', '/endpoint', { url: peer.url })).body.secret, null);
  const { body: shown } = await ask('GET', '/endpoint');
  assert.deepEqual(
    [shown.status, shown.url, JSON.stringify(shown).includes('whsec_')],
    ['enabled', peer.url, false],
  );
  peer.answer = () => 500;
  const { took_ms, event_id, ...failed } = (await ask('POST', '/endpoint/test', {})).body;
  assert.deepEqual(failed, { delivered: false, status: null, failure: 'status_500' });
  peer.answer = () => 204;
  assert.equal((await ask('POST', '/endpoint/test', {})).body.status, 204);
  assert.deepEqual(peer.received.at(-1)?.event?.type, 'endpoint.test');
  const { body: rotated } = await ask('POST', '/endpoint/rotate', {});
  assert.notEqual(rotated.secret, set.secret);
  await addEvents(store, toPartnerId(id), [1, 2, 3]);
  assert.equal((await ask('GET', '/deliveries')).body.pushes.length, 3);
  await store.database.query('DELETE FROM pushes');
  const { body: resent } = await ask('POST', '/endpoint/resend', { since: '2020-01-01T00:00:00Z' });
  assert.deepEqual(resent, { queued: 3 });
  assert.equal((await ask('POST', '/endpoint/resend', {})).status, 400);
  assert.equal((await ask('POST', '/endpoint/disable', {})).body.status, 'disabled');
  assert.equal(
    (await ask('POST', '/endpoint/resend', { since: '2020-01-01T00:00:00Z' })).body.code,
    'endpoint_disabled',
  );
  const { rows } = await store.database.query(
    'SELECT act FROM operator_events WHERE actor LIKE $1 ORDER BY id',
    ['operator %'],
  );
  const acts = rows.map(({ act }) => act);
  assert.deepEqual(
    acts.filter((act) => act.startsWith('partner endpoint')),
    [
      ...['partner endpoint set', 'partner endpoint set', 'partner endpoint test', 'partner endpoint test'],
      ...['partner endpoint rotate', 'partner endpoint disable'],
    ],
  );
});

it('D41: an operator sees why a partner did not get an event: what waits, each attempt and its reason', async () => {
  const { id: partner } = await json('partner', 'add', '--name', 'Dos', '--country', 'CO');
  const partnerId = toPartnerId(partner);
  const deliveries = async (eventId?: string) =>
    (
      await admin.ask(
        'GET',
        `/api/partners/${partner}/deliveries${eventId === undefined ? '' : `?event_id=${encodeURIComponent(eventId)}`}`,
      )
    ).body;
  assert.deepEqual(await deliveries(), { endpoint: null, pushes: [], attempts: [] });
  await setEndpoint(store, partnerId, peer);
  await addEvents(store, partnerId, [11, 11, 12, 13]);
  peer.answer = ({ event }) => {
    if (event?.data.id === 11) return 503;
    if (event?.data.id === 13) return (response) => response.destroy();
    return 204;
  };
  const pusher = runPusher(pushContext(store, [peer.host]));
  await eventually('three attempts', async () => (await deliveries()).attempts.length === 3);
  await pusher.stop();
  await pusher.ended;
  const { endpoint, pushes, attempts } = await deliveries();
  assert.deepEqual([endpoint.status, endpoint.waiting], ['enabled', 3]);
  assert.deepEqual(
    pushes.map(({ application_id: of, attempts: made, is_behind, last_failure }: Waiting) => [
      ...[of, made, is_behind, last_failure],
    ]),
    [
      [11, 1, false, 'status_503'],
      [11, 0, true, null],
      [13, 1, false, 'ECONNRESET'],
    ],
  );
  assert.deepEqual(
    attempts
      .map(({ application_id: of, attempt, result, failure, type }: Made) => [
        of,
        attempt,
        result,
        failure,
        type,
      ])
      .toSorted(),
    [
      [11, 1, 'failed', 'status_503', 'application.status_changed'],
      [12, 1, 'delivered', null, 'application.status_changed'],
      [13, 1, 'failed', 'ECONNRESET', 'application.status_changed'],
    ],
  );
  const taken = attempts.find(({ result }: Made) => result === 'delivered');
  const ofEvent = await deliveries(taken.event_id);
  assert.deepEqual([ofEvent.pushes, ofEvent.attempts], [[], [taken]]);
  for (const foreign of ['evt_x', eventIdOf(store.vault, toPartnerId(id), 1)]) {
    const url = `/api/partners/${partner}/deliveries?event_id=${foreign}`;
    assert.equal((await admin.ask('GET', url)).status, 404, 'the id of another partner too');
  }
});

it('attempts stay seven days by both clocks, and the newest of a partner stay (D39)', async () => {
  const { id: partner } = await json('partner', 'add', '--name', 'Tres', '--country', 'CO');
  const partnerId = toPartnerId(partner);
  await setEndpoint(store, partnerId, peer);
  await addEvents(store, partnerId, [1, 2, 3, 4, 5, 6]);
  const { claimed } = await claimPushes(store.database, []);
  const own = claimed.filter((push) => push.partnerId === partnerId);
  await recordPushes(
    store.database,
    own.map((push) => ({ ...push, result: 'delivered', failure: null, waitMs: 0 })),
  );
  const kept = async () => {
    await forgetAttempts(store.runtime, 100);
    return (await readAttempts(store.runtime, partnerId, { number: null, limit: 50 })).map(
      ({ number }) => number,
    );
  };
  const old = (change: string, numbers: number[]) =>
    store.database.query(`UPDATE push_attempts SET ${change} WHERE partner_id = $1 AND number = ANY ($2)`, [
      ...[partnerId, numbers],
    ]);
  await old("at = at - interval '8 days'", [1, 2, 3]);
  assert.deepEqual(await kept(), [6, 5, 4, 3, 2, 1], 'the elapsed time has not passed');
  await old('stored_ms = stored_ms - 8 * 86400000', [2, 3, 4]);
  assert.deepEqual(await kept(), [6, 5, 4, 1]);
  await forgetAttempts(store.runtime, 2);
  assert.deepEqual(await kept(), [6, 5]);
});
