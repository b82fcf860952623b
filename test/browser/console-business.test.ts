/** The page of the business in a real browser, on real routes (docs/business.md, "The page"). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { businessRoutes } from '../../src/subjects/business/routes/business.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { PHONE, skip } from '../support/browser.ts';
import { consoleInBrowser, EMPTY_QUEUE, NO_PROPOSALS, SCREENS } from '../support/console-browser.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';
import { check } from '../support/page-faults.ts';
import { MARKUP } from '../support/shown-application.ts';

/** Monday of the last week that is over. */
const WEEK = (() => {
  const day = new Date();
  day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7) - 7);
  return day.toISOString().slice(0, 10);
})();

const TODAY = new Date().toISOString().slice(0, 10);

describe('the page of the business', { skip }, async () => {
  if (skip) return;
  const store = await testDatabase();
  const { json } = commandLine(store);
  const names = ['Trabajos del Norte', MARKUP.slice(0, 60)];
  for (const name of names) {
    const { id } = await json('partner', 'add', '--name', name, '--country', 'CO');
    await json('key', 'issue', '--partner', `${id}`, '--daily-cap', '500');
    await store.database.query(
      `INSERT INTO business_days (day, partner_id, currency, registered, approved, in_review, rejected, review_approved,
         review_rejected, overridden, started, documents, offered, signed, withdrawn, disbursed, duplicate,
         amount_registered, amount_disbursed)
       SELECT $1::date - d, $2, c.currency,
         1200 - d * 10, 700 - d * 10, 300, 200, 180, 100, 12, 800 - d * 5, 600, 500, 420, 6, 380, 31, 7200000000, 2280000000
       FROM generate_series(-6, 80) AS d CROSS JOIN (VALUES ('COP'), ('USD')) AS c(currency)`,
      [WEEK, id],
    );
    await store.database.query(
      `INSERT INTO business_waits (day, per, partner_id, step, bucket, times)
       SELECT $1::date + 1, 'day', $2, s.step, s.bucket, 90
       FROM (VALUES ('review', 50), ('start', 30), ('offer', 55), ('pay', 69)) AS s(step, bucket)`,
      [WEEK, id],
    );
  }
  const { visitAs } = await consoleInBrowser(
    [...EMPTY_QUEUE, NO_PROPOSALS, ...businessRoutes(store)],
    null,
    store,
  );
  const rowOf = (page: Page, card: string, name: RegExp) =>
    page.getByRole('region', { name: card, exact: true }).getByRole('row', { name });

  for (const screen of SCREENS) {
    const { width } = screen.viewport;

    it(`shows last week, against the week before, and where people leave, ${width} px`, async () => {
      await visitAs({ login: `ana.${width}`, role: 'admin', screen, path: '/business' }, async (page) => {
        await page.getByRole('heading', { name: `What happened in the week from ${WEEK}` }).waitFor();
        await rowOf(page, 'By partner', /Trabajos del Norte.*COP/).waitFor();
        await rowOf(page, 'Caps and their use', /Trabajos del Norte 0 500 0%/).waitFor();
        await rowOf(page, 'The way to the loan', /^Signed/).waitFor();
        await check(page, 'business');
        await page.getByText('As a table', { exact: true }).press('Enter');
        assert.equal(await page.locator('details').getByRole('row').count(), 14);
        await check(page, 'business-table');
      });
    });
  }

  it('an admin reads the approval rate of a partner by the keyboard, and the address keeps what is chosen', async () => {
    await visitAs({ login: 'ada', role: 'admin', path: '/queue' }, async (page) => {
      await page.getByRole('button', { name: 'Management' }).press('Enter');
      await page.getByRole('link', { name: 'Business' }).press('Enter');
      await rowOf(page, 'By partner', /Trabajos del Norte.*COP/).waitFor();
      await page.getByRole('combobox', { name: /^Partner/ }).selectOption({ label: 'Trabajos del Norte' });
      await page.getByRole('combobox', { name: /^By/ }).selectOption('month');
      await page.waitForURL(/by=month.*partner=1$/);
      await page.getByRole('combobox', { name: /^Currency/ }).selectOption('COP');
      await page.waitForURL(/currency=COP$/);
      await page.getByRole('heading', { name: /^What happened in \d{4}-\d\d$/ }).waitFor();
      await rowOf(page, 'By partner', /Trabajos.*USD/).waitFor({ state: 'detached' });
      assert.equal(await rowOf(page, 'By partner', /Trabajos/).count(), 1);
      const address = page.url();
      await page.goto(address);
      await rowOf(page, 'By partner', /Trabajos/).waitFor();
      assert.equal(await page.getByRole('combobox', { name: /^By/ }).inputValue(), 'month');
      assert.equal(await page.title(), 'Business · Ventanilla');
    });
  });

  it('opens the applications behind a number, and goes back to the business', async () => {
    const register = await registrarOf(store);
    const [id] = await register(1, [applicant({ phone: null })]);
    await visitAs({ login: 'abe', role: 'admin', path: '/business?by=day' }, async (page) => {
      await page.goto(`${new URL(page.url()).origin}/business?by=day&period=${TODAY}`);
      await page.getByRole('link', { name: 'Registered' }).press('Enter');
      await page.waitForURL(/business\/applications\?.*number=registered/);
      await page.getByRole('link', { name: `${id}` }).waitFor();
      await check(page, 'business-behind');
      await page.getByRole('combobox', { name: /^What/ }).selectOption('signed');
      await page.getByText('No application is behind this number.').waitFor();
      await page.getByRole('link', { name: 'Back to the business' }).press('Enter');
      await page.waitForURL(new RegExp(`/business\\?.*period=${TODAY}`));
    });
  });

  it('fits a phone in the longest languages, also where nothing is counted', async () => {
    for (const [language, nothing] of [
      ['es', 'No se contó nada en este período.'],
      ['pt', 'Nada foi contado neste período.'],
    ] as const) {
      const visit = { login: `eva.${language}`, role: 'admin', screen: PHONE, locale: language } as const;
      await visitAs({ ...visit, path: '/business' }, async (page) => {
        await page.getByRole('heading', { level: 2 }).nth(4).waitFor();
        await check(page, `business-${language}`);
        await page.goto(`${new URL(page.url()).origin}/business?by=day&period=2020-01-01`);
        await page.getByText(nothing).first().waitFor();
        await check(page, `business-nothing-${language}`);
      });
    }
  });

  it('a reviewer has neither the page nor a link to it', async () => {
    await visitAs({ login: 'rosa', role: 'reviewer', path: '/business' }, async (page) => {
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
      assert.equal(await page.getByRole('link', { name: 'Business' }).count(), 0);
    });
  });
});
