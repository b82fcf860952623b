/** The portal's page in a real browser, on its real routes (D54, docs/portal.md). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { findPortalPage } from '../../src/app/built-page.ts';
import type { PartnerRole } from '../../src/domain/operator/authority.ts';
import { toPartnerId } from '../../src/domain/partner/credential.ts';
import { commandLine } from '../cli/harness.ts';
import { PHONE, skip, stateOf, testBrowser } from '../support/browser.ts';
import { PASSWORD } from '../support/console.ts';
import { SCREENS, WIDE } from '../support/console-browser.ts';
import { testDatabase } from '../support/database.ts';
import { check } from '../support/page-faults.ts';
import { startTestPortal } from '../support/portal.ts';

describe('the portal', { skip }, async () => {
  if (skip) return;
  const store = await testDatabase();
  const { json } = commandLine(store);
  const partner = toPartnerId((await json('partner', 'add', '--name', 'Acme', '--country', 'CO')).id);
  await json('key', 'issue', '--partner', `${partner}`, '--daily-cap', '5000');
  await store.database.query('INSERT INTO partner_event_totals (partner_id, last) VALUES ($1, 60)', [
    partner,
  ]);
  await store.database.query(
    `INSERT INTO partner_events (partner_id, number, at, stored_ms, application_id, type, from_status, to_status, reason_code)
     SELECT $1, n, now() - (60 - n) * interval '1 hour', 0, 128 + n, 'application.status_changed', 'in_review', 'rejected',
       'documents_missing' FROM generate_series(1, 60) AS n`,
    [partner],
  );
  await store.database.query(
    `INSERT INTO business_days (day, partner_id, currency, registered, approved, in_review, rejected)
     SELECT (now() AT TIME ZONE 'UTC')::date - n, $1, 'COP', 10 + n, 5, 3, 2 + n FROM generate_series(0, 4) AS n`,
    [partner],
  );
  await store.database.query(
    `INSERT INTO partner_requests (partner_id, request_id, api_key_id, at, method, route, status, ms, replayed, registered,
       duplicate, over_quota, invalid, not_an_object, faults, stored_ms)
     SELECT $1, gen_random_uuid(), k.id, now(), 'POST', '/PRO', 200, 12, false, 8, 1, 0, 1, 0, '{"income.amount": 1}', 0
     FROM api_keys k WHERE k.partner_id = $1`,
    [partner],
  );
  const { page: built, failure } = await findPortalPage({ setting: () => 0 as never });
  assert.equal(failure, null);
  const portal = await startTestPortal(store, [], Promise.resolve(built));

  it('begins with at most 200 kB', () => {
    const names = [...built!.index.toString().matchAll(/assets\/([\w.-]+)/g)].map(([, name]) => name!);
    const bytes = [...new Set(names)].map((name) => built!.assets.get(name)!.bytes.gzip.length);
    assert.ok(names.length >= 3);
    assert.ok(bytes.reduce((sum, one) => sum + one) <= 200_000, `${bytes}`);
  });

  const visit = testBrowser(portal.url());
  const visitAs = async (
    { login, role, screen = WIDE, locale = 'en-US', path = '/' }: Visit,
    act: (page: Page) => Promise<void>,
  ) => {
    const { cookie } = await (await portal.enrolled(partner, login, role)).signIn();
    await visit({ ...screen, locale, storageState: stateOf(cookie!) }, act, { path });
  };

  for (const screen of SCREENS) {
    const { width } = screen.viewport;

    it(`an owner sees all of it, and adds a key that is shown once, by the keyboard, ${width} px`, async () => {
      await visitAs({ login: `owner.${width}`, role: 'owner', screen }, async (page) => {
        await page.getByText('Quota of the last 24 hours').waitFor();
        await page.getByRole('rowheader').first().waitFor();
        await check(page, 'portal-overview');
        await page.getByRole('link', { name: 'Events' }).press('Enter');
        await page.getByRole('button', { name: 'Older' }).press('Enter');
        await page.getByRole('button', { name: 'Newer' }).waitFor();
        await page.getByText('138', { exact: true }).waitFor();
        await check(page, 'portal-events');
        await page.getByRole('link', { name: 'Requests' }).press('Enter');
        await page.getByLabel('X-Request-Id').waitFor();
        await page.getByText('POST /PRO').waitFor();
        await check(page, 'portal-requests');
        await page.getByRole('link', { name: 'Sandbox' }).press('Enter');
        await page.getByText('+9900409').waitFor();
        await check(page, 'portal-sandbox');
        await page.getByRole('link', { name: 'Send a file' }).press('Enter');
        await page.getByText('+9900409').waitFor({ state: 'detached' });
        await page.locator('input[type=file]').waitFor({ state: 'attached' });
        await check(page, 'portal-send');
        await page.getByRole('link', { name: 'Keys' }).press('Enter');
        await page.getByRole('button', { name: 'Add a key' }).press('Enter');
        const dialog = page.getByRole('dialog', { name: 'The new key' });
        const key = await dialog.locator('code').textContent();
        assert.match(key!, /^vtn_all_/);
        await check(page, 'portal-key');
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
        assert.equal((await page.content()).includes(key!), false);
        await check(page, 'portal-keys');
        await page.getByRole('link', { name: 'Accounts' }).press('Enter');
        await page.getByLabel('Login').fill(`new.${width}`);
        await page.getByRole('button', { name: 'Add an account' }).press('Enter');
        const invited = page.getByRole('dialog', { name: /The link/ });
        assert.match((await invited.locator('code').textContent())!, /#token=/);
        await page.keyboard.press('Escape');
        await invited.waitFor({ state: 'detached' });
        await page.getByRole('rowheader', { name: `new.${width}` }).waitFor();
        await check(page, 'portal-accounts');
      });
    });
  }

  it('a member signs in with password and code, and has nothing to change', async () => {
    const member = await portal.enrolled(partner, 'member.one', 'member');
    await visit(
      WIDE,
      async (page) => {
        await page.getByLabel('Login').fill('member.one');
        await page.getByLabel('Password').fill(PASSWORD);
        await page.keyboard.press('Enter');
        await page
          .getByLabel(/code/i)
          .first()
          .fill(await member.nextCode());
        await page.keyboard.press('Enter');
        await page.getByText('Quota of the last 24 hours').waitFor();
        await page.getByRole('link', { name: 'Keys' }).click();
        await page.getByText('Only an owner adds, rotates and revokes keys.').waitFor();
        assert.equal(await page.getByRole('button', { name: /Rotate|Revoke|Add a key/ }).count(), 0);
        assert.equal(await page.evaluate(() => JSON.stringify([sessionStorage, localStorage])), '[{},{}]');
      },
      { expected: /401/ },
    );
  });

  it('fits a phone in the longest languages', async () => {
    for (const [locale, title, keys] of [
      ['es', 'Cuota de las últimas 24 horas', 'Claves'],
      ['pt', 'Cota das últimas 24 horas', 'Chaves'],
    ] as const)
      await visitAs({ login: `ida.${locale}`, role: 'owner', screen: PHONE, locale }, async (page) => {
        await page.getByText(title).waitFor();
        await check(page, `portal-overview-${locale}`);
        await page.getByRole('link', { name: keys }).click();
        await page.getByRole('rowheader').first().waitFor();
        await check(page, `portal-keys-${locale}`);
      });
  });
});

interface Visit {
  readonly login: string;
  readonly role: PartnerRole;
  readonly screen?: typeof WIDE;
  readonly locale?: string;
  readonly path?: string;
}
