/** A tab that is hidden asks for nothing and renews no claim (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { skip } from '../support/browser.ts';
import { deskBrowser } from '../support/desk-browser.ts';
import { eventually } from '../support/eventually.ts';

/** Longer than every pause between two questions of the page, in milliseconds of the page's clock. */
const LONG_MS = 60_000;

/** A headless browser hides no tab, so the test says so in the place of the browser. */
const show = (page: Page, state: 'hidden' | 'visible') =>
  page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
    Object.defineProperty(document, 'hidden', { value: ${state === 'hidden'}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));`);

describe('a hidden tab', { skip }, async () => {
  if (skip) return;
  const desk = await deskBrowser();
  const ana = await desk.console.enrolled('ana.maria', 'reviewer');

  it('neither asks again nor renews its claim, and does both when it is shown again', async () => {
    const [id] = await desk.inReview(1);
    const claim = `/api/applications/${id}/claim`;
    await desk.browse(ana, async (page) => {
      await page.clock.install();
      await page.goto(`${desk.console.url()}/applications/${id}`);
      await page.getByText('You hold it').waitFor();
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      const asksAndRenews = () => asked.includes(claim) && asked.includes(`/api/applications/${id}`);
      /** Lets the page's clock run until both came; a test that finds nothing when hidden must find them when shown. */
      const seen = (what: string) =>
        eventually(what, async () => {
          await page.clock.runFor(5_000);
          return asksAndRenews();
        });
      await seen('the questions of a shown tab');
      await show(page, 'hidden');
      await page.waitForLoadState('networkidle');
      asked.length = 0;
      await page.clock.runFor(LONG_MS);
      await page.waitForLoadState('networkidle');
      assert.deepEqual(asked, []);
      await show(page, 'visible');
      await seen('the questions of a tab that is shown again');
    });
  });
});
