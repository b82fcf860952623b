/** examples/receive_events.py takes what the service pushes (D41). */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { readEndpointHosts } from '../../src/domain/partner/endpoint-url.ts';
import { pushSender } from '../../src/push/http/sender.ts';
import { makeSigningSecret, signatureHeaders } from '../../src/push/http/sign.ts';
import { eventually } from '../support/eventually.ts';
import { REPOSITORY } from '../support/sources.ts';
import { EXAMPLES, missing } from './support.ts';

const SCRIPT = join(EXAMPLES, 'receive_events.py');

describe('examples/receive_events.py', { skip: missing('python3') }, () => {
  it('D41: prints each pushed event once and answers 204; what does not verify gets 400', async () => {
    const secret = makeSigningSecret();
    const port = await freePort();
    const child = spawn('python3', [SCRIPT, `${port}`], {
      env: { ...process.env, VENTANILLA_WEBHOOK_SECRET: secret },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    after(() => child.kill('SIGKILL'));
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk;
    });
    const sender = pushSender({ hosts: readEndpointHosts(`127.0.0.1:${port}`) });
    after(() => sender.close());
    const push = (secrets: string[], timestamp = Math.floor(Date.now() / 1000)) => {
      const body = JSON.stringify({ id: 'evt_1', type: 'endpoint.test', data: {} });
      const headers = signatureHeaders({ id: 'evt_1', timestamp, body }, secrets);
      return sender.send(
        { url: new URL(`http://127.0.0.1:${port}/`), headers, body },
        new AbortController().signal,
      );
    };
    await eventually('the endpoint', async () => (await push([secret])).kind === 'delivered');
    assert.deepEqual(await push([makeSigningSecret(), secret]), { kind: 'delivered', status: 204 });
    const refused = { kind: 'failed', failure: 'status_400', isGone: false };
    assert.deepEqual(await push([makeSigningSecret()]), refused);
    assert.deepEqual(await push([secret], Math.floor(Date.now() / 1000) - 3_600), refused);
    assert.deepEqual(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
      ['evt_1'],
    );
  });

  it('docs/events.md has the function of the example', () => {
    const [, shown = ''] =
      /```python\n([\s\S]*?)```/.exec(readFileSync(join(REPOSITORY, 'docs/events.md'), 'utf8')) ?? [];
    const script = readFileSync(SCRIPT, 'utf8').replace(/^ +""".*"""\n/gm, '');
    assert.ok(shown.length > 100 && script.includes(shown), shown);
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
