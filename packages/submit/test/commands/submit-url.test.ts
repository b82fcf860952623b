/** `submit` takes its URL and its key from its caller alone. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { submit } from './submit-harness.ts';

const MAIN = resolve(import.meta.dirname, '../../../../src/main.ts');
const folder = await mkdtemp(join(tmpdir(), 'ventanilla-submit-'));
after(() => rm(folder, { recursive: true, force: true }));
const file = join(folder, 'applicants.csv');
await writeFile(
  file,
  'name,id_number,city,income,debt_amount,num_debts,debt_age,prior_history,messaging_optin\n' +
    'Ana,1020304050,Cali,3200000,6000000,1,lt6,yes,true\n',
);

test('submit reads no key from a .env in its folder', async () => {
  await writeFile(
    join(folder, '.env'),
    'VENTANILLA_API_KEY=vtn_of_a_stranger\nNODE_TLS_REJECT_UNAUTHORIZED=0\n',
  );
  const { VENTANILLA_API_KEY: _, ...env } = process.env;
  // The program's own option may stand before the command.
  for (const options of [[], ['--debug']]) {
    const args = [MAIN, ...options, 'submit', file, '--url', 'https://host.invalid/PRO', '--yes'];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' });
    assert.equal(status, 1);
    assert.match(stderr, /^error: VENTANILLA_API_KEY is not set/m, options.join());
  }
});

test('a .env that cannot be read is told in one line', () => {
  const elsewhere = join(folder, 'elsewhere');
  mkdirSync(join(elsewhere, '.env'), { recursive: true });
  const { status, stderr } = spawnSync(process.execPath, [MAIN, 'partner', 'list'], {
    cwd: elsewhere,
    encoding: 'utf8',
  });
  assert.equal(status, 1);
  assert.match(stderr, /^error: \.env must be a file that this user may read\n$/);
});

test('http:// to another machine is refused before anything is shown or sent, unless --insecure-http allows it', async () => {
  const send = (...options: string[]) =>
    submit({ apiKey: 'vtn_key' }, file, '--url', 'http://127.0.0.1.invalid:1/PRO', '--yes', ...options);
  const refused = await send();
  assert.equal(refused.code, 1);
  assert.match(refused.err, /^error: --url must begin with https:.*--insecure-http/m);
  assert.equal(refused.out, '', 'nor is anything of the file shown');
  assert.doesNotMatch(
    (await submit({ apiKey: 'x' }, file, '--url', 'http://localhost:1/', '--dry-run')).err,
    /https:/,
  );
});

test('a redirect is an error, and the key does not follow it', async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url);
    response.writeHead(307, { Location: `http://127.0.0.1:${port}/elsewhere` }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { code, err } = await submit(
    { apiKey: 'vtn_key' },
    file,
    '--url',
    `http://127.0.0.1:${port}`,
    '--yes',
  );
  assert.equal(code, 1);
  assert.match(err, /the URL redirects/);
  assert.deepEqual(seen, ['/PRO']);
});
