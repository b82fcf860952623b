/** The first start, later starts and refused starts, by `npm start` as a newcomer uses it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import pg from 'pg';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';
import { readyAt } from '../support/eventually.ts';
import { as, RUNTIME_ROLE, runtimePassword } from '../support/runtime-role.ts';
import { anApplication } from '../support/service.ts';
import {
  complaints,
  emptyDataDir,
  newDataDir,
  npmStart,
  pasteShown,
  query,
  run,
  scratch,
  startService,
  submit,
  type Variables,
  ventanilla,
  ventanillaJson,
} from './support.ts';

const API_KEY = /vtn_all_[0-9a-f]{48}/g;

/** Expects a start to end with exit code 1 and only its reasons, the first of which matches. */
async function refuses(dataDir: string, variables: Variables, line: RegExp): Promise<void> {
  const exit = await npmStart(dataDir, variables).exit;
  const [first = '', ...more] = complaints(exit);
  assert.match(first, line);
  // One line for each wrong setting, and nothing else.
  for (const other of more) assert.match(other, /^ {7}[A-Z_]+ (is required|must) /);
  assert.equal(exit.code, 1);
  assert.doesNotMatch(exit.out, /Ventanilla is ready|\n {4}at |"stack"|57P01/);
}

/** The link that a start shows while no operator can sign in. */
function linkOf({ out }: { out: string }): URL {
  const [link] = /http:\/\/localhost:\d+\/#token=[\w-]{43}$/m.exec(out) ?? [];
  assert.ok(link, 'no link');
  return new URL(link);
}

/** The status of the first step behind a link. */
async function beginsEnrolment({ origin, hash }: URL): Promise<number> {
  const response = await fetch(`${origin}/api/enrolment`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      token: new URLSearchParams(hash.slice(1)).get('token'),
      password: 'seven wet umbrellas',
    }),
  });
  await response.body?.cancel();
  return response.status;
}

async function takenPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  return (server.address() as AddressInfo).port;
}

function policyFile(name: string, content: string | object): string {
  const path = scratch(name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

describe('starting', { concurrency: 2 }, () => {
  test('D48: a new start ends the first admin’s link, until the admin can sign in', async () => {
    const dataDir = emptyDataDir();
    const first = await startService(dataDir);
    const old = linkOf(first);
    assert.equal((await first.stop()).code, 0);
    const second = await startService(dataDir);
    const link = linkOf(second);
    old.port = link.port;
    assert.equal(await beginsEnrolment(old), 404);
    assert.equal(await beginsEnrolment(link), 200);
    assert.deepEqual(
      await query(
        dataDir,
        "SELECT count(*)::integer AS rows FROM operator_events WHERE act = 'operator add'",
      ),
      [{ rows: 1 }],
    );
    // As the right code does.
    await query(dataDir, 'UPDATE operators SET enrolled_at = now(), enrolment = NULL, enrolment_ends = NULL');
    assert.equal((await second.stop()).code, 0);
    const third = await startService(dataDir, { CONSOLE_URL: 'https://desk.example.com' });
    assert.match(third.out, /Console +https:\/\/desk\.example\.com/);
    assert.doesNotMatch(third.out, /token=/);
    assert.equal((await third.stop()).code, 0);
  });

  test('npm start runs `ventanilla serve` without other settings of the process', () => {
    const { scripts, bin } = JSON.parse(readFileSync('package.json', 'utf8'));
    assert.equal(scripts.start, `exec node --disable-sigusr1 ${bin.ventanilla} serve`);
  });

  test('from an empty store to a registered batch and later starts', async (t) => {
    const dataDir = emptyDataDir();
    const port = await takenPort();

    // The portal is opened last: what is open by then must not keep the process alive.
    for (const name of ['PORT', 'PORTAL_PORT'])
      await t.test(`a taken ${name} is named in the error, and the process ends`, async () => {
        await refuses(
          dataDir,
          { [name]: String(port) },
          new RegExp(`^error: ${name} must be .*127\\.0\\.0\\.1:${port}$`),
        );
      });

    // The failed start must not have lost the key.
    const service = await startService(dataDir, {}, npmStart);
    const [apiKey = ''] = API_KEY.exec(service.out) ?? [];

    await t.test('the first start shows the URLs, the key and a command that registers', async () => {
      API_KEY.lastIndex = 0;
      const curl = /^ *(curl .*)$/m.exec(service.out)?.[1] ?? '';
      assert.ok(curl.includes(`${service.url}/PRO`) && curl.includes(apiKey));
      assert.equal(service.out.replace(curl, '').match(API_KEY)?.length, 1);
      assert.match(service.out, new RegExp(`${service.url}/DEV`));
      assert.match(service.out, new RegExp(`${service.opsUrl}/readyz`));
      assert.deepEqual(complaints(service), []);
    });

    await t.test('the command can be pasted', { skip: !has('curl') && 'no curl here' }, async () => {
      assert.equal((await pasteShown(service)).processed, 1);
    });

    await t.test('the command for the demo can be pasted', async () => {
      const line = /^ *(.*npm run demo)$/m.exec(service.out)?.[1] ?? '';
      const { code, out, err } = await run('sh', ['-c', line], {}).exit;
      assert.equal(code, 0, err);
      const text = stripVTControlCharacters(out);
      assert.match(text, /│ +100 │/);
      assert.match(text, /[1-9]\d* registered, [1-9]\d* not/);
      assert.match(text, /Quota of Demo/);
    });

    await t.test('the same command plays an applicant until the contract is signed', async () => {
      const line = /^ *(.*npm run demo)$/m.exec(service.out)?.[1] ?? '';
      const { code, out, err } = await run('sh', ['-c', `${line} -- --until signed --within 900`], {}).exit;
      assert.equal(code, 0, err);
      assert.match(stripVTControlCharacters(out), /^signed +the contract of application/m);
    });

    await t.test(
      '/healthz and /readyz answer 200 on the operators’ port, / leads to the phones, anything else is 404',
      async () => {
        const status = async (url: string) => (await fetch(url)).status;
        assert.equal(await status(`${service.opsUrl}/healthz`), 200);
        await readyAt(service.opsUrl);
        const { status: code, headers } = await fetch(`${service.opsUrl}/`, { redirect: 'manual' });
        assert.deepEqual([code, headers.get('location')], [302, '/simulator']);
        for (const path of ['/metrics/x', '/healthz/x', '/PRO']) {
          assert.equal(await status(service.opsUrl + path), 404, path);
        }
        assert.equal(await status(`${service.url}/healthz`), 404);
        assert.equal(await status(`${service.url}/readyz`), 404);
      },
    );

    await t.test('only the owner has access to the files', () => {
      const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
      assert.equal(mode(dataDir), '700');
      for (const name of [
        'secrets.json',
        'demo-key',
        'postgres.log',
        'postgres.password',
        'postgres.service-password',
      ]) {
        assert.equal(mode(join(dataDir, name)), '600', name);
      }
      assert.equal(mode(join(dataDir, 'postgres')), '700');
    });

    await t.test('D48: the first admin’s link works, and the record has the account once', async () => {
      const link = linkOf(service);
      assert.equal(link.hostname, 'localhost');
      assert.equal(await beginsEnrolment(link), 200);
      const [operator, ...others] = await ventanillaJson(dataDir, 'operator', 'list');
      assert.deepEqual([operator.login, operator.role, others], ['admin', 'admin', []]);
    });

    const whileRunning = await ventanillaJson(dataDir, 'partner', 'list');
    assert.deepEqual(
      whileRunning.map(({ name, country }: { name: string; country: string }) => [name, country]),
      [['Demo', 'CO']],
    );
    assert.equal((await service.stop()).code, 0);

    await t.test('the command line also works without the service', async () => {
      assert.deepEqual(await ventanillaJson(dataDir, 'partner', 'list'), whileRunning);
      assert.equal((await ventanilla(dataDir, 'partner', 'list')).out.match(/Demo/g)?.length, 1);
    });

    await t.test('a taken OPS_PORT is named in the error, and no listener stays open', async () => {
      await refuses(dataDir, { OPS_PORT: String(port) }, new RegExp(`^error: OPS_PORT must be .*:${port}$`));
    });

    await t.test('a policy that changed without a new version is refused', async () => {
      const changed = { ...DEFAULT_POLICY, decision: { approved: 71, in_review: 30 } };
      const line = /^error: policy version default-2 .* new version$/;
      await refuses(dataDir, { POLICY_FILE: policyFile('changed.json', changed) }, line);
    });

    await t.test('the next start shows and makes no key, and the old key still works', async () => {
      const policy = policyFile('next.json', { ...DEFAULT_POLICY, version: 'next-1' });
      const again = await startService(dataDir, { POLICY_FILE: policy, BASE_PATH: '/api/v1/' });
      assert.match(again.url, /\/api\/v1$/);
      assert.doesNotMatch(again.out, /vtn_|curl/);
      assert.match(again.out, /POLICY_FILE only seeds an empty store/);
      const { status, body } = await submit(again, apiKey, [anApplication()]);
      assert.deepEqual([status, body.processed], [200, 1]);
      assert.equal((await again.stop()).code, 0);
      const [newest] = await ventanillaJson(dataDir, 'application', 'list', '--limit', '1');
      const { policy_version } = await ventanillaJson(dataDir, 'application', 'show', String(newest.id));
      assert.equal(policy_version, 'default-2', 'D51: an activation alone changes the policy');
    });
  });

  test('the error names a variable that breaks its rule, in one line', async () => {
    // The start is refused before the store is opened, so no file exists afterwards.
    const dataDir = emptyDataDir();
    // The rule of each variable is tested with the configuration (test/app/config.test.ts).
    const wrong: [Variables, RegExp][] = [
      [{ PORT: 'abc' }, /^error: PORT must be a port number/],
      [{ OPS_HOST: '0.0.0.0' }, /^error: OPS_HOST must be an address of this machine alone /],
      [
        { DATABASE_URL: 'postgres://localhost/x', CHANNEL: 'log' },
        /^error: DATA_KEYS is required with DATABASE_URL$/,
      ],
      [{ INDEX_KEY: 'short' }, /^error: DATA_KEYS is required where any of /],
    ];
    await Promise.all(wrong.map(([variables, line]) => refuses(dataDir, variables, line)));
    assert.throws(() => statSync(dataDir), { code: 'ENOENT' });
  });

  test('a fault that shows only during the start is named in one line', async () => {
    const dataDir = newDataDir();
    await refuses(
      dataDir,
      { HOST: '192.0.2.1' },
      /^error: HOST must be an address of this machine: 192\.0\.2\.1 /,
    );
    // Each fault of a policy is tested with its reading (test/applications/load-policy.test.ts).
    const negative = { ...DEFAULT_POLICY, channel: { gig: -1 } };
    await refuses(
      dataDir,
      { POLICY_FILE: policyFile('negative.json', negative) },
      /^error: POLICY_FILE .*negative\.json: channel\.gig /,
    );
    const file = policyFile('a-file', '');
    await refuses(file, {}, /^error: DATA_DIR is not a directory: /);
  });

  test('the service runs on the operator’s own PostgreSQL, without a demo partner', async (t) => {
    const name = `own_${randomBytes(6).toString('hex')}`;
    const admin = new pg.Client({ connectionString: process.env.TEST_DATABASE_URL });
    await admin.connect();
    await admin.query(`CREATE DATABASE ${name}`);
    t.after(async () => {
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await admin.end();
    });
    const address = new URL(process.env.TEST_DATABASE_URL as string);
    address.pathname = `/${name}`;
    const key = () => randomBytes(32).toString('base64');
    const asService = () => as(address.href, RUNTIME_ROLE, runtimePassword(address.href));
    const variables = {
      DATABASE_URL: asService(),
      CHANNEL: 'log',
      DATA_KEYS: `1:${key()}`,
      INDEX_KEY: key(),
      API_KEY_PEPPER: key(),
    };
    const dataDir = emptyDataDir();
    await refuses(dataDir, variables, /^error: the tables are not there, .*: set MIGRATE_DATABASE_URL /);
    await refuses(
      dataDir,
      { ...variables, DATABASE_URL: address.href },
      /^error: DATABASE_URL connects as the superuser \S+, and the service never does: make a role /,
    );
    const service = await startService(dataDir, { ...variables, MIGRATE_DATABASE_URL: address.href });
    assert.doesNotMatch(service.out, /vtn_|curl/);
    await readyAt(service.opsUrl);
    assert.equal((await submit(service, 'vtn_none', [anApplication()])).status, 401);
    const listed = await run('npx', ['ventanilla', 'partner', 'list', '--json'], variables).exit;
    assert.deepEqual(JSON.parse(listed.out), []);
    assert.equal((await service.stop()).code, 0);
    assert.throws(() => statSync(dataDir), { code: 'ENOENT' });

    // A command elsewhere issues an API key, which depends on the pepper from then on.
    for (const args of ['partner add --name Acme --country CO', 'key issue --partner 1']) {
      const { code } = await run(process.execPath, ['src/start.js', ...args.split(' ')], variables).exit;
      assert.equal(code, 0);
    }
    const line = /^error: API_KEY_PEPPER is not the one /;
    await refuses(dataDir, { ...variables, API_KEY_PEPPER: key() }, line);
    // A fault that waiting cannot repair is told at once, with the variable's name and without its value.
    address.pathname = '/none';
    await refuses(
      dataDir,
      { ...variables, DATABASE_URL: asService() },
      /^error: DATABASE_URL cannot be used: the server has no such database \(3D000\)$/,
    );
  });
});

function has(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined;
}
