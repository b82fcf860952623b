/** The search and the views in a real browser (docs/operators.md, "Find", "Views"). */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { PHONE, skip } from '../support/browser.ts';
import { WIDE } from '../support/console-browser.ts';
import { deskBrowser, HOSTILE, PERSON } from '../support/desk-browser.ts';
import { check } from '../support/page-faults.ts';

const LANGUAGES = {
  en: {
    queue: 'Queue',
    find: 'Find',
    pended: 'Pended',
    applications: 'Applications: Pended',
    file: 'Make a file',
  },
  es: {
    queue: 'Cola',
    find: 'Buscar',
    pended: 'Aplazadas',
    applications: 'Solicitudes: Aplazadas',
    file: 'Hacer un archivo',
  },
  pt: {
    queue: 'Fila',
    find: 'Buscar',
    pended: 'Pendentes',
    applications: 'Solicitações: Pendentes',
    file: 'Gerar um arquivo',
  },
} as const;
const PERSONAL = new RegExp(`${PERSON.name}|${PERSON.id_number}|${PERSON.city}|573007`);
/** Everything that a browser keeps, and what a page before it can read. */
const KEPT =
  'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, document.title, history.state])';
/** A dialog that closes goes back to its button first. */
const openFind = async (page: Page, find: string) => {
  await page.keyboard.press('/');
  await page.getByRole('dialog', { name: find }).getByRole('textbox').waitFor();
};

describe('the search and the views', { skip }, async () => {
  if (skip) return;
  const desk = await deskBrowser();
  const ana = await desk.console.enrolled('ana.maria', 'reviewer');
  const vera = await desk.console.enrolled('vera', 'viewer');
  const [first, second] = await desk.inReview(3);
  await desk.rows(
    `INSERT INTO open_pends SELECT n, 1, now() - interval '2 hours', now() + interval '1 day', 0 FROM unnest($1::bigint[]) AS n`,
    [[first, second]],
  );

  for (const [locale, words] of Object.entries(LANGUAGES)) {
    for (const screen of [WIDE, PHONE]) {
      const { width } = screen.viewport;

      it(`a person is found by a key, and the views have no findings of axe, ${locale}, ${width} px`, async () => {
        await desk.browse(
          ana,
          async (page) => {
            await page.getByRole('heading', { name: words.queue, exact: true }).waitFor();
            await openFind(page, words.find);
            await page.getByRole('dialog').getByRole('textbox').fill('77.001.122-334');
            await page.keyboard.press('Enter');
            await page.getByRole('dialog').getByRole('link', { name: 'W. Q.' }).waitFor();
            await check(page, `find-${locale}`);
            assert.doesNotMatch(await page.locator('body').innerText(), PERSONAL);
            assert.doesNotMatch((await page.evaluate(KEPT)) as string, PERSONAL);
            await page
              .getByRole('dialog')
              .getByRole('link', { name: String(second), exact: true })
              .press('Enter');
            await page.getByRole('dialog').waitFor({ state: 'detached' });
            await page.getByRole('heading', { name: new RegExp(`${second}`) }).waitFor();
            await page.goto(`${desk.console.url()}/persons/${first}`);
            await page.getByRole('heading', { level: 2, name: new RegExp(`${second}$`) }).waitFor();
            await check(page, `person-${locale}`);
            assert.doesNotMatch(await page.locator('body').innerText(), PERSONAL);
            await page.goto(`${desk.console.url()}/views?view=pended`);
            await page.getByRole('heading', { name: words.applications }).waitFor();
            await page.getByRole('link', { name: String(first), exact: true }).waitFor();
            await check(page, `views-${locale}`);
            await page.getByRole('button', { name: words.file }).click();
            await page.getByRole('dialog').getByRole('textbox').waitFor();
            await check(page, `views-file-${locale}`);
            assert.equal(await page.locator('main img, main script').count(), 0);
          },
          { screen, locale },
        );
      });
    }
  }

  it('a name finds nobody, a part of a partner finds it, and the dialog forgets what was typed', async () => {
    await desk.browse(vera, async (page) => {
      await page.getByRole('heading', { name: 'Queue', exact: true }).waitFor();
      await openFind(page, 'Find');
      const field = page.getByRole('dialog').getByRole('textbox');
      await field.fill(PERSON.name);
      await page.keyboard.press('Enter');
      await page.getByText('Nothing is found.').waitFor();
      await field.fill('SCRIPT');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').getByRole('link', { name: HOSTILE }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await openFind(page, 'Find');
      assert.equal(await page.getByRole('dialog').getByRole('textbox').inputValue(), '');
    });
  });

  it('the person is revealed with a reason, which the record has, and is gone with the page', async () => {
    await desk.browse(
      ana,
      async (page) => {
        await page.getByRole('button', { name: 'Reveal personal data' }).click();
        await page.getByLabel('Reason, 5 characters or more').fill('ticket 4711');
        await page.keyboard.press('Enter');
        await page.getByText(PERSON.name).waitFor();
        await check(page, 'person-revealed');
        assert.doesNotMatch((await page.evaluate(KEPT)) as string, PERSONAL);
        const [act] = await desk.json('audit', 'list', '--application', `${first}`);
        assert.deepEqual([act.act, act.reason], ['application reveal', 'ticket 4711']);
        await page.getByRole('link', { name: `Open application ${second}` }).press('Enter');
        await page.getByRole('heading', { name: `Application ${second}`, exact: true }).waitFor();
        await page.goBack();
        await page.getByRole('heading', { name: `Person of application ${first}` }).waitFor();
        assert.equal(await page.getByText(PERSON.name).count(), 0);
      },
      { path: `/persons/${first}` },
    );
  });

  it('a view is turned round, saved under a name, opened from another browser, and deleted, by keyboard', async () => {
    const NAME = '<img src=x> mías';
    await desk.browse(
      ana,
      async (page) => {
        await page.getByRole('link', { name: String(first), exact: true }).waitFor();
        await page.getByRole('button', { name: 'Pended since' }).press('Enter');
        await page.waitForURL(/order=newest$/);
        await page.getByRole('button', { name: 'Save this view' }).press('Enter');
        await page.getByLabel('Name of the view').fill(NAME);
        await page.keyboard.press('Enter');
        await page.getByRole('link', { name: NAME, exact: true }).waitFor();
        await check(page, 'views-saved');
        assert.equal(await page.locator('main img').count(), 0);
        assert.doesNotMatch((await page.evaluate(KEPT)) as string, /mías/);
      },
      { path: '/views?view=pended&country=CO' },
    );
    await desk.browse(
      ana,
      async (page) => {
        await page.getByRole('link', { name: NAME, exact: true }).press('Enter');
        await page.waitForURL(/view=pended&country=CO&order=newest$/);
        await page.getByRole('button', { name: `Delete the saved view ${NAME}` }).press('Enter');
        await page.getByRole('link', { name: NAME, exact: true }).waitFor({ state: 'detached' });
      },
      { path: '/views' },
    );
  });

  it('a file of a view is made with a reason, which the record has, and has no personal data', async () => {
    await desk.browse(
      vera,
      async (page) => {
        await page.getByRole('link', { name: String(first), exact: true }).waitFor();
        await page.getByRole('button', { name: 'Make a file' }).press('Enter');
        await page.getByLabel('Format').selectOption('csv');
        await page.getByRole('dialog').getByRole('textbox').fill('ticket 4712');
        const [file] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
        await page.getByText('The file has 2 rows.').waitFor();
        assert.equal(file.suggestedFilename(), 'pended.csv');
        const text = await readFile(await file.path(), 'utf8');
        for (const id of [first, second]) assert.match(text, new RegExp(`^${id},`, 'm'));
        assert.doesNotMatch(text, PERSONAL);
        const [act] = await desk.json('audit', 'list');
        assert.deepEqual(
          [act.act, act.target, act.reason],
          ['view file', 'view=pended order=oldest', 'ticket 4712'],
        );
      },
      { path: '/views?view=pended' },
    );
  });

  it('the address has the filters of a view, and turns its pages', async () => {
    await desk.browse(
      ana,
      async (page) => {
        await page.getByRole('link', { name: String(first), exact: true }).waitFor();
        await page.getByLabel('Currency').fill('mxn');
        await page.keyboard.press('Enter');
        await page.getByText('Nothing is in this view.').waitFor();
        assert.match(page.url(), /view=pended&currency=MXN$/);
        await page.goBack();
        await page.getByRole('link', { name: String(first), exact: true }).waitFor();
        assert.equal(await page.getByLabel('Currency').inputValue(), '');
        await page.getByRole('link', { name: 'Decided', exact: true }).press('Enter');
        await page.getByText('Nothing is in this view.').waitFor();
      },
      { path: '/views?view=pended' },
    );
  });
});
