/** The published package in a browser, as it is and in a bundle. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { skip, testBrowser } from '../support/browser.ts';
import { testService } from '../support/service.ts';
import { missing, toolFile } from '../support/tools.ts';
import { packedClient, run } from './packed.ts';
import { startPeer } from './peer.ts';
import { inputs, stored } from './support.ts';

const bounded = { timeout: 60_000 };

describe('in a browser, behind the page’s own server', { skip, ...bounded }, async () => {
  if (skip) return;
  const service = await testService();
  const { project, installed } = await packedClient();
  const site = await startPeer(service.url, async ({ path }) => {
    if (path === '/PRO') return 'forward';
    if (path === '/')
      return { status: 200, headers: { 'Content-Type': 'text/html' }, body: '<!doctype html>' };
    const file = path === '/bundle.js' ? join(project, path) : join(installed, 'dist', path);
    const body = await readFile(file, 'utf8').catch(() => '');
    return { status: 200, headers: { 'Content-Type': 'text/javascript' }, body };
  });
  const visit = testBrowser(site.url);

  async function registersFromPage(module: string): Promise<void> {
    const { apiKey, partnerId } = await service.addPartner();
    const settings = {
      module,
      apiKey,
      url: `${site.url}/PRO`,
      direct: `${service.url}/PRO`,
      list: inputs(150),
    };
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
  }

  it('the package registers a list from a page, and the service refuses pages of other origins', async () => {
    await registersFromPage('/index.js');
  });

  it('a bundle of the package does the same', { skip: missing('esbuild') }, async () => {
    await writeFile(join(project, 'page.js'), "export { VentanillaClient } from 'ventanilla-client';\n");
    const options = ['--bundle', '--minify', '--platform=browser', '--format=esm', '--outfile=bundle.js'];
    const { stderr } = await run(toolFile('esbuild'), ['page.js', ...options, '--log-level=warning'], {
      cwd: project,
    });
    assert.equal(stderr, '');
    await registersFromPage('/bundle.js');
  });
});

interface Settings {
  /** The path of the package's module on the page's server. */
  readonly module: string;
  readonly apiKey: string;
  readonly url: string;
  /** The URL of the service, which has another origin than the page. */
  readonly direct: string;
  readonly list: readonly object[];
}

/** Runs in the page. */
async function submitThere({ module, apiKey, url, direct, list }: Settings) {
  // No plain import, because the tests' compiler would look for the module.
  const { VentanillaClient } = await new Function('module', 'return import(module)')(module);
  const client = new VentanillaClient({ url, apiKey });
  const outcomes = await client.submit(list);
  const elsewhere = new VentanillaClient({ url: direct, apiKey, retries: 0 });
  const refusal: string = await elsewhere.quota().catch((error: Error) => error.name);
  return { kinds: outcomes.map(({ kind }: { kind: string }) => kind), quota: await client.quota(), refusal };
}
