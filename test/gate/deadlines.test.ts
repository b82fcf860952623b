/** D37: every request on every route ends, even where the database is down. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import { PARTNER_LIMITS } from '../../src/listeners/partner/partner-api.ts';
import { Middleman } from '../support/middleman.ts';
import { openPatiently } from '../support/open-patiently.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { startPatiently } from '../support/start-patiently.ts';
import { TestClock } from '../support/test-clock.ts';
import { PHONE_NUMBER_ID, signature, statusWebhook } from '../support/whatsapp-webhooks.ts';
import { exchange, head } from './raw.ts';

/** A probe has its answer in this time. */
const READY_WITHIN_MS = 1_500;
const APP_SECRET = 'the-secret-of-the-app';
const direct = await testService();
const { apiKey } = await direct.addPartner();
const registered = await post(`${direct.url}/PRO`, apiKey, { applications: [anApplication()] });
const [{ id }] = (registered.body as { results: [{ id: number }] }).results;
const { url, opsUrl, proxy, clock } = await throughMiddleman();

/** A second service on the same database, behind a middleman that can fall silent. */
async function throughMiddleman() {
  const address = new URL(direct.databaseUrl);
  const proxy = new Middleman({ host: address.hostname, port: Number(address.port) });
  await proxy.start();
  address.hostname = '127.0.0.1';
  address.port = String(proxy.port);
  const database = openPatiently(address.href);
  const config = readConfig({
    DELIVERY: 'off',
    CHANNEL: 'whatsapp',
    WHATSAPP_PHONE_NUMBER_ID: PHONE_NUMBER_ID,
    WHATSAPP_ACCESS_TOKEN: 'not-used-here',
    WHATSAPP_APP_SECRET: APP_SECRET,
    WHATSAPP_VERIFY_TOKEN: 'a-word-of-our-own',
  });
  const clock = new TestClock();
  const store = { database, vault: direct.vault, clock };
  const log = pino({ level: 'silent' });
  const service = await startPatiently({ ...config, port: 0, opsPort: 0 }, store, log, PARTNER_LIMITS);
  after(async () => {
    proxy.heal();
    await service.stop();
    await database.end();
    await proxy.stop();
  });
  return { url: service.url, opsUrl: service.opsUrl, proxy, clock };
}

describe('D37: a database that neither answers nor refuses', () => {
  const body = JSON.stringify(statusWebhook({ id: 'wamid.x', status: 'read' }));
  const KEYED = { 'X-API-Key': apiKey, 'Content-Type': 'application/json' };
  const requests: Record<string, string> = {
    'GET /PRO': head('GET', '/PRO', KEYED),
    'GET /DEV': head('GET', '/DEV', KEYED),
    'the events': head('GET', '/PRO/events', KEYED),
    'an application': head('GET', `/PRO/applications/${id}`, KEYED),
    'a search': `${head('POST', '/PRO/applications/search', { ...KEYED, 'Content-Length': 23 })}{"id_number":"1020304"}`,
    'POST /PRO': `${head('POST', '/PRO', { ...KEYED, 'Content-Length': 23 })}{"applications":[null]}`,
    'POST /DEV': `${head('POST', '/DEV', { ...KEYED, 'Content-Length': 23 })}{"applications":[null]}`,
    'a webhook':
      head('POST', '/webhooks/whatsapp', {
        'Content-Length': Buffer.byteLength(body),
        'X-Hub-Signature-256': signature(body, APP_SECRET),
      }) + body,
  };

  it('every route answers when its time is over, for any number of requests, and /healthz answers at once', async () => {
    const AT_ONCE = 20;
    for (const [what, request] of Object.entries(requests)) {
      assert.equal((await exchange(url, [request])).answers[0]?.status, 200, what);
    }
    proxy.blackHole = true;
    let answered = 0;
    const asked = Object.entries(requests).flatMap(([what, request]) =>
      Array.from({ length: AT_ONCE }, async () => {
        const { answers } = await exchange(url, [request]);
        answered += 1;
        return { what, answers };
      }),
    );
    const health = await exchange(opsUrl, [head('GET', '/healthz')]);
    assert.equal(health.answers[0]?.status, 200);
    const ready = exchange(opsUrl, [head('GET', '/readyz')]);
    await clock.untilTimer(PARTNER_LIMITS.answerWithinMs, asked.length);
    await clock.untilTimer(READY_WITHIN_MS);
    await clock.advance(READY_WITHIN_MS);
    assert.equal((await ready).answers[0]?.status, 503);
    await clock.advance(PARTNER_LIMITS.answerWithinMs - READY_WITHIN_MS - 1);
    assert.equal(answered, 0);
    await clock.advance(1);
    for (const { what, answers } of await Promise.all(asked)) {
      assert.equal(answers.length, 1, what);
      for (const { status, headers } of answers) {
        assert.equal(status, 500, what);
        assert.equal(headers['retry-after'], '1', what);
      }
    }
  });
});
