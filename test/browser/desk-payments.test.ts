/** Payments by two operators with new sign-ins, and what stands in an operator's way, in a real browser (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { PHONE, skip } from '../support/browser.ts';
import { type Enrolled, PASSWORD } from '../support/console.ts';
import { deskBrowser } from '../support/desk-browser.ts';
import { eventually } from '../support/eventually.ts';
import { check } from '../support/page-faults.ts';
import { remac } from '../support/remac.ts';
import { testSigning } from '../support/signing.ts';

describe('payments and refusals, in a browser', { skip }, async () => {
  if (skip) return;
  const desk = await deskBrowser();
  const signing = await testSigning(desk.store);
  const ana = await desk.console.enrolled('ana.maria', 'reviewer');
  const bea = await desk.console.enrolled('bea', 'reviewer', new Map([['COP', 10n ** 14n]]));
  const makeOld = async ({ id }: Enrolled) => {
    await desk.rows(
      "UPDATE operator_sessions SET proved_at = now() - interval '6 minutes' WHERE operator_id = $1",
      [id],
    );
    await remac(desk.store);
  };
  const overrides = (id: number) =>
    desk.rows('SELECT act, needs_second FROM proposals WHERE application_id = $1', [id]);
  const prove = async (page: Page, operator: Enrolled) => {
    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.getByLabel('Password').fill(PASSWORD);
    await dialog.getByLabel('Code of the authenticator app').fill(await operator.nextCode());
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
  };

  it('pays out by two operators, each with a new sign-in; a sign-in that is cancelled leaves the act to be sent', async () => {
    const [id] = await desk.inReview(1);
    await desk.json('application', 'approve', `${id}`, '--reason', 'fine');
    const payments = () =>
      desk.rows('SELECT maker_id, second_id, state FROM proposals WHERE application_id = $1', [id]);
    await desk.browse(
      ana,
      async (page) => {
        await page.getByRole('button', { name: 'Disburse' }).waitFor();
        await makeOld(ana);
        await page.keyboard.press('d');
        await page.getByRole('dialog').getByText('no contract is needed').waitFor();
        assert.equal(await page.getByRole('checkbox').count(), 0, 'nothing to pay out in spite of');
        await page.keyboard.press('1');
        const again = page.getByRole('dialog', { name: 'Sign in again' });
        await again.getByText(`Propose: disbursement, Application ${id}`).waitFor();
        await check(page, 'again');
        await page.keyboard.press('Escape');
        await page.getByRole('alert').getByText('Not sent: this needs a sign-in').waitFor();
        assert.deepEqual(await payments(), []);
        await page.getByRole('dialog').getByRole('button', { name: 'Propose' }).click();
        await prove(page, ana);
        await page.getByText(`${id}: disbursement, waits for a second operator`).waitFor();
        await page.getByText('Proposed: disbursement, by ana.maria; waits for a second operator').waitFor();
        assert.equal(new URL(page.url()).pathname, `/applications/${id}`, 'a payment opens no next one');
        await check(page, 'payment');
      },
      { path: `/applications/${id}`, screen: PHONE, expected: /403/ },
    );
    assert.deepEqual(await payments(), [{ maker_id: ana.id, second_id: null, state: 'proposed' }]);
    await desk.browse(
      bea,
      async (page) => {
        await page.getByRole('link', { name: `${id}`, exact: true }).focus();
        await makeOld(bea);
        await page.keyboard.press('c');
        await page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).press('Enter');
        const again = page.getByRole('dialog', { name: 'Sign in again' });
        await again.getByText(`Confirm: disbursement, Application ${id}`).waitFor();
        await prove(page, bea);
        await page.getByText(`${id}: Confirmed.`).waitFor();
      },
      { path: '/proposals?list=to_confirm', expected: /403/ },
    );
    await desk.applyAll();
    assert.deepEqual(await payments(), [{ maker_id: ana.id, second_id: bea.id, state: 'applied' }]);
    assert.equal((await desk.json('application', 'show', `${id}`)).status, 'disbursed');
  });

  for (const { locale, signed, held, may, fields, against } of [
    {
      ...{ locale: 'en-US', signed: 'Signed', may: 'May withdraw until' },
      fields: [
        'Reference',
        'Note for the timeline',
        'Pay out in spite of',
        /Payment 1: Reference is missing/,
      ],
      against: ['the applicant may still withdraw from the contract'],
      held: /The applicant may withdraw from the contract until .*20\d\d/,
    },
    {
      ...{ locale: 'es-CO', signed: 'Firmada', may: 'Puede retractarse hasta' },
      fields: ['Referencia', 'Nota para el historial', 'Pagar a pesar', /Pago 1: falta Referencia/],
      against: ['el solicitante aún puede retractarse del contrato'],
      held: /El solicitante puede retractarse del contrato hasta .*20\d\d/,
    },
    {
      ...{ locale: 'pt-BR', signed: 'Assinada', may: 'Pode se arrepender até' },
      fields: ['Referência', 'Nota para o histórico', 'Pagar apesar', /Pagamento 1: falta Referência/],
      against: ['o solicitante ainda pode se arrepender do contrato'],
      held: /O solicitante pode se arrepender do contrato até .*20\d\d/,
    },
  ]) {
    it(`shows signature and period before a payment, what held it, with the date, and pays in spite of it (D46), ${locale}`, async () => {
      const id = await signing.begin();
      await signing.sign(id);
      await desk.browse(
        ana,
        async (page) => {
          const term = (text: string) => page.getByRole('term').filter({ hasText: text });
          await term(may).waitFor();
          await term(signed).first().waitFor();
          await check(page, `payment-held-${locale}`);
          await page.keyboard.press('d');
          const dialog = page.getByRole('dialog');
          await dialog.getByText(may).waitFor();
          await dialog.getByText(held).waitFor();
          await check(page, `payment-dialog-${locale}`);
          const [reference, note, override, missing] = fields as [string, string, string, RegExp];
          await page.keyboard.press('1');
          await dialog.getByRole('alert').filter({ hasText: missing }).waitFor();
          for (const one of await dialog.getByLabel(reference).all()) await one.fill(`TR-${id}`);
          await dialog.getByLabel(override).press('Space');
          await page.keyboard.press('1');
          await dialog.getByRole('alert').waitFor();
          assert.deepEqual(await overrides(id), [], 'in spite of it, and nobody says why');
          await dialog.getByLabel(override).press('Space');
          await page.keyboard.press('1');
          await dialog.getByRole('alert').filter({ hasText: held }).waitFor();
          await check(page, `payment-held-back-${locale}`);
          assert.equal(
            await dialog.getByLabel(reference).first().inputValue(),
            `TR-${id}`,
            'nothing is lost',
          );
          await dialog.getByLabel(note).fill('the bank closes at noon');
          await dialog.getByLabel(override).press('Space');
          await page.keyboard.press('1');
          await eventually('the payment in spite of it', async () => (await overrides(id)).length === 1);
        },
        { path: `/applications/${id}`, locale, screen: PHONE, expected: /409/ },
      );
      assert.deepEqual(await overrides(id), [{ act: 'disburse', needs_second: 'override' }]);
      await desk.browse(
        bea,
        async (page) => {
          await page.getByRole('link', { name: `${id}`, exact: true }).focus();
          await page.keyboard.press('c');
          await page.getByRole('dialog').getByText(`TR-${id}`).first().waitFor();
          for (const text of against) await page.getByRole('dialog').getByText(text).first().waitFor();
          await check(page, `payment-confirmed-${locale}`);
        },
        { path: '/proposals?list=to_confirm', locale, screen: PHONE },
      );
    });
  }

  it('says that a sign-in is throttled, and not that the password is wrong', async () => {
    await desk.console.enrolled('tess', 'viewer');
    const attacker = desk.console.visitor();
    const statuses: number[] = [];
    for (let tries = 0; tries < 10; tries += 1) {
      const body = { login: 'tess', password: `wrong ${tries} and long` };
      statuses.push((await attacker.ask('POST', '/api/session', body)).status);
    }
    assert.deepEqual(new Set(statuses), new Set([401]));
    await desk.visit(
      { ...PHONE, locale: 'en-US' },
      async (page) => {
        await page.getByLabel('Login').fill('tess');
        await page.getByLabel('Password').fill(PASSWORD);
        await page.keyboard.press('Enter');
        await page
          .getByRole('alert')
          .getByText(/^Too many tries\. Try again in 1\d minutes\.$/)
          .waitFor();
        await check(page, 'throttled');
      },
      // Before the sign-in.
      { expected: /401|429/ },
    );
  });
});
