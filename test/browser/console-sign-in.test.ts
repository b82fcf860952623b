/** The sign-in at an identity provider and the sign-in again, in a real browser (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import {
  type ListedProposalReply,
  Proposal,
  type ProposalReply,
  Proposals,
} from '../../src/subjects/desk/routes/proposal-forms.ts';
import { CALLBACK } from '../../src/subjects/operators/routes/oidc.ts';
import { route } from '../../src/wire/operator/route.ts';
import { holdReads, PHONE, skip, stateOf } from '../support/browser.ts';
import { PASSWORD } from '../support/console.ts';
import { consoleInBrowser, EMPTY_QUEUE, SCREENS, WIDE } from '../support/console-browser.ts';
import { eventually } from '../support/eventually.ts';
import { startIdentityProvider } from '../support/identity-provider.ts';
import { check } from '../support/page-faults.ts';
import { remac } from '../support/remac.ts';

const PROPOSAL: ProposalReply = {
  ...{
    id: 7,
    application_id: 384,
    act: 'approve',
    reason_code: 'unspecified',
    reason: 'checked',
    override: false,
  },
  ...{ by: { id: 0, login: 'somebody' }, at: '2026-03-02T10:00:00Z', apply_at: '2026-03-02T10:00:10Z' },
  ...{ state: 'proposed', needs_second: 'authority', second: null, ended_at: null, outcome: null },
  returned_for: null,
};
const LISTED: ListedProposalReply = {
  ...PROPOSAL,
  facts: {
    ...{ partner: { id: 1, name: 'Acme' }, currency: 'COP', debt_amount: 5_000_000, score: 55 },
    ...{ decision: 'in_review', documents: { accepted: 1, received: 0, rejected: 0 }, observed_income: null },
    ...{ against: [], lines: [], objections: [], lacks_authority: false, seen: 'this' },
  },
};
/** How often the act was done. */
let confirmed = 0;
const ROUTES = [
  ...EMPTY_QUEUE,
  route({
    ...{ method: 'GET', path: '/proposals', access: 'viewer', summary: 'Proposals.' },
    ...{
      reply: Proposals,
      run: async () => ({
        body: { proposals: [LISTED], next: null, to_confirm: 1, activations_to_confirm: 0 },
      }),
    },
  }),
  route({
    ...{ method: 'POST', path: '/proposals/{id}/confirm', access: 'reviewer', summary: 'Confirms.' },
    ...{ needsFresh: true, reply: Proposal },
    run: async () => {
      confirmed += 1;
      return { body: { ...PROPOSAL, state: 'applied' as const } };
    },
  }),
];
const TO_CONFIRM = '/proposals?list=to_confirm';
/** The dialog that shows what is confirmed has the button that confirms it. */
const confirmIt = async (page: Page) => {
  await page.getByRole('button', { name: 'Confirm', disabled: false }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).press('Enter');
};

describe('the sign-in in a browser', { skip }, async () => {
  if (skip) return;
  const provider = await startIdentityProvider([{ claim: 'amr', value: 'mfa' }]);
  const { store, desk, visit } = await consoleInBrowser(ROUTES, provider.config);
  provider.callbacks.push(`${desk.url()}${CALLBACK}`);
  /** Refusals that the page shows, and the way to the provider. */
  const expected = new RegExp(`40[13]|^${provider.issuer}/`);
  const makeOld = async (login: string) => {
    await store.database.query(
      `UPDATE operator_sessions SET proved_at = now() - interval '6 minutes'
       WHERE operator_id = (SELECT id FROM operators WHERE login = $1)`,
      [login],
    );
    await remac(store);
  };
  const isSignedIn = (page: Page) => page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();

  it('an act that needs a new sign-in asks for password and code, and is then done once', async () => {
    for (const screen of SCREENS) {
      const login = `rosa.${screen === WIDE ? 'wide' : 'phone'}`;
      const { signIn, nextCode } = await desk.enrolled(login, 'reviewer');
      const storageState = stateOf((await signIn()).cookie!);
      await makeOld(login);
      await visit(
        { ...screen, locale: 'en-US', storageState },
        async (page) => {
          const before = confirmed;
          await confirmIt(page);
          const dialog = page.getByRole('dialog', { name: 'Sign in again' });
          await dialog.getByLabel('Password').fill('not the password');
          await dialog.getByLabel('Code of the authenticator app').fill('000000');
          await page.keyboard.press('Enter');
          await dialog.getByRole('alert').getByText('Password or code is wrong.').waitFor();
          await check(page, 'again');
          assert.equal(confirmed, before);
          await dialog.getByLabel('Password').fill(PASSWORD);
          await dialog.getByLabel('Code of the authenticator app').fill(await nextCode());
          await page.keyboard.press('Enter');
          await dialog.waitFor({ state: 'detached' });
          await isSignedIn(page);
          await eventually('the act', async () => confirmed > before);
          assert.equal(confirmed, before + 1);
        },
        { path: TO_CONFIRM, expected },
      );
    }
  });

  it('a link leads to the identity provider and back, and the page is open', async () => {
    Object.assign(provider.person, { subject: 'ana', amr: ['mfa'] });
    const { token } = await desk.invite('ana', 'reviewer');
    await visit(
      { ...PHONE, locale: 'en-US' },
      async (page) => {
        const atProvider = page.getByRole('button', { name: 'Sign in at localhost' });
        await atProvider.waitFor();
        await check(page, 'enrol-at-provider');
        await atProvider.press('Enter');
        await isSignedIn(page);
        await makeOld('ana');
        const before = confirmed;
        await page.goto(desk.url() + TO_CONFIRM);
        await confirmIt(page);
        const dialog = page.getByRole('dialog', { name: 'Sign in again' });
        await dialog.getByRole('button', { name: 'Next' }).press('Enter');
        const link = dialog.getByRole('link', { name: 'Sign in at the identity provider' });
        await link.waitFor();
        await check(page, 'again-at-provider');
        const opened = page.context().waitForEvent('page');
        await link.press('Enter');
        await (await opened).getByText('You have signed in again. Close this tab').waitFor();
        await dialog.waitFor({ state: 'detached' });
        await isSignedIn(page);
        await eventually('the act', async () => confirmed > before);
        assert.equal(confirmed, before + 1);
        // Where the session ended, the sign-in is in another tab too, and the act goes on in this one.
        await page.goto(desk.url() + TO_CONFIRM);
        await page.getByRole('button', { name: 'Confirm', disabled: false }).press('Enter');
        const confirm = page.getByRole('dialog').getByRole('button', { name: 'Confirm' });
        await confirm.waitFor();
        await holdReads(page, '/confirm');
        await store.database.query('DELETE FROM operator_sessions');
        await confirm.press('Enter');
        await page.getByText('What you did last is not sent yet.').waitFor();
        await page.getByRole('button', { name: 'Sign in at localhost' }).press('Enter');
        await page.getByRole('link', { name: 'Sign in at the identity provider' }).waitFor();
        await check(page, 'ended-at-provider');
        const other = page.context().waitForEvent('page');
        await page.getByRole('link', { name: 'Sign in at the identity provider' }).press('Enter');
        await isSignedIn(await other);
        await page.bringToFront();
        await isSignedIn(page);
        await eventually('the act', async () => confirmed === before + 2);
      },
      { path: `/#token=${token}`, expected },
    );
  });

  it('without a second factor of the provider the page adds an app, and asks for its code at each sign-in', async () => {
    Object.assign(provider.person, { subject: 'eva', amr: ['pwd'] });
    const { token } = await desk.invite('eva', 'reviewer');
    await visit(
      { ...WIDE, locale: 'en-US' },
      async (page) => {
        await page.getByRole('button', { name: 'Sign in at localhost' }).press('Enter');
        await page.getByText('Now add this account to an authenticator app.').waitFor();
        assert.equal(page.url(), `${desk.url()}/`);
        await check(page, 'bound');
        await page.getByRole('button', { name: 'Next' }).press('Enter');
        const key = await page.getByText(/^[A-Z2-7]{32}$/).textContent();
        const totp = new TOTP({ secret: key! });
        await page.getByLabel('Code of the authenticator app').fill(totp.generate());
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'I kept the codes' }).press('Enter');
        await page.getByRole('button', { name: 'Sign in at localhost' }).press('Enter');
        const code = page.getByLabel('Code of the authenticator app');
        await code.waitFor();
        // The step is found again after a reload.
        await page.reload();
        await code.fill(totp.generate({ timestamp: Date.now() + 30_000 }));
        await page.keyboard.press('Enter');
        await isSignedIn(page);
        const kept =
          'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.search, location.hash])';
        assert.equal(await page.evaluate(kept), '[{},{},"","",""]');
      },
      { path: `/#token=${token}`, expected },
    );
  });

  it('the page says why a sign-in at the provider led nowhere', async () => {
    Object.assign(provider.person, { subject: 'nobody', amr: ['mfa'] });
    await visit(
      { ...PHONE, locale: 'es-CO' },
      async (page) => {
        await page.getByRole('button', { name: 'Entrar con localhost' }).press('Enter');
        await page.getByRole('alert').getByText('Ninguna cuenta está vinculada').waitFor();
        assert.equal(page.url(), `${desk.url()}/`);
        await check(page, 'unknown');
        await page.getByRole('button', { name: 'Cerrar' }).press('Enter');
        assert.equal(await page.getByRole('alert').count(), 0);
      },
      { expected },
    );
  });
});
