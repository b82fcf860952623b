/**
 * An owner sends a file of applicants from the portal's page, in a real browser, on its real routes (docs/portal.md).
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { applicant, csvOf, fileOf } from '../../packages/submit/test/files.ts';
import { findPortalPage } from '../../src/app/built-page.ts';
import { toPartnerId } from '../../src/domain/partner/credential.ts';
import { commandLine } from '../cli/harness.ts';
import { PHONE, skip, stateOf, testBrowser } from '../support/browser.ts';
import { WIDE } from '../support/console-browser.ts';
import { testDatabase } from '../support/database.ts';
import { check } from '../support/page-faults.ts';
import { startTestPortal } from '../support/portal.ts';

const ROWS = 450;
const MARKUP = '<img src=x onerror=alert(1)>\u202eAna';

/** What a person reads and taps, by language. */
const WORDS = {
  en: {
    send: `Send ${ROWS - 1} applicants`,
    yes: 'Send',
    done: 'All rows are settled.',
    again: /was sent from this browser/,
    download: 'Download the rows that were not taken (CSV)',
    counts: ['Refused, duplicate', 'Refused, invalid', 'Not sent, a cell cannot be read'],
  },
  es: {
    send: `Enviar ${ROWS - 1} solicitantes`,
    yes: 'Enviar',
    done: 'Todas las filas quedaron resueltas.',
    again: /se envió desde este navegador/,
    download: 'Descargar las filas que no se aceptaron (CSV)',
    counts: ['Rechazadas, duplicadas', 'Rechazadas, no válidas', 'No enviadas, una celda no se puede leer'],
  },
  pt: {
    send: `Enviar ${ROWS - 1} solicitantes`,
    yes: 'Enviar',
    done: 'Todas as linhas foram resolvidas.',
    again: /foi enviado deste navegador/,
    download: 'Baixar as linhas que não foram aceitas (CSV)',
    counts: ['Recusadas, duplicadas', 'Recusadas, inválidas', 'Não enviadas, uma célula não pode ser lida'],
  },
} as const;

describe('a file that an owner sends from the page', { skip }, async () => {
  if (skip) return;
  const store = await testDatabase();
  const { json } = commandLine(store);
  const { page: built, failure } = await findPortalPage({ setting: () => 0 as never });
  assert.equal(failure, null);
  const portal = await startTestPortal(store, [], Promise.resolve(built));
  const visit = testBrowser(portal.url());

  for (const [language, screen, locale] of [
    ['en', WIDE, 'en-US'],
    ['es', PHONE, 'es'],
    ['pt', PHONE, 'pt'],
  ] as const)
    it(`registers each applicant once, also where the tab is reloaded in the middle, ${language}`, async () => {
      const words = WORDS[language];
      const partner = toPartnerId(
        (await json('partner', 'add', '--name', `P ${language}`, '--country', 'CO')).id,
      );
      await json('key', 'issue', '--partner', `${partner}`, '--daily-cap', '5000');
      const owner = await portal.enrolled(partner, `sender.${language}`, 'owner');
      const visitor = await owner.signIn();
      const used = async () => (await visitor.ask('GET', '/api/quota')).body.used_24h;
      const path = fileOf(`lista-${language}.csv`, csvOf(aList(language)));
      const cookie = (await owner.signIn()).cookie!;
      await visit({ ...screen, locale, storageState: stateOf(cookie) }, async (page) => {
        await page.goto(`${portal.url()}/send`);
        let dies = true;
        await page.route(/api\/batches/, async (route) => {
          // The third batch hangs, so the page can be left in the middle.
          if (dies && route.request().headers()['idempotency-key']?.endsWith('-3-1')) return;
          await route.continue();
        });
        page.on('dialog', (dialog) => dialog.accept());
        await choose(page, path);
        await page.getByRole('button', { name: words.send }).click();
        await page.getByRole('dialog').waitFor();
        await check(page, `portal-send-ask-${language}`);
        await page.getByRole('dialog').getByRole('button', { name: words.yes, exact: true }).click();
        await page.getByRole('progressbar').waitFor();
        await check(page, `portal-send-under-way-${language}`);
        while ((await used()) < 200) await page.waitForTimeout(50);
        await page.reload();
        dies = false;
        await choose(page, path);
        await page.getByText(words.again).waitFor();
        await page.getByRole('button', { name: words.send }).press('Enter');
        await page.getByRole('dialog').getByRole('button', { name: words.yes, exact: true }).press('Enter');
        await page.getByText(words.done).waitFor();
        assert.equal(await used(), ROWS - 3);
        for (const label of words.counts) await page.getByText(label, { exact: true }).waitFor();
        await check(page, `portal-send-done-${language}`);
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name: words.download }).click(),
        ]);
        assert.equal(download.suggestedFilename(), `lista-${language}.csv.rejected.csv`);
        const lines = readFileSync(await download.path(), 'utf8').split('\r\n');
        assert.deepEqual(
          lines.slice(1, -1).map((line) => line.split(',')[0]),
          ['4', '5', '6'],
        );
        assert.match(lines[1]!, /,'@SUM\(1\),/, 'no formula');
        const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
        assert.match(
          kept,
          /^\[\{"ventanilla-sent":"\[\[\\"[0-9a-f]{64}\\",\\"[0-9a-f]{64}\\",\d+\]\]"\},\{\}\]$/,
        );
      });
    });
});

/** A name with markup, a refused row with a formula, a duplicate, and a row with a damaged name. */
function aList(language: string) {
  const of = ['en', 'es', 'pt'].indexOf(language) + 1;
  const phone = (index: number) => `+5730${of}${String(index).padStart(7, '0')}`;
  return Array.from({ length: ROWS }, (_, index) =>
    applicant({
      id_number: `3${of}${String(index).padStart(7, '0')}7`,
      phone: index % 2 === 0 ? '' : phone(index),
      ...(index === 0 && { name: MARKUP }),
      ...(index === 2 && { city: '@SUM(1)', income: '0' }),
      ...(index === 3 && { phone: phone(1) }),
      ...(index === 4 && { name: 'Mu?oz' }),
    }),
  );
}

async function choose(page: Page, path: string): Promise<void> {
  const input = page.locator('input[type=file]');
  await input.waitFor({ state: 'attached' });
  await input.setInputFiles(path);
}
