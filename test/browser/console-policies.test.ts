/**
 * The page of policies on real routes, in a real browser (D48, D51; docs/policy.md, "The console"): a point is changed,
 * the page says who is touched, the draft is proposed by one admin and confirmed by another, watched, and rolled back.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { readLive } from '../../src/subjects/policies/sql/policies.ts';
import { countActivationsToConfirm } from '../../src/subjects/policies/sql/proposals.ts';
import type { Call, Route } from '../../src/wire/operator/route.ts';
import { commandLine } from '../cli/harness.ts';
import { numbers } from '../evaluation/made-policies.ts';
import { applicant } from '../support/applicant.ts';
import { PHONE, skip } from '../support/browser.ts';
import { consoleInBrowser, EMPTY_QUEUE, NO_PROPOSALS, SCREENS } from '../support/console-browser.ts';
import { testDatabase } from '../support/database.ts';
import { livePolicyOf, registrarOf } from '../support/intake.ts';
import { check } from '../support/page-faults.ts';
import { BUILT_IN, routesOf } from '../support/policy-console.ts';

const MARKUP = `<img src=x onerror="document.title='x'">{{7*7}}`;
const VIEWS = ['versions', 'card', 'difference', 'what-if', 'trial', 'watch'];
const PEOPLE = 400;

/** People of all kinds: the debt of each is 6,000,000 COP. */
function people(count: number) {
  const next = numbers(34);
  return Array.from({ length: count }, () =>
    applicant({
      phone: null,
      income: 150_000 + next(900_000),
      debt_amount: next(40) === 0 ? 150_000_000 : 6_000_000,
      num_debts: (['1', '2', '3'] as const)[next(3)]!,
      debt_age: (['lt6', '6a12', '1a2', 'gt2'] as const)[next(4)]!,
      prior_history: (['yes', 'no'] as const)[next(2)]!,
    }),
  );
}

describe('the page of policies', { skip }, async () => {
  if (skip) return;
  const store = await testDatabase();
  await livePolicyOf(store);
  const { json } = commandLine(store);
  const partner = await json('partner', 'add', '--name', 'Uno', '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partner.id}`);
  await (await registrarOf(store))(key, people(PEOPLE));
  // As the desk tells it.
  const proposals: Route = {
    ...NO_PROPOSALS,
    run: async ({ session }: Call<never, never>) => ({
      body: {
        ...{ proposals: [], next: null, to_confirm: 0 },
        activations_to_confirm: await countActivationsToConfirm(store.database, session.operatorId),
      },
    }),
  };
  const { visitAs, desk } = await consoleInBrowser(
    [...EMPTY_QUEUE, proposals, ...routesOf(store)],
    null,
    store,
  );
  const live = async () => (await readLive(store.database))!.content.version;

  /** Accepts each warning of the dialog by keyboard. */
  const acceptAll = async (page: Page) => {
    const boxes = page.getByRole('dialog').getByRole('checkbox');
    await boxes.first().waitFor();
    for (const box of await boxes.all()) {
      await box.focus();
      await page.keyboard.press('Space');
    }
  };

  it('a point is changed, people are counted, the draft is saved and proposed: by keyboard alone', async () => {
    await visitAs({ login: 'ana', role: 'admin', path: '/policies?view=what-if' }, async (page) => {
      const field = page.getByRole('spinbutton', { name: /^Points: age of the debts, more than 2 years/ });
      await field.waitFor();
      await page.getByRole('listitem').filter({ hasText: 'No decision changes.' }).waitFor();
      assert.equal(
        await page.getByRole('row', { name: /^All/ }).last().getByRole('cell').last().textContent(),
        '400',
      );
      await field.focus();
      await page.keyboard.press('Control+A');
      await page.keyboard.type('20');
      await page
        .getByRole('listitem')
        .filter({ hasText: /\d+ in review become approved/ })
        .waitFor();
      const slider = page.getByRole('slider', { name: /Largest amount/ });
      await slider.focus();
      await page.keyboard.press('End');
      await page
        .getByRole('listitem')
        .filter({ hasText: /\d+ rejected become/ })
        .waitFor();
      await page.getByRole('button', { name: 'Start again' }).press('Enter');
      await page.getByRole('listitem').filter({ hasText: 'No decision changes.' }).waitFor();
      await field.focus();
      await page.keyboard.press('Control+A');
      await page.keyboard.type('0');
      await page
        .getByRole('listitem')
        .filter({ hasText: /become/ })
        .first()
        .waitFor();
      await page.getByLabel('Name of the draft').fill('mine-1');
      await page.getByRole('button', { name: 'Save as draft' }).press('Enter');
      await page.getByText('The draft mine-1 is saved.').waitFor();
      const changed = await page
        .getByRole('listitem')
        .filter({ hasText: / becomes? / })
        .allTextContents();

      await page.getByRole('link', { name: 'Difference' }).press('Enter');
      await page.getByLabel('After').selectOption('mine-1');
      await page.getByRole('row', { name: /age of the debts: more than 2 years/ }).waitFor();
      const told = await page.getByText(/of 400 applications since/).textContent();
      const sum = changed.reduce((total, text) => total + Number(/^\d+/.exec(text)![0]), 0);
      assert.equal(Number(/^\d+/.exec(told!)![0]), sum, `${told}: ${changed}`);
      const backtest = await json('policy', 'backtest', 'mine-1');
      const moved = Object.entries<Record<string, number>>(backtest.matrix).flatMap(([before, row]) =>
        Object.entries(row).flatMap(([after, count]) => (before === after ? [] : [count])),
      );
      assert.equal(
        moved.reduce((total, count) => total + count, 0),
        sum,
        'the page counts what policy backtest counts',
      );

      await page.getByRole('link', { name: 'Versions' }).press('Enter');
      await page.getByRole('button', { name: 'Activate: mine-1' }).press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Activate mine-1' });
      await dialog.getByLabel('Reason, for the history').fill(`old debts ${MARKUP}`);
      const propose = dialog.getByRole('button', { name: 'Propose' });
      assert.ok(await propose.isDisabled(), 'until each warning is accepted by its name');
      await acceptAll(page);
      await check(page, 'policies-propose');
      await propose.press('Enter');
      await page.getByText('waits for another admin').waitFor();
      await page.getByText('It is your own').waitFor();
      assert.equal(
        await page.getByText('to confirm', { exact: true }).count(),
        0,
        'nobody confirms an own one',
      );
      assert.equal(await page.getByRole('button', { name: /^Confirm/ }).count(), 0);
      assert.equal(await live(), 'default-2');
    });
  });

  it('the draft is tried: a backtest is run and read, a shadow is started and stopped, by keyboard alone', async () => {
    const since = new Date(Date.now() - 5 * 86_400_000).toISOString().slice(0, 10);
    await visitAs({ login: 'tea', role: 'admin', path: '/policies', screen: PHONE }, async (page) => {
      await page.getByRole('link', { name: 'Try: mine-1' }).press('Enter');
      await page.getByLabel('Registered since (UTC)').fill(since);
      await page.getByRole('button', { name: 'Run the backtest' }).press('Enter');
      await page.getByText('Backtest 2', { exact: true }).waitFor();
      await page.getByText(`400 applications, registered since ${since}.`).waitFor();
      await page
        .getByRole('listitem')
        .filter({ hasText: / becomes? / })
        .first()
        .waitFor();
      const { matrix } = await json('policy', 'backtest', 'mine-1', '--since', since);
      const rows = page.getByRole('row', { name: /^(approved|in review|rejected) \d/i });
      const shown = await rows.evaluateAll((all) =>
        all
          .slice(0, 3)
          .map((row) => [...row.querySelectorAll('td')].slice(0, 3).map((cell) => Number(cell.textContent))),
      );
      assert.deepEqual(
        shown,
        Object.values<object>(matrix).map(Object.values),
        'as `policy backtest` counts',
      );

      await page.getByRole('spinbutton', { name: 'Days' }).fill('91');
      await page.getByRole('button', { name: 'Start the shadow' }).press('Enter');
      assert.equal((await json('policy', 'shadow', 'list')).length, 0, 'a shadow runs for 90 days at most');
      await page.getByRole('spinbutton', { name: 'Days' }).fill('5');
      await page.getByText('It ends on').waitFor();
      await page.getByRole('button', { name: 'Start the shadow' }).press('Enter');
      await page.getByText('mine-1 against default-2 runs').waitFor();
      await page.getByText('Nothing is counted yet').waitFor();
      await check(page, 'policies-trial-runs');
      await page.getByRole('button', { name: 'Stop: mine-1' }).press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Stop the shadow of mine-1' });
      await dialog.getByRole('button', { name: 'Stop' }).press('Enter');
      await page.getByText('An operator stopped it.').waitFor();
      const [{ ended_why }] = await json('policy', 'shadow', 'list');
      assert.equal(ended_why, 'stopped');
    });
  });

  it('another admin confirms it after each warning, and it decides', async () => {
    await visitAs({ login: 'bo', role: 'admin', path: '/policies', screen: PHONE }, async (page) => {
      await page.getByRole('button', { name: 'Management 1 to confirm' }).press('Enter');
      await page.getByRole('link', { name: 'Policies 1 to confirm' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Confirm: mine-1' }).press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Confirm: activate mine-1' });
      await dialog.getByText(`old debts ${MARKUP}`).waitFor();
      await dialog.getByText(/^\d+ of 400 applications since .* get another decision\.$/).waitFor();
      await acceptAll(page);
      await check(page, 'policies-confirm');
      await dialog.getByRole('button', { name: 'Confirm' }).press('Enter');
      await dialog.waitFor({ state: 'detached' });
      await page.getByText('No activation waits.').waitFor();
      await page.getByRole('row', { name: /mine-1.*activated.*ana.*bo/ }).waitFor();
      assert.equal(await live(), 'mine-1');
      assert.equal(await page.title(), 'Policies · Ventanilla');
    });
  });

  it('is rolled back by two in the same way, and what another one changed meanwhile is said in words', async () => {
    const eva = await (await desk.enrolled('eva', 'admin')).signIn();
    await visitAs({ login: 'cy', role: 'admin', path: '/policies', expected: /404|409/ }, async (page) => {
      await page.getByRole('button', { name: 'Back to this one: default-2' }).press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.getByText('No warning is left to accept.').waitFor();
      await dialog.getByLabel('Reason, for the history').fill('back');
      await page.keyboard.press('Enter');
      await page.getByText('waits for another admin').waitFor();
      const { body } = await eva.ask('GET', '/api/policies');
      const { id } = body.proposals.find((one: { state: string }) => one.state === 'proposed');
      assert.equal(
        (await eva.ask('POST', `/api/policies/proposals/${id}/confirm`, { accept: [] })).status,
        200,
      );
      await page.getByText('No activation waits.').waitFor();
      assert.equal(await live(), 'default-2');
      // A proposal of somebody else, whose version is withdrawn while the dialog is open.
      await eva.ask('POST', '/api/policies/drafts', {
        document: { ...BUILT_IN, version: 'gone-1' },
        replaces: null,
      });
      const { body: card } = await eva.ask('GET', '/api/policies/version?version=gone-1');
      await eva.ask('POST', '/api/policies/proposals', {
        version: 'gone-1',
        reason: 'x',
        accept: card.to_accept,
      });
      await page.getByRole('button', { name: 'Confirm: gone-1' }).press('Enter');
      await acceptAll(page);
      await eva.ask('POST', '/api/policies/withdraw', { version: 'gone-1' });
      await page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).press('Enter');
      await page.getByRole('alert').getByText('Nothing was activated: the version was withdrawn.').waitFor();
      assert.equal(await live(), 'default-2');
    });
  });

  it('a draft has fields bounded by the most, and its findings beside them', async () => {
    const eva = await (await desk.enrolled('eve', 'admin')).signIn();
    const title = `Strict ${MARKUP}`;
    const reasons = { two: { en: MARKUP, es: MARKUP, pt: MARKUP } };
    const { num_debts } = BUILT_IN.characteristics;
    const attributes = num_debts.attributes.map((one) =>
      one.is[0] === '2' ? { ...one, reason: 'two' } : one,
    );
    const document = {
      ...{ ...BUILT_IN, version: 'hostile-1', title, reasons },
      characteristics: { ...BUILT_IN.characteristics, num_debts: { attributes } },
    };
    assert.equal((await eva.ask('POST', '/api/policies/drafts', { document, replaces: null })).status, 200);
    await visitAs(
      { login: 'dan', role: 'admin', path: '/policies?view=card&version=hostile-1' },
      async (page) => {
        await page.getByText(MARKUP).first().waitFor();
        const field = page.getByRole('spinbutton', { name: /^Points: number of debts, 3 debts/ });
        await field.fill('25');
        assert.equal(await field.inputValue(), '20');
        await page.getByText('A better applicant gets fewer points').first().waitFor();
        await check(page, 'policies-draft');
        await page.getByLabel('Approved from').fill('10');
        await page.getByText('The bands are out of order').first().waitFor();
        assert.ok(await page.getByRole('button', { name: 'Save as draft' }).isDisabled());
        await page.getByLabel('Approved from').fill('75');
        await page.getByText('The bands are out of order').first().waitFor({ state: 'detached' });
        await page.getByRole('button', { name: 'Save as draft' }).press('Enter');
        await page.getByText('The draft hostile-1 is saved.').waitFor();
        assert.equal(await page.locator('main img').count(), 0);
        await page.getByRole('link', { name: 'Versions' }).press('Enter');
        await page.getByText(title).waitFor();
      },
    );
  });

  for (const screen of SCREENS) {
    const { width } = screen.viewport;
    it(`each view has no fault, ${width} px`, async () => {
      await visitAs({ login: `vi.${width}`, role: 'viewer', screen, path: '/policies' }, async (page) => {
        for (const view of VIEWS) {
          await page.goto(`${desk.url()}/policies?view=${view}&version=mine-1`);
          await page.getByRole('heading', { level: 1, name: 'Policies' }).waitFor();
          await page.getByRole('heading', { level: 2 }).first().waitFor();
          await page.waitForLoadState('networkidle');
          await page.getByText('Loading…').waitFor({ state: 'detached' });
          assert.equal(await page.getByRole('button', { name: /Activate|Save|Confirm/ }).count(), 0);
          for (const table of await page.getByText('As a table').all()) await table.press('Enter');
          await check(page, `policies-${view}`);
        }
      });
    });
  }

  it('each view fits a phone in the longest languages', async () => {
    for (const locale of ['es', 'pt']) {
      const visit = {
        login: `luz.${locale}`,
        role: 'admin',
        screen: PHONE,
        locale,
        path: '/policies',
      } as const;
      await visitAs(visit, async (page) => {
        for (const view of VIEWS) {
          await page.goto(`${desk.url()}/policies?view=${view}&version=hostile-1`);
          await page.getByRole('heading', { level: 2 }).first().waitFor();
          await page.waitForLoadState('networkidle');
          // No finding has English words or codes of its own (D51).
          const found = (await page.getByText(/^(aviso|error|erro): /).allTextContents()).join(' ');
          assert.doesNotMatch(found, /_|of \d+ kinds|gets|points/, locale);
          if (view === 'card') assert.match(found, /70, 30\)|historial|histórico/, locale);
          await check(page, `policies-${view}-${locale}`);
        }
      });
    }
  });
});
