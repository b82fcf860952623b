/** The published package in a browser, as it is and in a bundle. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { skip, testBrowser } from '../support/browser.ts';
import { PATIENCE_MS } from '../support/eventually.ts';
import { testService } from '../support/service.ts';
import { missing, toolFile } from '../support/tools.ts';
import { packedClient, run } from './packed.ts';
import { startPeer } from './peer.ts';
import { inputs, stored } from './support.ts';

const bounded = { timeout: PATIENCE_MS };

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

  async function worksInPage(module: string): Promise<void> {
    const { apiKey, partnerId } = await service.addPartner();
    const settings = {
      module,
      apiKey,
      url: `${site.url}/PRO`,
      direct: `${service.url}/PRO`,
      list: inputs(150),
      push: aPush(),
    };
    // Chromium logs the expected refusal.
    const expected = new RegExp(`^${service.url}/|CORS policy|net::ERR_FAILED`);
    const act = async (page: Page) => {
      const { kinds, quota, refusal, pushed } = await page.evaluate(actThere, settings);
      assert.deepEqual(
        kinds,
        settings.list.map(() => 'registered'),
      );
      assert.equal(quota.used24h, 150);
      assert.equal(refusal, 'NetworkError');
      assert.equal(pushed, 'application.interested signature_mismatch');
      assert.equal(await stored(service.database, partnerId), 150);
    };
    await visit({}, act, { path: '/', expected });
  }

  it('the package registers a list and verifies a push in a page, and the service refuses pages of other origins', async () => {
    await worksInPage('/index.js');
  });

  it('a bundle of the package does the same', { skip: missing('esbuild') }, async () => {
    await writeFile(
      join(project, 'page.js'),
      "export { VentanillaClient, verifyWebhook } from 'ventanilla-client';\n",
    );
    const options = ['--bundle', '--minify', '--platform=browser', '--format=esm', '--outfile=bundle.js'];
    const { stderr } = await run(toolFile('esbuild'), ['page.js', ...options, '--log-level=warning'], {
      cwd: project,
    });
    assert.equal(stderr, '');
    await worksInPage('/bundle.js');
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
  readonly push: Push;
}

interface Push {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly secret: string;
}

function aPush(): Push {
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  const [id, now] = ['evt_1', new Date()];
  const data = { id: 346, id_number: 'Ñ-1' };
  const body = JSON.stringify({ id, type: 'application.interested', timestamp: now.toISOString(), data });
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, now, body),
  };
  return { body, headers, secret };
}

/** Runs in the page. */
async function actThere({ module, apiKey, url, direct, list, push }: Settings) {
  // No plain import, because the tests' compiler would look for the module.
  const { VentanillaClient, verifyWebhook } = await new Function('module', 'return import(module)')(module);
  const client = new VentanillaClient({ url, apiKey });
  const outcomes = await client.submit(list);
  const elsewhere = new VentanillaClient({ url: direct, apiKey, retries: 0 });
  const refusal: string = await elsewhere.quota().catch((error: Error) => error.name);
  const { body, headers, secret } = push;
  const { type } = await verifyWebhook(body, new Headers(headers), secret);
  const changed = verifyWebhook(`${body} `, headers, secret);
  const fault = await changed.catch((error: { fault: string }) => error.fault);
  const kinds = outcomes.map(({ kind }: { kind: string }) => kind);
  return { kinds, quota: await client.quota(), refusal, pushed: `${type} ${fault}` };
}
