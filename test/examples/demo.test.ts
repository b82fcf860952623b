/** The demo: what it shows, and where it stops. Its way to a signed contract needs the service with all its parts. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { DemoError } from '../../examples/demo/service.ts';
import { untilDisbursed } from '../../examples/demo/until-disbursed.ts';
import { untilSigned } from '../../examples/demo/until-signed.ts';
import { commandLine } from '../cli/harness.ts';
import { testService } from '../support/service.ts';
import { REPOSITORY } from '../support/sources.ts';

const run = promisify(execFile);
const dataDir = await mkdtemp(join(tmpdir(), 'ventanilla-demo-'));
const service = await testService({ DELIVERY: 'on', DATA_DIR: dataDir });
after(() => rm(dataDir, { recursive: true }));
const { apiKey } = await service.addPartner();
const page = `${service.opsUrl}/simulator`;

function demo(options: string[], changes: Record<string, string> = {}, cwd = REPOSITORY) {
  const env = {
    ...process.env,
    ...{ VENTANILLA_URL: `${service.url}/PRO`, VENTANILLA_API_KEY: apiKey, VENTANILLA_SIMULATOR_URL: page },
    ...changes,
  };
  return run(process.execPath, [join(REPOSITORY, 'examples/demo.ts'), ...options], { cwd, env }).then(
    ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

/** A server in front of another one: `answer` decides on each request, by its path. */
async function standBetween(
  base: string,
  answer: (path: string, forward: () => Promise<Response>) => Promise<Response>,
) {
  const server = createServer(async (request, response) => {
    const sent = await buffer(request);
    const { url: path = '/', method = 'GET' } = request;
    const body = method === 'POST' ? sent : null;
    const headers = { 'X-API-Key': apiKey, 'Content-Type': 'application/json' };
    const answered = await answer(path.split('?')[0]!, () => fetch(base + path, { method, headers, body }));
    response.writeHead(answered.status).end(Buffer.from(await answered.arrayBuffer()));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

describe('npm run demo', () => {
  it('shows the outcome of each application of the example', async () => {
    const { code, stdout } = await demo([]);
    assert.equal(code, 0);
    assert.match(stdout, /approved \d+, in_review \d+, rejected \d+, error \d+: \d+ registered, \d+ not/);
  });

  it('finds the service by the ports in .env of the current folder, as the service does', async () => {
    const [port, opsPort] = [service.url, service.opsUrl].map((url) => new URL(url).port);
    await writeFile(join(dataDir, '.env'), `PORT=${port}\nOPS_PORT=${opsPort}\n`);
    const without = { VENTANILLA_URL: '', VENTANILLA_SIMULATOR_URL: '' };
    const { code, stdout, stderr } = await demo(['--until', 'signed'], without, dataDir);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^signed +/m);
  });

  it('names the argument that it does not know, and shows its options', async () => {
    for (const [options, fault] of [
      [['--until'], '--until must be: signed, disbursed'],
      [['--until', 'paid'], '--until must be: signed, disbursed'],
      [['signed'], "unknown argument 'signed'"],
      [['--until', 'signed', 'x'], "unknown argument 'x'"],
      [['--until', 'signed', '--within', '9', 'x'], "unknown argument 'x'"],
      [['--until', 'signed', '--within', '0'], '--within must be whole seconds, such as 300'],
      [['--until', 'signed', '--within'], '--within must be whole seconds, such as 300'],
    ] as const) {
      const { code, stderr } = await demo([...options]);
      assert.deepEqual([code, stderr.split('\n')[0], /-- --until signed/.test(stderr)], [1, fault, true]);
    }
    const { code, stdout } = await demo(['--help']);
    assert.deepEqual([code, /VENTANILLA_SIMULATOR_URL/.test(stdout)], [0, true]);
  });

  it('says what to start where no page of the simulator answers', async () => {
    const { code, stderr } = await demo(['--until', 'signed'], {
      VENTANILLA_SIMULATOR_URL: 'http://127.0.0.1:1/simulator',
    });
    assert.equal(code, 1);
    assert.match(stderr, /CHANNEL=simulator/);
  });

  it('goes from a batch to a signed contract, and again beside the first one', async () => {
    for (let run = 1; run <= 2; run += 1) {
      const { code, stdout, stderr } = await demo(['--until', 'signed']);
      assert.equal(code, 0, `${stdout}\n${stderr}`);
      assert.match(stdout, /^signed +the contract of application \d+/m);
    }
  });

  it('pays before the end of the time to withdraw, by two operators, and brings the final schedule', async () => {
    const { run } = commandLine(service, { DATA_DIR: dataDir });
    const asked: string[][] = [];
    await untilDisbursed(new URL(`${service.url}/PRO`), apiKey, page, 300_000, (...args) => {
      asked.push([...args]);
      return run(...args);
    });
    const payments = asked.filter(([, act]) => act === 'disburse');
    assert.deepEqual(
      payments.map((args) => [args.includes('--override'), args.includes('--second')]),
      [
        [false, false],
        [true, true],
      ],
      'without the override the payment is refused',
    );
  });

  it('takes another phone where the first one has an open application', async () => {
    let posts = 0;
    // The first request is registered before the demo's own one arrives, so the service itself says "duplicate".
    const between = await standBetween(service.url, async (_, forward) => {
      posts += 1;
      if (posts === 1) await forward();
      return forward();
    });
    try {
      // How far it gets in a second depends on the machine.
      await assert.rejects(
        untilSigned(new URL('/PRO', between.url), apiKey, page, 1),
        /did not come in time: /,
      );
      assert.equal(posts, 2);
    } finally {
      between.close();
    }
  });

  it('asks again where a busy service answers 500: nothing is lost or doubled by that', async () => {
    const failed = new Set<string>();
    // The first request of each path fails. The phone is heard all the same.
    const fail = (isHeard: boolean) => async (path: string, forward: () => Promise<Response>) => {
      if (failed.has(path)) return forward();
      failed.add(path);
      if (isHeard) await forward();
      return new Response('{}', { status: 500 });
    };
    const [partners, phones] = [
      await standBetween(service.url, fail(false)),
      await standBetween(service.opsUrl, fail(true)),
    ];
    try {
      await untilSigned(new URL('/PRO', partners.url), apiKey, `${phones.url}/simulator`);
      assert.ok(failed.has('/PRO') && failed.has('/simulator/chats') && failed.has('/simulator/text'));
    } finally {
      partners.close();
      phones.close();
    }
  });

  it('says after some tries that the service answers 500', async () => {
    const between = await standBetween(service.url, async () => new Response('{}', { status: 500 }));
    try {
      const url = new URL('/PRO', between.url);
      await assert.rejects(untilSigned(url, apiKey, page), /answered 500/);
    } finally {
      between.close();
    }
  });

  it('says which step did not come, and where to look', async () => {
    const url = new URL(`${service.url}/PRO`);
    await assert.rejects(
      untilSigned(url, apiKey, page, 1),
      (error: Error) =>
        error instanceof DemoError && /did not come in time: the .*application show \d+/.test(error.message),
    );
  });
});
