/** HEALTH_PORT: a listener for probes that shows nothing but health, for `serve` and for `worker`. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import { exchange, head } from '../gate/raw.ts';
import { TEST_SECRETS, testDatabase } from '../support/database.ts';
import { readyAt } from '../support/eventually.ts';
import { Middleman } from '../support/middleman.ts';
import { addPartner, anApplication, post } from '../support/service.ts';
import { startPatiently } from '../support/start-patiently.ts';
import { type Running, run, until } from './support.ts';

const store = await testDatabase();
const address = new URL(store.url);
const proxy = new Middleman({ host: address.hostname, port: Number(address.port) });
await proxy.start();
after(() => proxy.stop());

function startWorker(): Running {
  const throughProxy = new URL(store.url);
  throughProxy.hostname = '127.0.0.1';
  throughProxy.port = String(proxy.port);
  return run(process.execPath, ['src/main.ts', 'worker'], {
    CHANNEL: 'log',
    DATABASE_URL: throughProxy.href,
    DATA_KEYS: [...TEST_SECRETS.dataKeys].map(([id, key]) => `${id}:${key.toString('base64')}`).join(','),
    INDEX_KEY: TEST_SECRETS.indexKey.toString('base64'),
    API_KEY_PEPPER: TEST_SECRETS.apiKeyPepper.toString('base64'),
    HEALTH_PORT: '0',
  });
}

/** The address of the health listener in the log. */
const urlIn = (log: string) => /"url":"(http:[^"]+)","msg":"the health listener answers/.exec(log)?.[1];
const statusOf = async (url: string) => (await fetch(url)).status;

describe('the health listener', () => {
  test('of serve answers health and nothing else, beside an operators listener with chats', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
    const config = { ...readConfig({ HEALTH_PORT: '0' }), port: 0, opsPort: 0 };
    const service = await startPatiently(config, store, log);
    after(() => service.stop());
    const { apiKey } = await addPartner(store);
    await post(`${service.url}/PRO`, apiKey, {
      applications: [anApplication({ name: 'Hermenegilda Quux' })],
    });
    const url = await until('the health listener', () => urlIn(lines.join('')));
    assert.equal(await statusOf(`${url}/healthz`), 200);
    await readyAt(url);
    for (const path of ['/', '/simulator', '/simulator/chats', '/PRO', '/docs', '/webhooks/whatsapp']) {
      for (const method of ['GET', 'POST']) {
        const response = await fetch(url + path, { method });
        assert.equal(response.status, 404, `${method} ${path}`);
        assert.deepEqual(await response.json(), { error: 'not found' });
      }
    }
    assert.equal(await statusOf(`${service.opsUrl}/simulator/chats`), 200);
    await service.stop();
    await assert.rejects(fetch(`${url}/healthz`), { name: 'TypeError', message: 'fetch failed' });
  });

  test('is off by default', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
    const config = { ...readConfig({ DELIVERY: 'off' }), port: 0, opsPort: 0 };
    const service = await startPatiently(config, store, log);
    await service.stop();
    assert.equal(urlIn(lines.join('')), undefined);
  });

  test('of a worker tells a database that hangs within its time, and that its loop runs', async () => {
    const worker = startWorker();
    await until('the worker to start', () => worker.out.includes('worker started'));
    const url = urlIn(worker.out) as string;
    assert.equal(await statusOf(`${url}/healthz`), 200);
    await readyAt(url);
    assert.equal(await statusOf(`${url}/simulator`), 404);
    proxy.blackHole = true;
    const { answers } = await exchange(url, [head('GET', '/readyz')]);
    assert.equal(answers[0]?.status, 503);
    assert.equal(await statusOf(`${url}/healthz`), 200);
    proxy.heal();
    await until('the worker to be ready again', async () => (await statusOf(`${url}/readyz`)) === 200);
    process.kill(worker.pid, 'SIGTERM');
    assert.equal((await worker.exit).code, 0);
  });
});
