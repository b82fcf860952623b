/** The package `ventanilla-submit`, packed and installed without a registry, as a partner gets it. */
import assert from 'node:assert/strict';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packed } from '../../../test/package/install.ts';
import { type Running, run } from '../../../test/process/support.ts';
import { anApplication, testService } from '../../../test/support/service.ts';
import { REPOSITORY } from '../../../test/support/sources.ts';
import { missing, toolFile } from '../../../test/support/tools.ts';
import { type Applicant, csvOf, fileOf, xlsxOf } from './files.ts';
import { proxyOf } from './send/proxy.ts';

const MAX_BYTES = 10_000_000;
const service = await testService();
const { project, installed } = await packed('packages/submit', async (_project, tarball) => [
  'install',
  '--offline',
  tarball,
]);

const command = join(project, 'node_modules/.bin/ventanilla-submit');
const submit = (apiKey: string, ...args: string[]): Running =>
  run(command, args, { VENTANILLA_API_KEY: apiKey }, project);
const readJson = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const applicants = (count: number) => Array.from({ length: count }, () => anApplication() as Applicant);

async function used(apiKey: string): Promise<number> {
  const response = await fetch(`${service.url}/PRO`, { headers: { 'X-API-Key': apiKey } });
  return ((await response.json()) as { partner: { used_24h: number } }).partner.used_24h;
}

test('the installation is small, and has the version and the libraries of the service', () => {
  const files = readdirSync(join(project, 'node_modules'), { recursive: true, withFileTypes: true });
  const bytes = files.reduce(
    (sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).blocks * 512,
    0,
  );
  assert.ok(bytes < MAX_BYTES, `${bytes}`);
  const [own, services] = [readJson(installed), readJson(REPOSITORY)];
  assert.equal(own.version, services.version);
  for (const [name, version] of Object.entries(own.dependencies)) {
    assert.equal(version, services.dependencies[name], name);
    assert.equal(readJson(join(installed, 'node_modules', name)).version, version);
  }
  // The modules of the service stay away.
  const dist = join(installed, 'dist');
  assert.deepEqual(readdirSync(dist).sort(), ['client', 'package.json', 'packages', 'src', 'submit.md']);
  assert.deepEqual(readdirSync(join(dist, 'packages')), ['submit']);
  const rooms = ['ground', 'program', 'wire'].flatMap((storey) =>
    readdirSync(join(dist, 'src', storey)).sort(),
  );
  assert.deepEqual(
    [...readdirSync(join(dist, 'src')).sort(), ...rooms],
    [...['domain', 'ground', 'program', 'wire', 'base', 'cli', 'operations', 'contract']],
  );
});

test('the help is that of `ventanilla submit`, under its own name', async () => {
  const help = await submit('', '--help').exit;
  const { out } = await run(process.execPath, ['src/start.js', 'submit', '--help'], {}).exit;
  assert.equal(
    help.out.replace(/^ {2}-V, --version.*\n/m, ''),
    out
      .replace(/^Usage: ventanilla submit/, 'Usage: ventanilla-submit')
      .replace('npx ventanilla submit', 'ventanilla-submit'),
  );
  assert.equal((await submit('', '--version').exit).out, `${readJson(REPOSITORY).version}\n`);
  assert.deepEqual((await submit('').exit).code, 1);
});

test('a dry run checks a CSV and an XLSX', async () => {
  const three = applicants(3);
  for (const file of [fileOf('dry.csv', csvOf(three)), fileOf('dry.xlsx', xlsxOf(three))]) {
    const { code, out, err } = await submit('', file, '--dry-run', '--json').exit;
    assert.deepEqual([code, JSON.parse(out).rows], [0, 3], err);
  }
});

test('D16: a submission that was killed is resumed, and registers everybody once', async () => {
  const { apiKey } = await service.addPartner();
  const proxy = await proxyOf(service.url);
  const file = fileOf('all.csv', csvOf(applicants(620)));
  const args = [file, '--url', proxy.url, '--yes', '--json'];
  const first = submit(apiKey, ...args);
  proxy.afterPost = ({ number }) => {
    if (number < 3) return true;
    process.kill(first.pid, 'SIGKILL');
    return false;
  };
  await first.exit;
  assert.ok((await used(apiKey)) < 620);
  proxy.afterPost = () => true;
  const { code, out, err } = await submit(apiKey, ...args).exit;
  assert.deepEqual([code, JSON.parse(out).not_sent], [0, 0], err);
  assert.equal(await used(apiKey), 620);
});

test('an older Node says in one line which Node is needed', { skip: missing('node 20') }, async () => {
  const { code, out, err } = await run(toolFile('node 20'), [command, '--help'], {}, project).exit;
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /^error: ventanilla-submit needs Node 22\.13 or later; this is Node 20\.\S+\n$/);
});
