/** What the first screen of a phone shows: whose session it is, and rows of the queue (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { PHONE, skip } from '../support/browser.ts';
import { deskBrowser } from '../support/desk-browser.ts';
import { check } from '../support/page-faults.ts';

const LOGIN = 'maria.fernanda.rodriguez.castillo';
/** The longest language, with the names that the test presses. */
const SPANISH = { account: `Cuenta: ${LOGIN}`, filters: 'Filtros', everywhere: 'Cerrar todas las sesiones' };

const boxOf = async (locator: Locator) => {
  const box = await locator.boundingBox();
  assert.ok(box, 'it is shown');
  return box;
};
const focused = (page: Page) => page.evaluate('document.activeElement.getAttribute("aria-label")');

describe('the console on a phone', { skip }, async () => {
  if (skip) return;
  const desk = await deskBrowser();
  const maria = await desk.console.enrolled(LOGIN, 'admin');

  it('shows whose session it is, and behind that the language and the end of all sessions', async () => {
    await desk.inReview(1);
    await desk.browse(
      maria,
      async (page) => {
        const account = page.getByRole('button', { name: SPANISH.account });
        const box = await boxOf(account);
        assert.ok(box.x >= 0 && box.x + box.width <= PHONE.viewport.width && box.width >= 80, `${box.width}`);
        const everywhere = page.getByRole('button', { name: SPANISH.everywhere });
        assert.equal(await everywhere.isVisible(), false);
        await account.press('Enter');
        await everywhere.waitFor();
        await page.getByText(`${LOGIN}, administrador`).waitFor();
        await check(page, 'account');
        await page.keyboard.press('Tab');
        assert.equal(await focused(page), 'Idioma');
        await page.keyboard.press('Escape');
        await everywhere.waitFor({ state: 'hidden' });
        assert.equal(await focused(page), SPANISH.account);
        await account.press('Enter');
        await page.getByLabel('Idioma').selectOption('pt');
        await page.getByRole('heading', { name: 'Fila' }).waitFor();
        await page.getByRole('button', { name: 'Sair de todos os navegadores' }).click();
        await page.getByLabel('Senha').waitFor();
      },
      // What was asked for while the session ended.
      { screen: PHONE, locale: 'es-CO', expected: /401/ },
    );
  });

  it('shows rows of the queue on the first screen, and the filters behind a button that counts them', async () => {
    await desk.inReview(3);
    await desk.browse(
      maria,
      async (page) => {
        const row = page.locator('tbody tr').first();
        await row.waitFor();
        const { y } = await boxOf(row);
        assert.ok(y < PHONE.viewport.height / 2, `the first row begins at ${y}`);
        const field = await boxOf(page.getByLabel('Número de una solicitud'));
        assert.equal(field.x, (await boxOf(page.locator('h1'))).x);
        const filters = page.getByRole('button', { name: SPANISH.filters });
        assert.equal(await page.getByLabel('Aliado').isVisible(), false);
        await filters.press('Enter');
        await page.getByLabel('Aliado').waitFor();
        await check(page, 'filters');
        await page.getByLabel('USD desde').fill('1');
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Filtros: 1' }).press('Enter');
        await page.getByLabel('Aliado').waitFor({ state: 'hidden' });
        await check(page, 'queue-phone');
      },
      { screen: PHONE, locale: 'es-CO' },
    );
  });

  // In each language console-small.test.ts holds the width, and console-pages.test.ts what axe finds on a phone.
  it('shows an application in a window of 320 pixels without scrolling to the side', async () => {
    const [id] = await desk.inReview(1);
    await desk.browse(
      maria,
      async (page) => {
        await page.getByRole('heading', { name: 'Pontos', exact: true }).waitFor();
        await check(page, 'application-narrow');
      },
      { screen: { viewport: { width: 320, height: 640 } }, locale: 'pt-BR', path: `/applications/${id}` },
    );
  });
});
