/** The pages of partners in a real browser, on real routes (docs/operators.md, "Partners"). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import type { KeyId } from '../../src/domain/partner/credential.ts';
import { endpointRoutes } from '../../src/subjects/events/push/routes/endpoint.ts';
import { partnerRoutes } from '../../src/subjects/partners/routes/partners.ts';
import { addKeyOutcomes } from '../../src/subjects/partners/sql/key-outcomes.ts';
import { type NotedRequest, RequestLog } from '../../src/subjects/partners/uses/request-log.ts';
import { commandLine } from '../cli/harness.ts';
import { PHONE, skip } from '../support/browser.ts';
import { consoleInBrowser, EMPTY_QUEUE, NO_PROPOSALS, SCREENS } from '../support/console-browser.ts';
import { testDatabase } from '../support/database.ts';
import { check } from '../support/page-faults.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';

describe('the pages of partners', { skip }, async () => {
  if (skip) return;
  const store = await testDatabase();
  const { json } = commandLine(store);
  const desk = { ...store, database: store.runtime };
  const { visitAs } = await consoleInBrowser(
    [...[...EMPTY_QUEUE, NO_PROPOSALS], ...[...partnerRoutes(desk, []), ...endpointRoutes(desk, new Set())]],
    null,
    store,
  );
  const known = await json('partner', 'add', '--name', HOSTILE, '--country', 'CO');
  const key = await json('key', 'issue', '--partner', `${known.id}`, '--daily-cap', '5000');
  const counts = { registered: 40, duplicate: 3, over_quota: 2, invalid: 1, unauthorized: 1 };
  await addKeyOutcomes(
    store.database,
    new Map([[key.id as KeyId, { ...counts, remembered: 0, forgotten: 0 }]]),
  );
  await store.database.query(
    "INSERT INTO usage_entries (partner_id, second, slot, count) VALUES ($1, date_trunc('second', now()), 0, 4600)",
    [known.id],
  );
  const requestId = '0198f0a0-0000-7000-8000-000000000001';
  const log = new RequestLog(store.database, { clock: store.clock, onLeftOut: () => {}, onError: () => {} });
  const request = {
    ...{ requestId, partnerId: known.id, keyId: key.id, method: 'POST', route: '/PRO', status: 200, ms: 12 },
    counts: { registered: 3, duplicate: 1, overQuota: 0, invalid: 2, notAnObject: 0 },
    ...{ problem: null, replayed: false, faults: { 'income.amount': 2, 'city.required': 1 } },
  } as unknown as NotedRequest;
  assert.ok(log.hasRoom(request.partnerId, request.keyId));
  log.add(request);
  await log.stop();

  const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).press('Enter');
  const dialog = (page: Page) => page.getByRole('dialog');

  for (const screen of SCREENS) {
    const { width } = screen.viewport;

    it(`an admin adds a partner and gives it a key by the keyboard, ${width} px`, async () => {
      await visitAs({ login: `ana.${width}`, role: 'admin', screen, path: '/partners' }, async (page) => {
        await page.getByRole('link', { name: HOSTILE }).waitFor();
        await check(page, 'partners');
        await press(page, 'Add a partner');
        await dialog(page).getByLabel('Name that applicants read').fill(`Acme ${width}`);
        await dialog(page).getByLabel('Country').fill('co');
        await check(page, 'partners-add');
        await dialog(page).getByLabel('Country').press('Enter');
        await page.getByRole('heading', { name: `Acme ${width}` }).waitFor();
        await press(page, 'Make a key');
        await dialog(page).getByLabel('Daily cap').fill('20');
        await dialog(page).getByLabel('Daily cap').press('Enter');
        const secret = dialog(page).locator('code');
        await secret.waitFor();
        const text = await secret.innerText();
        assert.match(text, /^vtn_pro_[0-9a-f]{48}$/);
        await check(page, 'partner-key-shown');
        await dialog(page).getByRole('button', { name: 'Close' }).press('Enter');
        await dialog(page).waitFor({ state: 'detached' });
        assert.ok(!(await page.content()).includes(text), 'the key is gone with the dialog');
        const stored = await page.evaluate('JSON.stringify([localStorage, sessionStorage, history.state])');
        assert.ok(!`${stored}`.includes(text));
      });
    });

    it(`an admin sees usage, refusals and requests, and what a revocation breaks, ${width} px`, async () => {
      await visitAs(
        { login: `eva.${width}`, role: 'admin', screen, path: `/partners/${known.id}` },
        async (page) => {
          await page.getByText('4,600 of 5,000').waitFor();
          await page.getByText('income amount: 2').waitFor();
          await check(page, 'partner');
          await page.getByLabel('X-Request-Id').fill('0198f0a0-0000-7000-8000-000000000002');
          await page.getByLabel('X-Request-Id').press('Enter');
          await page.getByText('This partner has no such request').waitFor();
          await page.getByLabel('X-Request-Id').fill(requestId.toUpperCase());
          await page.getByLabel('X-Request-Id').press('Enter');
          await page.getByText(requestId).waitFor();
          await press(page, `Revoke: ${key.id}`);
          await dialog(page).getByText('is refused with 401').waitFor();
          await check(page, 'partner-revoke');
          await dialog(page).getByRole('button', { name: 'Cancel' }).press('Enter');
          assert.equal((await json('key', 'list', '--partner', `${known.id}`))[0].status, 'live');
        },
      );
    });
  }

  it('an admin renames, rotates, caps, revokes, closes and opens again', async () => {
    const { id } = await json('partner', 'add', '--name', 'Uno', '--country', 'MX');
    const { id: first } = await json('key', 'issue', '--partner', `${id}`);
    await visitAs({ login: 'ida', role: 'admin', path: `/partners/${id}`, expected: /409/ }, async (page) => {
      await press(page, 'Rename');
      await dialog(page).getByLabel('Name that applicants read').fill(HOSTILE);
      await dialog(page).getByRole('button', { name: 'Rename' }).press('Enter');
      await dialog(page).getByText('Another partner has this name.').waitFor();
      await dialog(page).getByLabel('Name that applicants read').fill('Dos');
      await dialog(page).getByRole('button', { name: 'Rename' }).press('Enter');
      await page.getByRole('heading', { name: 'Dos' }).waitFor();
      await press(page, `Rotate: ${first}`);
      await dialog(page).getByLabel('The old key still works for').selectOption('7d');
      await dialog(page).getByRole('button', { name: 'Rotate' }).press('Enter');
      await dialog(page).getByText('It is shown only now').waitFor();
      await dialog(page).getByRole('button', { name: 'Close' }).press('Enter');
      const [made] = await json('key', 'list', '--partner', `${id}`);
      await press(page, `Change the cap: ${made.id}`);
      await dialog(page).getByLabel('Daily cap').fill('77');
      await dialog(page).getByLabel('Daily cap').press('Enter');
      await page.getByRole('cell', { name: '77', exact: true }).first().waitFor();
      await press(page, `Revoke: ${first}`);
      await dialog(page).getByRole('button', { name: 'Revoke' }).press('Enter');
      await page.getByText('revoked', { exact: true }).waitFor();
      await press(page, 'Close');
      await dialog(page).getByText('1 live key stops working at once').waitFor();
      await dialog(page).getByRole('button', { name: 'Close' }).press('Enter');
      await press(page, 'Open again');
      await dialog(page).getByRole('button', { name: 'Open again' }).press('Enter');
      await page.getByRole('button', { name: 'Make a key' }).waitFor();
      const keys = await json('key', 'list', '--partner', `${id}`);
      assert.deepEqual(
        keys.map(({ status, daily_cap }: Record<string, unknown>) => [status, daily_cap]),
        [
          ['revoked', 77],
          ['revoked', null],
        ],
      );
    });
  });

  it('both fit a phone in the longest languages, and a reviewer has neither of them', async () => {
    for (const [language, requests] of [
      ['es', 'Peticiones'],
      ['pt', 'Requisições'],
    ] as const) {
      const visit = { login: `leo.${language}`, role: 'admin', screen: PHONE, locale: language } as const;
      await visitAs({ ...visit, path: `/partners/${known.id}` }, async (page) => {
        await page.getByRole('heading', { name: requests, exact: true }).waitFor();
        await page.getByText(requestId).waitFor();
        await check(page, `partner-${language}`);
      });
    }
    await visitAs({ login: 'rosa', role: 'reviewer', path: `/partners/${known.id}` }, async (page) => {
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    });
  });
});
