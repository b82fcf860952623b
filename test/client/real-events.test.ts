/** The client reads events and states from the real service, after what operators do (D40, D41). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  AuthenticationError,
  CursorExpiredError,
  type PartnerEvent,
  RequestRefusedError,
  VentanillaClient,
} from '../../client/src/index.ts';
import { commandLine } from '../cli/harness.ts';
import { IN_REVIEW } from '../support/applicant.ts';
import { PATIENCE_MS } from '../support/eventually.ts';
import { testService } from '../support/service.ts';
import { startPeer } from './peer.ts';
import { inputs, rejection } from './support.ts';

const service = await testService();
const { json } = commandLine(service);
const bounded = { timeout: PATIENCE_MS };

async function partnerWithApplications(count: number) {
  const { apiKey, partnerId } = await service.addPartner();
  const client = new VentanillaClient({ url: `${service.url}/PRO`, apiKey });
  const ids: number[] = [];
  for (const outcome of await client.submit(inputs(count, IN_REVIEW))) {
    if (outcome.kind === 'registered' && outcome.id !== null) ids.push(outcome.id);
  }
  assert.equal(ids.length, count);
  return { apiKey, partnerId, client, ids };
}

const review = (action: string, id: number, code: string) =>
  json('application', action, `${id}`, '--reason', 'seen', '--reason-code', code);

async function all(events: AsyncIterable<PartnerEvent>): Promise<PartnerEvent[]> {
  const list: PartnerEvent[] = [];
  for await (const event of events) list.push(event);
  return list;
}

const brief = (event: PartnerEvent) =>
  event.type === 'application.status_changed'
    ? `${event.data.id} ${event.data.from} ${event.data.to} ${event.data.reasonCode}`
    : `${event.data.id} ${event.type}`;

it('events() and application() tell what operators did, also to a key of Spanish', bounded, async () => {
  const { client, ids, partnerId } = await partnerWithApplications(2);
  const [one = 0, two = 0] = ids;
  assert.deepEqual(await all(client.events()), []);
  assert.equal((await client.application(one))?.status, 'in_review');
  await review('approve', one, 'income_verified');
  await review('reject', two, 'applicant_withdrew');
  await review('disburse', one, 'funds_transferred');
  const events = await all(client.events({ pageSize: 2 }));
  assert.deepEqual(events.map(brief), [
    `${one} in_review pending_signature income_verified`,
    `${two} in_review rejected applicant_withdrew`,
    `${one} pending_signature disbursed funds_transferred`,
  ]);
  assert.deepEqual(await all(client.events({ after: events[1]?.id ?? '' })), events.slice(2));
  const state = await client.application(one);
  assert.deepEqual([state?.status, state?.decision], ['disbursed', 'in_review']);
  assert.ok(Date.parse(state?.updatedAt ?? '') > Date.parse(state?.createdAt ?? ''));

  await service.database.query("UPDATE api_keys SET language = 'es' WHERE partner_id = $1", [partnerId]);
  assert.deepEqual(await client.application(one), state);
  assert.deepEqual(await all(client.events()), events);
});

it('a follower gets each event once, over lost answers and 500s', bounded, async () => {
  const { apiKey, ids } = await partnerWithApplications(6);
  const peer = await startPeer(service.url, ({ number }) => {
    if (number % 3 === 1) return 'lose';
    return number % 3 === 2 ? { status: 500, body: '{"error":"x"}' } : 'forward';
  });
  const client = new VentanillaClient({ url: `${peer.url}/PRO`, apiKey });
  const seen: number[] = [];
  const stop = new AbortController();
  const following = (async () => {
    for await (const { data } of client.events({
      follow: true,
      pollMs: 1,
      pageSize: 2,
      signal: stop.signal,
    })) {
      seen.push(Number(data.id));
      if (seen.length === ids.length) break;
    }
  })();
  for (const id of ids) await review('approve', id, 'documents_verified');
  await following;
  assert.deepEqual(seen, ids);
});

it('another partner’s cursor and application, and a wrong key, are typed', bounded, async () => {
  const { client, ids } = await partnerWithApplications(1);
  await review('approve', ids[0] ?? 0, 'documents_verified');
  const [event] = await all(client.events());
  const other = await partnerWithApplications(1);
  assert.equal(await other.client.application(ids[0] ?? 0), null);
  const foreign = await rejection(RequestRefusedError, all(other.client.events({ after: event?.id ?? '' })));
  assert.equal(foreign.status, 400);
  assert.match(foreign.message, /after must be .* a cursor/);
  const stranger = new VentanillaClient({ url: `${service.url}/PRO`, apiKey: `vtn_all_${'0'.repeat(48)}` });
  await rejection(AuthenticationError, all(stranger.events()));
  await rejection(AuthenticationError, stranger.application(1));
});

it('events that are no longer kept after a cursor are a CursorExpiredError', bounded, async () => {
  const { client, ids, partnerId } = await partnerWithApplications(3);
  for (const id of ids) await review('approve', id, 'documents_verified');
  const [first] = await all(client.events());
  await service.database.query('DELETE FROM partner_events WHERE partner_id = $1 AND number <= 2', [
    partnerId,
  ]);
  await service.database.query('UPDATE partner_event_totals SET forgotten = 2 WHERE partner_id = $1', [
    partnerId,
  ]);
  await rejection(CursorExpiredError, all(client.events({ after: first?.id ?? '' })));
  assert.equal((await all(client.events())).length, 1);
});
