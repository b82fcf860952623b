/** Pends of the console in a real browser (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { skip } from '../support/browser.ts';
import { deskBrowser } from '../support/desk-browser.ts';
import { check } from '../support/page-faults.ts';

describe('pends in a browser', { skip }, async () => {
  if (skip) return;
  const desk = await deskBrowser();
  const ana = await desk.console.enrolled('ana.maria', 'reviewer');
  const pathOf = (id: number | undefined) => `/applications/${id}`;

  it('pends by keyboard with what is missing, shows who pended it, and resumes', async () => {
    const [id] = await desk.inReview(1);
    const stateOf = async () =>
      (await desk.rows('SELECT state FROM review_items WHERE application_id = $1', [id]))[0]?.state;
    await desk.browse(
      ana,
      async (page) => {
        await page.getByText('You hold it').waitFor();
        await page.keyboard.press('p');
        const dialog = page.getByRole('dialog', { name: `Pend: Application ${id}` });
        await dialog.waitFor();
        await dialog.getByText('No message can go out now').waitFor();
        await check(page, 'pend');
        assert.equal(await dialog.getByRole('button', { name: 'Pend' }).isDisabled(), true);
        await dialog.getByLabel('Statement of income').check();
        await dialog.getByLabel('Identity document').check();
        await dialog.getByLabel('Message to the applicant, optional').fill('Manda tu extracto, por favor.');
        await dialog.getByLabel('Hours until it comes back').fill('24');
        await dialog.getByRole('button', { name: 'Pend' }).click();
        await dialog.getByRole('alert').getByText('The channel took no message.').waitFor();
        assert.equal(
          await dialog.getByLabel('Message to the applicant').inputValue(),
          'Manda tu extracto, por favor.',
        );
        await check(page, 'pended-untold');
        await dialog.getByRole('button', { name: 'Next' }).click();
        await page.getByRole('heading', { name: 'Queue' }).waitFor();
        assert.equal(await stateOf(), 'pended');
        await page.goto(desk.console.url() + pathOf(id));
        await page.getByText(/Pended by ana\.maria/).waitFor();
        await check(page, 'pended');
        await page.keyboard.press('a');
        assert.equal(await page.getByRole('dialog').count(), 0, 'a pended application is resumed first');
        await page.getByRole('button', { name: 'Resume' }).click();
        await page.getByText('You hold it').waitFor();
        assert.equal(await stateOf(), 'waiting');
      },
      { path: pathOf(id) },
    );
  });

  it('keeps the dialog until the answer, and says there that it failed', async () => {
    const [id] = await desk.inReview(1);
    await desk.browse(
      ana,
      async (page) => {
        await page.getByText('You hold it').waitFor();
        const { promise: held, resolve: answer } = Promise.withResolvers<void>();
        await page.route('**/pend', async (route) => {
          await held;
          await route.fulfill({ status: 503, json: { error: 'a test' } });
        });
        await page.keyboard.press('p');
        const dialog = page.getByRole('dialog', { name: `Pend: Application ${id}` });
        await dialog.getByLabel('Statement of income').check();
        await dialog.getByRole('button', { name: 'Pend' }).click();
        await dialog.getByRole('button', { name: 'Pend', disabled: true }).waitFor();
        await page.keyboard.press('Escape');
        answer();
        await dialog.getByRole('alert').getByText('The service failed. Try again.').waitFor();
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
      },
      { path: pathOf(id), expected: /503/ },
    );
  });
});
