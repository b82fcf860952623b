/** How the console's listener answers with the page, and how the page is built. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { readPage } from '../../src/listeners/browser/page.ts';
import { startTestConsole } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { REPOSITORY } from '../support/sources.ts';

const FIRST_LOAD_BYTES = 200_000;
const DIST = join(REPOSITORY, 'console/dist');

async function build(): Promise<void> {
  const child = spawn(process.execPath, [join(REPOSITORY, 'console/build.js')], {
    env: {},
    stdio: 'inherit',
  });
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
}

await Promise.all([build(), build()]);
const store = await testDatabase();
const desk = await startTestConsole(store, [], readPage(DIST));

/** The answer as it was transferred: `fetch` would decompress it. */
async function load(path: string, headers: Record<string, string> = {}) {
  const request = get(desk.url() + path, { headers });
  const [response] = await once(request, 'response');
  return { status: response.statusCode, headers: response.headers, bytes: await buffer(response) };
}
/** What a browser sends that follows a link of another site. */
const LINK = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };
const assetsOf = (html: Buffer) =>
  [...html.toString().matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path!);

describe('the page of the console', () => {
  it('answers every path outside of /api, and a link of another site leads to it', async () => {
    for (const path of ['/', '/enrol', '/applications/12', '/apiary']) {
      const { status, headers, bytes } = await load(path, LINK);
      assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8'], path);
      assert.equal(headers['cache-control'], 'no-store');
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.match(bytes.toString(), /<div id="root">/);
    }
    for (const path of ['/api', '/api/nothing', '/%61pi/nothing', '/assets/main-nothing.js']) {
      assert.equal((await load(path)).status, 404, path);
    }
  });

  it('leads a browser that opens it by 127.0.0.1 to localhost, where its requests are of one site', async () => {
    const { port } = new URL(desk.url());
    for (const host of [`127.0.0.1:${port}`, `[::1]:${port}`]) {
      const { status, headers } = await load('/queue?oidc=over', { ...LINK, Host: host });
      assert.deepEqual([status, headers.location], [307, `${desk.url()}/queue?oidc=over`], host);
    }
    for (const host of [`localhost:${port}`, 'desk.example', '127.0.0.1:1', `127.0.0.1.example:${port}`]) {
      assert.equal((await load('/queue', { ...LINK, Host: host })).status, 200, host);
    }
  });

  it('is no way around the refusal of other sites', async () => {
    for (const path of ['/api/session', '/%61pi/session', '//api/session']) {
      const { bytes } = await load(path, LINK);
      assert.doesNotMatch(bytes.toString(), /sign in first/, path);
    }
    const script = assetsOf((await load('/')).bytes).at(-1)!;
    for (const headers of [
      { ...LINK, 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'script' },
      { ...LINK, 'Sec-Fetch-Dest': 'iframe' },
      { ...LINK, Origin: 'https://elsewhere.example' },
    ]) {
      assert.equal((await load(script, headers)).status, 403);
    }
  });

  it('may run its own files alone', async () => {
    const { headers } = await load('/');
    const policy = String(headers['content-security-policy']);
    const parts = policy.split('; ');
    for (const part of [
      ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"],
      ...[
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
      ],
    ]) {
      assert.ok(parts.includes(part), part);
    }
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  });

  it('has files that a browser keeps for ever and gets compressed, at most 200,000 bytes at first', async () => {
    const html = await load('/');
    let total = html.bytes.length;
    const assets = assetsOf(html.bytes);
    assert.ok(assets.length >= 3);
    for (const path of assets) {
      const plain = await load(path);
      const br = await load(path, { 'Accept-Encoding': 'gzip, deflate, br' });
      const gzip = await load(path, { 'Accept-Encoding': 'gzip' });
      assert.match(String(br.headers['cache-control']), /immutable/);
      assert.deepEqual([br.headers['content-encoding'], br.headers.vary], ['br', 'Accept-Encoding']);
      assert.deepEqual(brotliDecompressSync(br.bytes), plain.bytes);
      assert.deepEqual(gunzipSync(gzip.bytes), plain.bytes);
      assert.equal(plain.headers['content-encoding'], undefined);
      total += gzip.bytes.length;
    }
    assert.ok(total <= FIRST_LOAD_BYTES, `${total} bytes`);
  });

  it('is told to be missing where it was not built', async () => {
    const bare = await startTestConsole(store);
    const response = await fetch(bare.url());
    assert.equal(response.status, 503);
    assert.match(await response.text(), /not built here.*npm ci/);
    assert.equal(await readPage(join(REPOSITORY, 'console/nowhere')), null);
  });

  it('is built once where nothing changed', async () => {
    const times = () =>
      ['index.html', ...readdirSync(join(DIST, 'assets')).map((name) => join('assets', name))].map(
        (name) => [name, statSync(join(DIST, name)).mtimeMs] as const,
      );
    const before = times();
    await build();
    assert.deepEqual(times(), before);
    assert.match(readFileSync(join(DIST, 'sources'), 'utf8'), /^[0-9a-f]{64}$/);
  });
});
