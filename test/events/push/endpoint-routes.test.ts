/** What admins do with the endpoint of a partner at the console (D41, D48; docs/operators.md, "The endpoint"). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toPartnerId } from '../../../src/domain/partner/credential.ts';
import { endpointRoutes } from '../../../src/subjects/events/push/routes/endpoint.ts';
import { commandLine } from '../../cli/harness.ts';
import { startTestConsole } from '../../support/console.ts';
import { testDatabase } from '../../support/database.ts';
import { startEndpointPeer } from '../../support/endpoint-peer.ts';
import { addEvents } from '../../support/pushes.ts';

const store = await testDatabase();
const peer = await startEndpointPeer();
const ROUTES = endpointRoutes({ ...store, database: store.runtime }, new Set([peer.host]));
const site = await startTestConsole(store, ROUTES);
const admin = await (await site.enrolled('ana', 'admin')).signIn();
const { json } = commandLine(store);
const { id } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
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
