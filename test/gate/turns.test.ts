/**
 * Partners in turn, over real HTTP. The registration is the test's own, so that the test decides when a batch is
 * done.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import pino from 'pino';
import { namedFields } from '../../src/domain/application/fields.ts';
import {
  type Credential,
  type PartnerId,
  toKeyId,
  toPartnerId,
} from '../../src/domain/partner/credential.ts';
import { PARTNER_LIMITS, partnerApi } from '../../src/listeners/partner/partner-api.ts';
import type { BatchResult } from '../../src/subjects/applications/uses/ingest-batch.ts';
import { Admission } from '../../src/wire/gate/admission.ts';
import { eventually } from '../support/eventually.ts';
import { anApplication } from '../support/service.ts';
import { TestClock } from '../support/test-clock.ts';
import { head } from './raw.ts';

const LIMIT = 800;
const BATCH = JSON.stringify({ applications: Array.from({ length: 100 }, () => anApplication()) });

class WatchedAdmission extends Admission {
  entered = 0;
  override enter(partnerId: PartnerId, cost: number, deadline: number) {
    this.entered += 1;
    return super.enter(partnerId, cost, deadline);
  }
}

/** A listener where partner N has the key `N`, and `finish` ends each batch. */
async function listener() {
  const clock = new TestClock();
  const admission = new WatchedAdmission({ limit: LIMIT, clock, tell: () => {} });
  const begun: number[] = [];
  const finish: (() => void)[] = [];
  const app = partnerApi({
    clock,
    limits: PARTNER_LIMITS,
    basePath: '',
    fields: namedFields('messaging'),
    log: pino({ level: 'silent' }),
    logFailure: () => {},
    authenticate: async (apiKey): Promise<Credential> => ({
      keyId: toKeyId(Number(apiKey)),
      environment: null,
      language: 'auto',
      dailyCap: null,
      templates: {} as Credential['templates'],
      partner: { id: toPartnerId(Number(apiKey)), name: `Partner ${apiKey}`, country: 'CO' },
    }),
    admission,
    ingest: ({ credential, language }) => {
      begun.push(credential.partner.id);
      return new Promise<BatchResult>((resolve) => {
        finish.push(() => resolve({ kind: 'answered', outcomes: [], language, replayed: false }));
      });
    },
    quota: () => Promise.reject(new Error('not here')),
    feed: () => Promise.reject(new Error('not here')),
    application: () => Promise.reject(new Error('not here')),
    search: () => Promise.reject(new Error('not here')),
  });
  after(() => app.close());
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const open = () =>
    new Promise<number>((resolve) => app.server.getConnections((_, count) => resolve(count)));
  return { url, clock, admission, begun, finish, open };
}

const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
after(() => agent.destroy());

async function submit(
  url: string,
  partner: number,
): Promise<{ status: number; retryAfter: string | undefined }> {
  const sent = request(`${url}/PRO`, {
    method: 'POST',
    agent,
    headers: { 'X-API-Key': String(partner), 'Content-Type': 'application/json' },
  });
  sent.end(BATCH);
  const [answer] = await once(sent, 'response');
  answer.resume();
  return { status: answer.statusCode, retryAfter: answer.headers['retry-after'] };
}

const until = (condition: () => boolean) => eventually('what must come', condition);

describe('D37: one partner’s flood', () => {
  it('does not delay the single batch of another partner', async () => {
    const { url, admission, begun, finish } = await listener();
    const flood = Array.from({ length: 100 }, () => submit(url, 1));
    await until(() => admission.entered === 100);
    const before = begun.length;
    assert.ok(before * 100 >= LIMIT / 2 && before * 100 < LIMIT * 2, `${before} at work`);
    const quiet = submit(url, 2);
    await until(() => admission.entered === 101);
    assert.equal(begun.length, before, 'no more is at work than there is room for');
    finish.shift()?.();
    finish.shift()?.();
    await until(() => begun.includes(2));
    finish[begun.indexOf(2) - 2]?.();
    assert.equal((await quiet).status, 200);
    let answered = 0;
    for (const one of flood) void one.then(() => answered++);
    await until(() => {
      for (const done of finish.splice(0)) done();
      return answered === 100;
    });
  });

  it('is refused with Retry-After once its backlog would take too long, while another partner’s batch is served', async () => {
    const { url, clock, admission, begun, finish } = await listener();
    let refused = 0;
    let answered = 0;
    const check = ({ status, retryAfter }: { status: number; retryAfter: string | undefined }) => {
      if (status === 200) answered += 1;
      else {
        refused += 1;
        assert.equal(status, 500);
        assert.match(retryAfter ?? '', /^[1-9]\d?$/);
      }
    };
    // No batch ends, so the measured rate falls until the waiting batches would take too long.
    const flood = Array.from({ length: 300 }, () => submit(url, 1).then(check));
    await until(() => admission.entered === 300);
    await clock.advance(1_000);
    await until(() => refused > 0);
    const quiet = submit(url, 2);
    const entered = admission.entered;
    await until(() => admission.entered > entered || begun.includes(2));
    await until(() => {
      for (const done of finish.splice(0)) done();
      return answered + refused === 300;
    });
    await Promise.all(flood);
    assert.equal((await quiet).status, 200);
    assert.ok(answered > 0);
  });
});

/**
 * The ways in which a client can leave. The first two look the same to the service (docs/front-door.md, "Who
 * leaves").
 */
const LEAVING: [how: string, leave: (client: Socket) => void][] = [
  ['closes its side', (client) => client.end()],
  ['closes the connection', (client) => client.destroy()],
  ['resets the connection', (client) => client.resetAndDestroy()],
];

describe('a client that leaves while its batch waits for its turn', () => {
  for (const [how, leave] of LEAVING) {
    it(`has nothing registered: it ${how}`, async () => {
      const { url, admission, begun, finish, open } = await listener();
      const done = await admission.enter(toPartnerId(3), LIMIT, Number.POSITIVE_INFINITY);
      const { hostname, port } = new URL(url);
      const client = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
      client.on('error', () => {}).resume();
      const length = Buffer.byteLength(BATCH);
      const headers = { 'X-API-Key': 1, 'Content-Type': 'application/json', 'Content-Length': length };
      client.write(head('POST', '/PRO', headers) + BATCH);
      await until(() => admission.entered === 2);
      leave(client);
      await eventually('the server to let go', async () => (await open()) === 0);
      const later = submit(url, 2);
      await until(() => admission.entered === 3);
      done();
      await until(() => begun.length > 0);
      assert.deepEqual(begun, [2]);
      finish.shift()?.();
      assert.equal((await later).status, 200);
    });
  }
});
