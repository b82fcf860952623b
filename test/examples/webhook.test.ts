/** The examples that receive pushed events: only signed ones, and each once (D41). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { commandLine } from '../cli/harness.ts';
import { eventually } from '../support/eventually.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { REPOSITORY } from '../support/sources.ts';
import { EXAMPLES, missing, start } from './support.ts';

const HOSTS = '127.0.0.1';
const service = await testService({ DELIVERY: 'on', ENDPOINT_HOSTS: HOSTS });
const { json } = commandLine(service, { ENDPOINT_HOSTS: HOSTS });

const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
const OLD_SECRET = `whsec_${Buffer.alloc(32, 4).toString('base64')}`;
const bodyOf = (id: string, type = 'application.interested', data: object = { id: 346, id_number: 'Ñ' }) =>
  JSON.stringify({ id, type, timestamp: '2026-11-22T10:00:00.000+00:00', data });

function signed(body: string, secret = SECRET, at = new Date()): Record<string, string> {
  const { id } = JSON.parse(body);
  return {
    'Content-Type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}

it('docs/events.md has the function of the example', () => {
  const document = readFileSync(join(REPOSITORY, 'docs/events.md'), 'utf8');
  const [, shown = ''] = /```python\n([\s\S]*?)```/.exec(document) ?? [];
  const script = readFileSync(join(EXAMPLES, 'webhook.py'), 'utf8').replace(/^ +""".*"""\n/gm, '');
  assert.ok(shown.length > 100 && script.includes(shown), shown);
});

for (const [name, command] of [
  ['webhook.ts', process.execPath],
  ['webhook.py', 'python3'],
] as const) {
  const script = join(EXAMPLES, name);
  const skip = name.endsWith('.py') && missing('python3');

  describe(`examples/${name}`, { skip }, () => {
    it('answers 204 to a signed push and shows its event once, and refuses every other request', async () => {
      const receiver = start(command, [script], {
        VENTANILLA_WEBHOOK_SECRET: `${SECRET} ${OLD_SECRET}`,
        PORT: '0',
      });
      const [, port] = await receiver.wrote(/listening on .*?(\d{2,5})\D*$/);
      const url = `http://127.0.0.1:${port}`;
      const push = async (body: string, headers: Record<string, string>) =>
        (await fetch(url, { method: 'POST', body, headers })).status;

      const one = bodyOf('evt_1');
      assert.equal(await push(one, signed(one)), 204);
      assert.equal(await push(one, signed(one)), 204);
      const two = bodyOf('evt_2', 'a.later.type', {});
      assert.equal(await push(two, signed(two, OLD_SECRET)), 204);

      const stranger = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
      const three = bodyOf('evt_3');
      const refused: [body: string, headers: Record<string, string>][] = [
        [three, signed(three, stranger)],
        [`${three} `, signed(three)],
        [three, { ...signed(three), 'webhook-id': 'evt_4' }],
        [three, signed(three, SECRET, new Date(Date.now() - 600_000))],
        [three, signed(three, SECRET, new Date(Date.now() + 600_000))],
        [three, { ...signed(three), 'webhook-timestamp': '9'.repeat(5_000) }],
        [three, { 'Content-Type': 'application/json' }],
      ];
      for (const [body, headers] of refused) assert.equal(await push(body, headers), 400);
      assert.equal(await push('x'.repeat(70_000), signed(three)).catch(() => 413), 413);
      assert.notEqual((await fetch(url)).status, 204);

      const last = bodyOf('evt_5');
      assert.equal(await push(last, signed(last)), 204);
      await receiver.wrote(/interested[\s\S]+interested 346\n/);
      assert.deepEqual(
        receiver
          .out()
          .trimEnd()
          .split('\n')
          .map((line) => line.trimEnd()),
        [
          '2026-11-22T10:00:00.000+00:00 application.interested 346',
          '2026-11-22T10:00:00.000+00:00 a.later.type',
          '2026-11-22T10:00:00.000+00:00 application.interested 346',
        ],
      );
      assert.doesNotMatch(receiver.err(), /whsec_|Error|Traceback/);
      await receiver.stop('SIGTERM');
    });

    it('takes what the service pushes, also with the old secret after a rotation', async () => {
      const port = await freePort();
      const { apiKey, partnerId } = await service.addPartner();
      const partner = `${partnerId}`;
      const endpoint = (command: string, ...args: string[]) =>
        json('partner', 'endpoint', command, partner, ...args);
      const { secret } = await endpoint('set', '--url', `http://127.0.0.1:${port}/events`);
      const receiver = start(command, [script], { VENTANILLA_WEBHOOK_SECRET: secret, PORT: `${port}` });
      await receiver.wrote(/listening on/);
      const { body } = await post(`${service.url}/PRO`, apiKey, { applications: [anApplication()] });
      const [{ id }] = (body as { results: [{ id: number }] }).results;
      await json('application', 'disburse', `${id}`, '--reason', 'paid');
      await receiver.wrote(new RegExp(`application.status_changed ${id}\\s*\n`));
      await endpoint('rotate');
      await json('event', 'resend', '--partner', partner, '--since', '2026-01-01T00:00:00Z');
      await eventually('the push again', async () => (await endpoint('show')).waiting === 0);
      await endpoint('test');
      await receiver.wrote(/endpoint\.test/);
      assert.equal(receiver.out().match(/status_changed/g)?.length, 1);
      assert.equal(receiver.err().trim().split('\n').length, 1, receiver.err());
    });

    it('says how to start it where the secret is missing', async () => {
      const receiver = start(command, [script], { VENTANILLA_WEBHOOK_SECRET: '' });
      await receiver.wrote(/VENTANILLA_WEBHOOK_SECRET=whsec_/);
    });
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
