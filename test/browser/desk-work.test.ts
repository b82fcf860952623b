/** Pends and payments of the console in a real browser (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { skip } from '../support/browser.ts';
import { type Enrolled, PASSWORD } from '../support/console.ts';
import { deskBrowser } from '../support/desk-browser.ts';
import { eventually } from '../support/eventually.ts';
import { check } from '../support/page-faults.ts';

describe('pends and payments in a browser', { skip, timeout: 300_000 }, async () => {
  if (skip) return;
  const desk = await deskBrowser();
  const ana = await desk.console.enrolled('ana.maria', 'reviewer');
  const bea = await desk.console.enrolled('bea', 'reviewer');
  const carla = await desk.console.enrolled('carla', 'reviewer');
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
        await check(page, 'pend');
        assert.equal(await dialog.getByRole('button', { name: 'Pend' }).isDisabled(), true);
        await dialog.getByLabel('Statement of income').check();
        await dialog.getByLabel('Identity document').check();
        await dialog.getByLabel('Message to the applicant, optional').fill('Manda tu extracto, por favor.');
        await dialog.getByLabel('Comes back after hours').fill('24');
        await dialog.getByRole('button', { name: 'Pend' }).click();
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

  it('pays out by two operators, each of whom signs in again where the sign-in is older than five minutes', async () => {
    const [id] = await desk.inReview(1);
    await desk.json('application', 'approve', `${id}`, '--reason', 'a test');
    const age = ({ id: operator }: Enrolled) =>
      desk.rows(
        "UPDATE operator_sessions SET proved_at = now() - interval '6 minutes' WHERE operator_id = $1",
        [operator],
      );
    const prove = async (page: Page, operator: Enrolled, name: string) => {
      const dialog = page.getByRole('dialog', { name: 'Sign in again' });
      await dialog.waitFor();
      await check(page, name);
      await dialog.getByLabel('Password').fill('not the password');
      await dialog.getByLabel('Code of the authenticator app').fill(operator.nextCode());
      await dialog.getByRole('button', { name: 'Go on' }).click();
      await dialog.getByText('Password or code is wrong.').waitFor();
      await dialog.getByLabel('Password').fill(PASSWORD);
      await dialog.getByLabel('Code of the authenticator app').fill(operator.nextCode());
      await dialog.getByRole('button', { name: 'Go on' }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    const made = () =>
      desk.rows('SELECT act, state, second_id AS second FROM proposals WHERE application_id = $1', [id]);
    await desk.browse(
      ana,
      async (page) => {
        await page.getByRole('button', { name: 'Disburse' }).waitFor();
        await age(ana);
        await page.keyboard.press('d');
        await page.keyboard.press('1');
        await prove(page, ana, 'again');
        await page.getByText(`${id}: disbursement, waits for a second operator`).waitFor();
        assert.deepEqual(await made(), [{ act: 'disburse', state: 'proposed', second: null }]);
      },
      { path: pathOf(id), expected: /403|404/ },
    );
    await desk.browse(
      bea,
      async (page) => {
        await page.getByRole('button', { name: 'Confirm' }).waitFor();
        await age(bea);
        await page.keyboard.press('c');
        await prove(page, bea, 'again-second');
        await eventually('the confirmation', async () => (await made())[0].second === bea.id);
      },
      { path: pathOf(id), expected: /403/ },
    );
  });

  it('gives the application of a browser that died to another operator when its lease is over', async () => {
    const [id] = await desk.inReview(1);
    await desk.browse(
      ana,
      async (page) => {
        await page.getByText('You hold it').waitFor();
        // Nothing arrives any more: neither a renewal nor the release of a page that closes.
        await page.context().setOffline(true);
      },
      { path: pathOf(id), expected: /ERR_/ },
    );
    await desk.browse(carla, async (page) => {
      await page.getByRole('button', { name: /Claim next/ }).click();
      await page.getByText('Nothing is free').waitFor();
      await desk.rows('UPDATE review_items SET claimed_until = now() WHERE application_id = $1', [id]);
      await page.getByRole('button', { name: /Claim next/ }).click();
      await page.getByText('You hold it').waitFor();
    });
  });
});
