/** The published package: its files, that it runs, and that it has types. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { skip, testBrowser } from '../support/browser.ts';
import { testService } from '../support/service.ts';
import { startPeer } from './peer.ts';
import { inputs, stored } from './support.ts';

const REPOSITORY = resolve(import.meta.dirname, '../..');
const CLIENT = join(REPOSITORY, 'client');
const TSC = join(REPOSITORY, 'node_modules/.bin/tsc');
const bounded = { timeout: 60_000 };
const run = promisify(execFile);

const service = await testService();
/** A project with the package installed. */
let project: string;
let dist: string;

before(async () => {
  project = await mkdtemp(join(tmpdir(), 'ventanilla-client-'));
  const installed = join(project, 'node_modules/ventanilla-client');
  dist = join(installed, 'dist');
  await mkdir(installed, { recursive: true });
  await cp(join(CLIENT, 'package.json'), join(installed, 'package.json'));
  await run(TSC, ['-p', CLIENT, '--outDir', dist]);
});
after(() => rm(project, { recursive: true, force: true }));

it('the sources import only each other, and each is short and has a header', () => {
  const names = readdirSync(join(CLIENT, 'src'));
  assert.ok(names.length >= 8);
  for (const name of names) {
    const text = readFileSync(join(CLIENT, 'src', name), 'utf8');
    for (const [, specifier] of text.matchAll(/\bfrom\s*'([^']+)'|\bimport\s*\(/g)) {
      assert.ok(names.includes(String(specifier).replace(/^\.\//, '')), `${name} imports ${specifier}`);
    }
    assert.ok(text.split('\n').length <= 200, name);
    assert.match(text, /^\/\*\*/, name);
    assert.doesNotMatch(text, /\b(TODO|FIXME|console\.)/, name);
  }
});

it('the package has no dependencies and holds only JavaScript and types', () => {
  const manifest = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8'));
  assert.deepEqual(
    Object.keys(manifest).filter((key) => /dependencies/i.test(key)),
    [],
  );
  const names = readdirSync(dist);
  assert.deepEqual(
    names.filter((name) => !/\.(js|d\.ts)$/.test(name)),
    [],
  );
  const { types, default: main } = manifest.exports['.'];
  for (const path of [types, main]) assert.ok(names.includes(path.replace('./dist/', '')), path);
});

it('every export has a docstring', () => {
  for (const name of ['client', 'errors', 'options', 'wire']) {
    const text = readFileSync(join(dist, `${name}.d.ts`), 'utf8');
    assert.deepEqual(text.match(/(?<!\*\/\n)^export (?!\{\}).*/gm) ?? [], [], name);
  }
});

it('a program imports the installed package by name', bounded, async () => {
  const { apiKey, partnerId } = await service.addPartner();
  await writeFile(
    join(project, 'program.mjs'),
    `import { VentanillaClient, VentanillaError } from 'ventanilla-client';
    const client = new VentanillaClient({ url: process.env.URL, apiKey: process.env.KEY });
    const outcomes = await client.submit(JSON.parse(process.env.INPUTS));
    console.log(outcomes.map(({ kind }) => kind).join(), (await client.quota()).used24h, VentanillaError.name);`,
  );
  const INPUTS = JSON.stringify(inputs(2));
  const env = { ...process.env, URL: `${service.url}/PRO`, KEY: apiKey, INPUTS };
  const { stdout } = await run(process.execPath, ['program.mjs'], { cwd: project, env });
  assert.equal(stdout, 'registered,registered 2 VentanillaError\n');
  assert.equal(await stored(service.database, partnerId), 2);
});

it('its types are found and work without those of Node', bounded, async () => {
  await writeFile(
    join(project, 'program.ts'),
    `import { type Application, type Outcome, VentanillaClient } from 'ventanilla-client';
    const client = new VentanillaClient({ url: '', apiKey: '' });
    export async function f(list: Application[]): Promise<number[]> {
      const outcomes: Outcome[] = await client.submit(list);
      for await (const { index, outcome } of client.stream(list)) {
        if (outcome.kind === 'registered') index satisfies number;
        // @ts-expect-error an invalid one has no score
        if (outcome.kind === 'invalid') outcome.score;
      }
      return outcomes.map((outcome) => (outcome.kind === 'quota_exceeded' ? outcome.remaining : 0));
    }`,
  );
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom', '--types', ''];
  for (const [module, resolution] of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ] as const) {
    const result = run(
      TSC,
      [...options, '--module', module, '--moduleResolution', resolution, 'program.ts'],
      {
        cwd: project,
      },
    ).then(
      () => 'compiles',
      ({ stdout }) => stdout,
    );
    assert.equal(await result, 'compiles', module);
  }
});

const named = 'in a browser, behind the page’s own server';
describe(named, { skip, ...bounded }, async () => {
  if (skip) return;
  const site = await startPeer(service.url, async ({ path }) => {
    if (path === '/PRO') return 'forward';
    if (path === '/')
      return { status: 200, headers: { 'Content-Type': 'text/html' }, body: '<!doctype html>' };
    const body = await readFile(join(dist, path.slice(1)), 'utf8').catch(() => '');
    return { status: 200, headers: { 'Content-Type': 'text/javascript' }, body };
  });
  const visit = testBrowser(site.url);

  it('the package registers a list from a page, and the service refuses pages of other origins', async () => {
    const { apiKey, partnerId } = await service.addPartner();
    const settings = { apiKey, url: `${site.url}/PRO`, direct: `${service.url}/PRO`, list: inputs(150) };
    // Chromium logs the expected refusal.
    const expected = new RegExp(`^${service.url}/|CORS policy|net::ERR_FAILED`);
    const act = async (page: Page) => {
      const { kinds, quota, refusal } = await page.evaluate(submitThere, settings);
      assert.deepEqual(
        kinds,
        settings.list.map(() => 'registered'),
      );
      assert.equal(quota.used24h, 150);
      assert.equal(refusal, 'NetworkError');
      assert.equal(await stored(service.database, partnerId), 150);
    };
    await visit({}, act, { path: '/', expected });
  });
});

interface Settings {
  readonly apiKey: string;
  readonly url: string;
  /** The URL of the service, which has another origin than the page. */
  readonly direct: string;
  readonly list: readonly object[];
}

/** Runs in the page. */
async function submitThere({ apiKey, url, direct, list }: Settings) {
  // No plain import, because the tests' compiler would look for the module.
  const { VentanillaClient } = await new Function('return import("/index.js")')();
  const client = new VentanillaClient({ url, apiKey });
  const outcomes = await client.submit(list);
  const elsewhere = new VentanillaClient({ url: direct, apiKey, retries: 0 });
  const refusal: string = await elsewhere.quota().catch((error: Error) => error.name);
  return { kinds: outcomes.map(({ kind }: { kind: string }) => kind), quota: await client.quota(), refusal };
}
