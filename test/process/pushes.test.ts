/** Pushes by real processes: a kill, a stop, and what the log has of them (D41). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import type { PartnerId } from '../../src/domain/partner/credential.ts';
import { eventIdOf } from '../../src/seal/event-ids.ts';
import { TEST_SECRETS } from '../support/database.ts';
import { type EndpointPeer, startEndpointPeer } from '../support/endpoint-peer.ts';
import { addEvents, queueOf, setEndpoint } from '../support/pushes.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { killHard, type Running, run, until } from './support.ts';

const service = await testService();
const LEASE_S = 30;

/** Starts a worker that may push to these endpoints, and waits until it works. */
async function startWorker(...peers: readonly EndpointPeer[]): Promise<Running> {
  const { dataKeys, indexKey, apiKeyPepper } = TEST_SECRETS;
  const running = run(process.execPath, ['src/main.ts', 'worker'], {
    DATABASE_URL: service.databaseUrl,
    CHANNEL: 'log',
    DATA_KEYS: [...dataKeys].map(([id, key]) => `${id}:${key.toString('base64')}`).join(','),
    INDEX_KEY: indexKey.toString('base64'),
    API_KEY_PEPPER: apiKeyPepper.toString('base64'),
    ENDPOINT_HOSTS: peers.map(({ host }) => host).join(','),
    LOG_LEVEL: 'trace',
  });
  await until('the worker to work', () => running.out.includes('worker started'));
  return running;
}

const endLeases = (partnerId: PartnerId) =>
  service.database.query(
    "UPDATE pushes SET leased_until = now() - interval '1 second' WHERE partner_id = $1",
    [partnerId],
  );

describe('a worker that pushes', () => {
  it('D41: is killed between a push and its record: after the lease another one pushes the event again', async () => {
    const peer = await startEndpointPeer();
    const { partnerId } = await service.addPartner();
    const secret = await setEndpoint(service, partnerId, peer);
    let release = () => {};
    peer.answer = () => (response) => {
      release = () => response.writeHead(204).end();
    };
    const first = await startWorker(peer);
    await addEvents(service, partnerId, [1, 1]);
    await until('the push', () => peer.received.length === 1);
    await killHard(first.pid);
    release();
    const [held] = await queueOf(service, partnerId);
    assert.deepEqual([held?.number, held?.attempts, held?.isLeased], [1, 1, true]);

    peer.answer = () => 204;
    const second = await startWorker(peer);
    await addEvents(service, partnerId, [2]);
    await until(
      'a push of the other worker and its record',
      async () => peer.received.length === 2 && (await queueOf(service, partnerId)).length === 2,
    );
    const { rows } = await service.database.query<{ s: number }>(
      'SELECT extract(epoch FROM leased_until - now())::float8 AS s FROM pushes WHERE partner_id = $1 AND number = 1',
      [partnerId],
    );
    assert.ok(rows[0]!.s <= LEASE_S, `${rows[0]?.s}`);
    await endLeases(partnerId);
    await until('all pushes', async () => (await queueOf(service, partnerId)).length === 0);
    const id = (number: number) => eventIdOf(service.vault, partnerId, number);
    assert.deepEqual(
      peer.received.map(({ event }) => event?.id),
      [id(1), id(3), id(1), id(2)],
    );
    for (const { body, headers } of peer.received) new Webhook(secret).verify(body, headers);
    await killHard(second.pid);
  });

  it('D41: stops in its time with attempts under way, which are made again; its log has codes alone', async () => {
    const [silent, failing] = [await startEndpointPeer(), await startEndpointPeer()];
    silent.answer = () => () => {};
    failing.answer = () => (response) => response.writeHead(503).end('hidden answer');
    const { partnerId, apiKey } = await service.addPartner();
    const { partnerId: failingId } = await service.addPartner();
    const secrets = [
      await setEndpoint(service, partnerId, silent),
      await setEndpoint(service, failingId, failing),
    ];
    const application = anApplication({ name: 'Hidden Name' });
    const { body } = await post(`${service.url}/PRO`, apiKey, { applications: [application] });
    const [{ id }] = (body as { results: [{ id: number }] }).results;
    const worker = await startWorker(silent, failing);
    await addEvents(service, partnerId, [id]);
    await addEvents(service, failingId, [1, 2, 3, 4, 5, 6]);
    await until('the push', () => silent.received.length === 1);
    await until('the log of the broken endpoint', () => worker.out.includes('fails: its events wait'));
    assert.match(silent.received[0]!.body, new RegExp(`"id_number":"${application.id_number}"`));

    process.kill(worker.pid, 'SIGTERM');
    // 0 says that every part ended in its time, by the process's own clock (docs/operations.md).
    const { code, out, err } = await worker.exit;
    assert.equal(code, 0, out + err);
    assert.equal((await queueOf(service, partnerId)).length, 1);
    const line = out.split('\n').find((text) => text.includes('fails: its events wait'));
    assert.deepEqual(
      (({ partner_id, reason, level }) => ({ partner_id, reason, level }))(JSON.parse(line!)),
      { partner_id: failingId, reason: 'status_503', level: 40 },
    );
    const hidden = [
      'hidden',
      silent.host,
      failing.host,
      'Hidden Name',
      application.id_number as string,
      'whsec_',
    ];
    for (const text of [...hidden, ...secrets.map((secret) => secret.slice(6))]) {
      assert.equal((out + err).includes(text), false, text);
    }
  });
});
