/** The console in the narrowest window, and where its focus goes (D48; WCAG 2.2, 1.4.10 and 2.4.3). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { DESKTOP, skip } from '../support/browser.ts';
import { PASSWORD } from '../support/console.ts';
import { deskBrowser } from '../support/desk-browser.ts';
import { eventually } from '../support/eventually.ts';

/** A window of 1280 px that is enlarged to 400 %. */
const NARROW = { viewport: { width: 320, height: 640 } };
const IS_CUT =
  '(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)([...document.querySelectorAll("header button[aria-expanded]")].at(-1).firstElementChild)';

const focused = (page: Page) =>
  page.evaluate<string>('document.activeElement.tagName + " " + document.activeElement.textContent');
const gotFocus = (page: Page, what: RegExp) =>
  eventually(`the focus at ${what}`, async () => what.test(await focused(page)));

describe('the console', { skip }, async () => {
  if (skip) return;
  const desk = await deskBrowser();
  const lena = await desk.console.enrolled('lena', 'admin');

  for (const locale of ['en-US', 'es-CO', 'pt-BR']) {
    it(`scrolls no page sideways at 320 px, and shows the login, ${locale}`, async () => {
      const [id] = await desk.inReview(2);
      await desk.browse(
        lena,
        async (page) => {
          for (const path of ['/queue', '/lead', `/applications/${id}`]) {
            await page.goto(desk.console.url() + path);
            await page.locator('main table:visible').first().waitFor();
            const needed = await page.evaluate('document.documentElement.scrollWidth');
            assert.equal(needed, NARROW.viewport.width, path);
            assert.equal(await page.evaluate(IS_CUT), false, `${path} cuts the login`);
          }
        },
        { screen: NARROW, locale },
      );
    });
  }

  it('lets the focus go to what takes the place of a step of the enrolment', async () => {
    const { token } = await desk.console.invite('nora', 'viewer');
    await desk.visit(
      { ...DESKTOP, locale: 'en-US' },
      async (page) => {
        await page.getByLabel('Password').fill(PASSWORD);
        await page.keyboard.press('Enter');
        await gotFocus(page, /^H1 nora$/);
      },
      { path: `/#token=${token}`, expected: /401/ },
    );
  });

  it('keeps the focus at the selection, in the results and after them, where its button goes', async () => {
    await desk.inReview(3);
    await desk.browse(lena, async (page) => {
      await page.getByRole('button', { name: 'Select all 3 that match' }).press('Enter');
      await gotFocus(page, /^DIV 3 selected/);
      await page.keyboard.press('r');
      await page.getByRole('dialog').getByText('Documents missing').waitFor();
      await page.getByRole('dialog').getByText('In all').waitFor();
      await page.keyboard.press('1');
      const results = page.getByRole('dialog', { name: 'Results' });
      await results.getByRole('button', { name: 'Undo these proposals' }).press('Enter');
      await results.getByText('3 undone').waitFor();
      await gotFocus(page, /^DIV Results/);
      await page.keyboard.press('Escape');
      await results.waitFor({ state: 'detached' });
      await gotFocus(page, /^(?!BODY)/);
    });
  });
});
