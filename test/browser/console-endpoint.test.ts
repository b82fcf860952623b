/** The endpoint of a partner and its deliveries in a real browser, on real routes (docs/operators.md). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { toPartnerId } from '../../src/domain/partner/credential.ts';
import { eventIdOf } from '../../src/seal/event-ids.ts';
import { endpointRoutes } from '../../src/subjects/events/push/routes/endpoint.ts';
import { claimPushes } from '../../src/subjects/events/push/sql/claim.ts';
import { recordPushes } from '../../src/subjects/events/push/sql/record.ts';
import { partnerRoutes } from '../../src/subjects/partners/routes/partners.ts';
import { commandLine } from '../cli/harness.ts';
import { PHONE, skip } from '../support/browser.ts';
import { consoleInBrowser, EMPTY_QUEUE, NO_PROPOSALS, SCREENS } from '../support/console-browser.ts';
import { testDatabase } from '../support/database.ts';
import { startEndpointPeer } from '../support/endpoint-peer.ts';
import { check } from '../support/page-faults.ts';
import { addEvents, setEndpoint } from '../support/pushes.ts';

describe('the endpoint of a partner on its page', { skip }, async () => {
  if (skip) return;
  const store = await testDatabase();
  const { json } = commandLine(store);
  const peer = await startEndpointPeer();
  const desk = { ...store, database: store.runtime };
  const { visitAs } = await consoleInBrowser(
    [
      ...[...EMPTY_QUEUE, NO_PROPOSALS, ...partnerRoutes(desk, [])],
      ...endpointRoutes(desk, new Set([peer.host])),
    ],
    null,
    store,
  );
  const newPartner = async (name: string) =>
    toPartnerId((await json('partner', 'add', '--name', name, '--country', 'CO')).id);
  const press = (page: Page, name: string) =>
    page.getByRole('button', { name, exact: true }).first().press('Enter');
  const dialog = (page: Page) => page.getByRole('dialog');

  // One event of each fate.
  const known = await newPartner('Acme');
  await setEndpoint(store, known, peer);
  await addEvents(store, known, [11, 11, 12, 13]);
  const { claimed } = await claimPushes(store.database, []);
  const failures = new Map([
    [1, 'status_503'],
    [4, 'timeout'],
  ] as const);
  await recordPushes(
    store.database,
    claimed.map((push) => ({
      ...push,
      result: failures.has(push.number as 1) ? ('failed' as const) : ('delivered' as const),
      failure: failures.get(push.number as 1) ?? null,
      waitMs: 60_000,
    })),
  );
  const eventId = (number: number) => eventIdOf(store.vault, known, number);

  for (const screen of SCREENS) {
    const { width } = screen.viewport;

    it(`an admin sees why the partner did not get an event, ${width} px`, async () => {
      await visitAs(
        { login: `eva.${width}`, role: 'admin', screen, path: `/partners/${known}`, expected: /404/ },
        async (page) => {
          await page.getByText('failed: answered with the status 503').waitFor();
          await page.getByText('failed: no answer within 10 seconds').waitFor();
          await page.getByText('after an earlier event of the application').waitFor();
          await check(page, `endpoint-${width}`);
          const field = page.getByLabel('ID of the event');
          await field.fill(eventId(3));
          await field.press('Enter');
          await page.getByRole('status').getByText('delivered').waitFor();
          await field.fill('evt_nope');
          await field.press('Enter');
          await page.getByText('The partner has no event with this ID.').waitFor();
        },
      );
    });

    it(`an admin sets, tests, rotates, pushes again and disables by the keyboard, ${width} px`, async () => {
      const partner = await newPartner(`Uno ${width}`);
      const visit = { login: `ana.${width}`, role: 'admin', screen, path: `/partners/${partner}` } as const;
      await visitAs({ ...visit, expected: /400/ }, async (page) => {
        await page.getByText('The partner has no endpoint').waitFor();
        await press(page, 'Set an endpoint');
        await dialog(page).getByLabel('Address').fill('http://example.com/x');
        await dialog(page).getByLabel('Address').press('Enter');
        await dialog(page).getByText('The address begins with https://').waitFor();
        await check(page, `endpoint-set-${width}`);
        await dialog(page).getByLabel('Address').fill(peer.url);
        await dialog(page).getByLabel('Address').press('Enter');
        const secret = await dialog(page).locator('code').innerText();
        assert.match(secret, /^whsec_/);
        await dialog(page).getByRole('button', { name: 'Close' }).press('Enter');
        await dialog(page).waitFor({ state: 'detached' });
        assert.ok(!(await page.content()).includes(secret), 'the secret is gone with the dialog');
        peer.answer = () => 500;
        await press(page, 'Send a test event');
        await page.getByText('The test event failed: answered with the status 500').waitFor();
        peer.answer = () => 204;
        await press(page, 'Send a test event');
        await page.getByText('The endpoint took the test event: status 204').waitFor();
        await press(page, 'Rotate the secret');
        await dialog(page).getByRole('button', { name: 'Rotate the secret' }).press('Enter');
        assert.notEqual(await dialog(page).locator('code').innerText(), secret);
        await dialog(page).getByRole('button', { name: 'Close' }).press('Enter');
        await addEvents(store, partner, [1, 2]);
        await store.database.query('DELETE FROM pushes WHERE partner_id = $1', [partner]);
        await press(page, 'Push again');
        await dialog(page).getByLabel('Time', { exact: true }).fill('2026-01-01T00:00');
        await check(page, `endpoint-resend-${width}`);
        await dialog(page).getByRole('button', { name: 'Push again' }).press('Enter');
        await page.getByText('2 events are queued.').waitFor();
        await press(page, 'Push again');
        await dialog(page).getByLabel('From').selectOption('event');
        await dialog(page).getByLabel('ID of the event').fill(eventId(1));
        await dialog(page).getByRole('button', { name: 'Push again' }).press('Enter');
        await dialog(page).getByText('The partner has no such event').waitFor();
        await dialog(page).getByRole('button', { name: 'Cancel' }).press('Enter');
        await press(page, 'Disable');
        await dialog(page).getByRole('button', { name: 'Disable' }).press('Enter');
        await page.getByText('An operator disabled it.').waitFor();
        await check(page, `endpoint-disabled-${width}`);
      });
    });
  }

  it('it fits a phone in the longest languages', async () => {
    for (const [language, heading] of [
      ['es', 'Entregas'],
      ['pt', 'Entregas'],
    ] as const) {
      const visit = { login: `leo.${language}`, role: 'admin', screen: PHONE, locale: language } as const;
      await visitAs({ ...visit, path: `/partners/${known}` }, async (page) => {
        await page.getByRole('heading', { name: heading, exact: true }).waitFor();
        await check(page, `endpoint-${language}`);
      });
    }
  });
});
