/** A real browser: Debian's chromium without windows, or another installed one. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before } from 'node:test';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { PATIENCE_MS } from './eventually.ts';

/** The first one is Chromium's engine without the parts of a desktop: a page of its own costs a third of the CPU. */
const BROWSERS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
/** The first one that is installed. */
export const executablePath = BROWSERS.find((path) => existsSync(path));

/** For `describe`: why there is no browser, or false. */
export const skip =
  executablePath === undefined && 'no chromium is installed (apt-get install chromium-headless-shell)';

export const DESKTOP = { viewport: { width: 1200, height: 800 } };
export const PHONE = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };

/**
 * What a browser keeps that has the cookie of a session. A context begins with this: where the cookie came after its
 * first page, that page might still ask for its session then, and go on as another one.
 */
export function stateOf(cookie: string) {
  const [name, value] = cookie.split('=', 2) as [string, string];
  const rest = { domain: 'localhost', path: '/', expires: -1, httpOnly: true, secure: false };
  return { cookies: [{ name, value, ...rest, sameSite: 'Lax' as const }], origins: [] };
}

/**
 * Holds what the page reads by itself until it sends a POST to an address that ends with `path`. Else the page may find
 * out by itself what the test has just changed, and shows something else when the test presses its next key.
 */
export async function holdReads(page: Page, path: string): Promise<void> {
  const isSent = page.waitForRequest(
    (request) => request.method() === 'POST' && request.url().endsWith(path),
  );
  await page.route('**/api/**', async (route) => {
    if (route.request().method() === 'GET') await isSent;
    await route.continue();
  });
}

/**
 * Call this in a `describe`. The returned function opens the page at `url` (and `path` after it) for `act`, in a
 * context of its own, and fails if the page reports an error or asks another origin for anything. `expected` are
 * errors that belong to what the test does.
 */
export function testBrowser(url: string) {
  let browser: Browser;
  before(async () => {
    // Chromium's sandbox does not work for root, and the page is our own.
    browser = await chromium.launch({ executablePath: executablePath as string, chromiumSandbox: false });
  });
  after(() => browser?.close());

  return async function visit(
    options: BrowserContextOptions,
    act: (page: Page) => Promise<void>,
    { path = '', expected = /^$/ }: { path?: string; expected?: RegExp } = {},
  ): Promise<void> {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const complaints: string[] = [];
    const complain = (text: string, url = '') => {
      if (!expected.test(text)) complaints.push(`${text} ${url}`);
    };
    page.on('pageerror', (error) => complain(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') complain(message.text(), message.location().url);
    });
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== new URL(url).origin) complain(request.url());
    });
    await page.goto(url + path);
    await act(page);
    assert.deepEqual(complaints, []);
    // As persons do: what a page sends while it closes gets through. The shell drops it where its context ends at once.
    for (const open of context.pages()) await open.close();
    await context.close();
  };
}
