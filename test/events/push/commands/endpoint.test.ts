/** `ventanilla partner endpoint` (D41). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { toPartnerId } from '../../../../src/domain/partner/credential.ts';
import { Vault } from '../../../../src/seal/vault.ts';
import { commandLine } from '../../../cli/harness.ts';
import { TEST_SECRETS, testDatabase } from '../../../support/database.ts';
import { startEndpointPeer } from '../../../support/endpoint-peer.ts';
import { addEvents, queueOf } from '../../../support/pushes.ts';
import { addPartner } from '../../../support/service.ts';

const store = await testDatabase();
const peer = await startEndpointPeer();
const { run, json } = commandLine(store, { ENDPOINT_HOSTS: peer.host });
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/;
const URL_TEXT = 'https://partner.example/events?token=hidden';

const newPartner = async () => `${(await addPartner(store)).partnerId}`;
const endpoint = (command: string, partner: string, ...args: string[]) =>
  run('partner', 'endpoint', command, partner, ...args);
const endpointJson = (command: string, partner: string, ...args: string[]) =>
  json('partner', 'endpoint', command, partner, ...args);

describe('partner endpoint set', () => {
  it('D41: shows the secret of a new endpoint once; a second set changes the URL and keeps the secret', async () => {
    const partner = await newPartner();
    const { secret, ...set } = await endpointJson('set', partner, '--url', URL_TEXT);
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.deepEqual(
      [set.partner_id, set.url, set.status, set.waiting],
      [Number(partner), URL_TEXT, 'enabled', 0],
    );
    assert.match(set.set_at, TIME);
    assert.deepEqual(await endpointJson('show', partner), set);
    const again = await endpointJson('set', partner, '--url', 'https://other.example/');
    assert.deepEqual([again.secret, again.url], [undefined, 'https://other.example/']);

    const told = await endpoint('set', await newPartner(), '--url', URL_TEXT);
    assert.match(told.out, /whsec_\S+\n[\s\S]*shown only now/);
    assert.match((await endpoint('set', partner, '--url', URL_TEXT)).out, /secret stays as it is/);
    const seen = [await endpoint('show', partner), await endpoint('show', partner, '--json')];
    for (const { out } of seen) assert.doesNotMatch(out, /whsec_/);
  });

  it('D41: the store has neither the URL nor the secret in plain text', async () => {
    const partner = await newPartner();
    const { secret } = await endpointJson('set', partner, '--url', URL_TEXT);
    const { rows } = await store.database.query<{ sealed: Buffer }>(
      'SELECT sealed FROM partner_endpoints WHERE partner_id = $1',
      [partner],
    );
    for (const text of ['partner.example', secret.slice('whsec_'.length)]) {
      assert.equal(rows[0]?.sealed.includes(text), false);
    }
  });

  it('D41: refuses a URL that nothing may be pushed to, and says the rule without the URL', async () => {
    const partner = await newPartner();
    const refused: [url: string, rule: RegExp][] = [
      ['http://partner.example/hidden', /must begin with https/],
      ['https://user:hidden@partner.example/', /no user and no password/],
      ['https://127.0.0.1/hidden', /not public.*ENDPOINT_HOSTS/],
      ['https://[::1]/hidden', /not public/],
      ['hidden', /must be complete/],
      [`https://partner.example/${'hidden'.repeat(400)}`, /at most 2000 characters/],
    ];
    for (const [url, rule] of refused) {
      const { code, out, err } = await endpoint('set', partner, '--url', url);
      assert.deepEqual([code, out], [1, ''], url);
      assert.match(err, rule);
      assert.doesNotMatch(err, /hidden/);
    }
    assert.equal((await endpoint('set', partner)).code, 2);
    assert.match((await endpoint('set', '999999', '--url', URL_TEXT)).err, /there is no partner 999999/);
  });

  it('D41: enables a disabled endpoint for new events; what it had before is dropped', async () => {
    const partner = await newPartner();
    await endpoint('set', partner, '--url', URL_TEXT);
    await addEvents(store, toPartnerId(Number(partner)), [1]);
    await store.database.query(
      "UPDATE partner_endpoints SET disabled_at = now(), disabled_reason = 'gone', failures = 9 WHERE partner_id = $1",
      [partner],
    );
    assert.match(
      (await endpoint('show', partner)).out,
      /Status +disabled: the endpoint said that it is gone \(410\), 20/,
    );
    const set = await endpointJson('set', partner, '--url', URL_TEXT);
    assert.deepEqual([set.status, set.disabled_reason, set.waiting], ['enabled', null, 0]);
    await addEvents(store, toPartnerId(Number(partner)), [1]);
    assert.deepEqual(
      (await queueOf(store, toPartnerId(Number(partner)))).map(({ number }) => number),
      [2],
    );
  });

  it('D41: an endpoint of a data key that is not in DATA_KEYS is shown and disabled, and keeps its secret', async () => {
    const partner = await newPartner();
    await endpoint('set', partner, '--url', URL_TEXT);
    const vault = new Vault({ ...TEST_SECRETS, dataKeys: new Map([[2, Buffer.alloc(32, 2)]]) });
    const other = commandLine({ ...store, vault });
    const shown = await other.json('partner', 'endpoint', 'show', partner);
    assert.equal(shown.url, null);
    const { out } = await other.run('partner', 'endpoint', 'show', partner);
    assert.match(out, /URL +sealed with a data key that is not in DATA_KEYS/);
    for (const args of [['test'], ['rotate'], ['set', '--url', URL_TEXT]]) {
      const [command, ...options] = args as [string, ...string[]];
      const { code, err } = await other.run('partner', 'endpoint', command, partner, ...options);
      assert.deepEqual(
        [code, /data key that (is not|this process does not have) in DATA_KEYS/.test(err)],
        [1, true],
      );
    }
    assert.equal((await other.run('partner', 'endpoint', 'disable', partner)).code, 0);
    assert.equal((await endpointJson('show', partner)).url, URL_TEXT);
  });
});

describe('partner endpoint show', () => {
  it('D41: says what waits, since when, and what failed last', async () => {
    const partner = await newPartner();
    await endpoint('set', partner, '--url', URL_TEXT);
    await addEvents(store, toPartnerId(Number(partner)), [1, 2]);
    await store.database.query(
      `UPDATE partner_endpoints SET broken_at = now(), probe_at = now(), last_failure = 'status_302',
        last_failure_at = now() WHERE partner_id = $1`,
      [partner],
    );
    const shown = await endpointJson('show', partner);
    assert.deepEqual([shown.status, shown.waiting, shown.last_failure], ['broken', 2, 'status_302']);
    assert.match(shown.oldest_at, TIME);
    const { out } = await endpoint('show', partner);
    assert.match(out, /Status +fails since 20.*only single pushes go out/);
    assert.match(out, /Waiting +2\n/);
    assert.match(out, /Last failure +20\S+ \S+: the status 302 \(redirects are not followed\)/);
    assert.match((await endpoint('show', await newPartner())).err, /has no endpoint: set one with/);
  });
});

describe('partner endpoint test', () => {
  it('D41: sends a signed event of the type endpoint.test now and says what happened', async () => {
    const partner = await newPartner();
    const { secret } = await endpointJson('set', partner, '--url', peer.url);
    const sent = await endpointJson('test', partner);
    assert.deepEqual([sent.delivered, sent.status, sent.failure], [true, 204, null]);
    const { body, headers, event } = peer.received.at(-1)!;
    assert.deepEqual(new Webhook(secret).verify(body, headers), event);
    assert.deepEqual([event?.id, event?.type, event?.data], [sent.id, 'endpoint.test', {}]);
    assert.match(
      (await endpoint('test', partner)).out,
      /The endpoint took the event: status 204\. \(\d+ ms\)/,
    );
    peer.answer = () => 500;
    const failed = await endpoint('test', partner);
    assert.equal(failed.code, 1);
    assert.match(failed.out, /The push failed: the status 500\./);
    peer.answer =
      () =>
      (_, { socket }) =>
        socket.end('nonsense\r\n\r\n');
    assert.match(
      (await endpoint('test', partner)).out,
      /The push failed: the answer is not HTTP \(HPE_\w+\)\./,
    );
    peer.answer = () => 500;
    const { code, out } = await endpoint('test', partner, '--json');
    assert.deepEqual([code, JSON.parse(out).failure], [1, 'status_500']);
  });
});

describe('partner endpoint rotate', () => {
  it('D41: shows another secret; for 24 hours both sign', async () => {
    const partner = await newPartner();
    const before = (await endpointJson('set', partner, '--url', peer.url)).secret;
    peer.answer = () => 204;
    const { secret, ...rest } = await endpointJson('rotate', partner);
    assert.notEqual(secret, before);
    assert.deepEqual(rest, {});
    await endpoint('test', partner);
    const { body, headers } = peer.received.at(-1)!;
    for (const each of [before, secret]) new Webhook(each).verify(body, headers);
    assert.match((await endpoint('show', partner)).out, /Old secret +signs too, for 24 more hours/);
    const again = await endpoint('rotate', partner);
    assert.match(again.out, /whsec_\S+\n[\s\S]*For 24 hours/);
    assert.match(
      again.out,
      /second rotation within 24 hours: pushes are not signed with the oldest secret any more/,
    );
    assert.match((await endpoint('rotate', await newPartner())).err, /has no endpoint/);
  });
});

describe('partner endpoint disable', () => {
  it('D41: stops the pushes and drops those that wait', async () => {
    const partner = await newPartner();
    await endpoint('set', partner, '--url', URL_TEXT);
    await addEvents(store, toPartnerId(Number(partner)), [1, 2]);
    const disabled = await endpointJson('disable', partner);
    assert.deepEqual(
      [disabled.status, disabled.disabled_reason, disabled.waiting],
      ['disabled', 'operator', 0],
    );
    assert.match((await endpoint('disable', partner)).out, /still reads the events in the feed/);
    assert.match((await endpoint('disable', await newPartner())).err, /has no endpoint/);
    assert.match((await endpoint('disable', '999999')).err, /there is no partner 999999/);
  });
});
