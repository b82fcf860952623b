/** D37: every request on every route ends, even where the database is down. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import { machineClock } from '../../src/base/clock.ts';
import { PARTNER_LIMITS } from '../../src/http/partner-api.ts';
import { openDatabase } from '../../src/postgres/open-database.ts';
import { eventually } from '../support/eventually.ts';
import { Middleman } from '../support/middleman.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { startPatiently } from '../support/start-patiently.ts';
import { PHONE_NUMBER_ID, signature, statusWebhook } from '../support/whatsapp-webhooks.ts';
import { exchange, head } from './raw.ts';

/** Well below the limits of every service, so that a request that keeps another limit is found. */
const SHORT = {
  connections: { ...PARTNER_LIMITS.connections, closedAfterMs: 1_600 },
  answerWithinMs: 1_000,
};
const APP_SECRET = 'the-secret-of-the-app';
const direct = await testService();
const { apiKey } = await direct.addPartner();
const registered = await post(`${direct.url}/PRO`, apiKey, { applications: [anApplication()] });
const [{ id }] = (registered.body as { results: [{ id: number }] }).results;
const { url, opsUrl, proxy } = await throughMiddleman();

/** A second service on the same database, behind a middleman that can fall silent. */
async function throughMiddleman() {
  const address = new URL(direct.databaseUrl);
  const proxy = new Middleman({ host: address.hostname, port: Number(address.port) });
  await proxy.start();
  address.hostname = '127.0.0.1';
  address.port = String(proxy.port);
  const database = openDatabase({ connectionString: address.href }, { max: 10, onError: () => {} });
  const config = readConfig({
    DELIVERY: 'off',
    CHANNEL: 'whatsapp',
    WHATSAPP_PHONE_NUMBER_ID: PHONE_NUMBER_ID,
    WHATSAPP_ACCESS_TOKEN: 'not-used-here',
    WHATSAPP_APP_SECRET: APP_SECRET,
    WHATSAPP_VERIFY_TOKEN: 'a-word-of-our-own',
  });
  const store = { database, vault: direct.vault, clock: machineClock };
  const log = pino({ level: 'silent' });
  const service = await startPatiently({ ...config, port: 0, opsPort: 0 }, store, log, SHORT);
  after(async () => {
    proxy.heal();
    await service.stop();
    await database.end();
    await proxy.stop();
  });
  return { url: service.url, opsUrl: service.opsUrl, proxy };
}

describe('D37: a database that neither answers nor refuses', () => {
  const body = JSON.stringify(statusWebhook({ id: 'wamid.x', status: 'read' }));
  const KEYED = { 'X-API-Key': apiKey, 'Content-Type': 'application/json' };
  const requests: Record<string, string> = {
    'GET /PRO': head('GET', '/PRO', KEYED),
    'GET /DEV': head('GET', '/DEV', KEYED),
    'the events': head('GET', '/PRO/events', KEYED),
    'an application': head('GET', `/PRO/applications/${id}`, KEYED),
    'POST /PRO': `${head('POST', '/PRO', { ...KEYED, 'Content-Length': 23 })}{"applications":[null]}`,
    'POST /DEV': `${head('POST', '/DEV', { ...KEYED, 'Content-Length': 23 })}{"applications":[null]}`,
    'a webhook':
      head('POST', '/webhooks/whatsapp', {
        'Content-Length': Buffer.byteLength(body),
        'X-Hub-Signature-256': signature(body, APP_SECRET),
      }) + body,
  };

  it('every route answers or closes in its time, for any number of requests, and /healthz answers at once', async () => {
    for (const [what, request] of Object.entries(requests)) {
      // A busy machine may take longer than the short limits allow.
      await eventually(what, async () => (await exchange(url, [request])).answers[0]?.status === 200);
    }
    proxy.blackHole = true;
    const asked = Object.entries(requests).flatMap(([what, request]) =>
      Array.from({ length: 20 }, async () => ({
        what,
        ...(await exchange(url, [request], { timeoutMs: 40_000 })),
      })),
    );
    const health = await exchange(opsUrl, [head('GET', '/healthz')]);
    assert.equal(health.answers[0]?.status, 200);
    const ready = await exchange(opsUrl, [head('GET', '/readyz')], { timeoutMs: 9_000 });
    assert.equal(ready.answers[0]?.status, 503);
    for (const { what, answers, closed, ms } of await Promise.all(asked)) {
      assert.ok(ms < PARTNER_LIMITS.answerWithinMs, `${what}: ${ms} ms`);
      assert.ok(closed || answers.length === 1, `${what} was left hanging`);
      for (const { status, headers } of answers) {
        assert.equal(status, 500, what);
        assert.equal(headers['retry-after'], '1', what);
      }
    }
  });
});
