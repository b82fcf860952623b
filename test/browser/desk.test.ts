/** The queue and decisions of the console in a real browser (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { DESKTOP, PHONE, skip } from '../support/browser.ts';
import { PASSWORD } from '../support/console.ts';
import { deskBrowser, HOSTILE, isProposed, PERSON, shownNumber } from '../support/desk-browser.ts';
import { eventually } from '../support/eventually.ts';
import { check } from '../support/page-faults.ts';

/** Personal data and keys, which stand in no address, title or storage. */
const PERSONAL = new RegExp(`${PERSON.name}|${PERSON.id_number}|${PERSON.city}|573007`);
const KEPT = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, document.title])';

const anotherThan = (page: Page, number: number) =>
  eventually('the next application', async () => {
    const shown = await shownNumber(page);
    return shown !== number && shown;
  });

describe('the desk in a browser', { skip }, async () => {
  if (skip) return;
  const desk = await deskBrowser();
  const ana = await desk.console.enrolled('ana.maria', 'reviewer');
  const bea = await desk.console.enrolled('bea', 'reviewer');
  const vera = await desk.console.enrolled('vera', 'viewer');
  const proposalsOf = (ids: readonly number[]) =>
    desk.rows(
      'SELECT application_id::integer AS id, act, reason_code, state FROM proposals WHERE application_id = ANY ($1) ORDER BY id',
      [ids],
    );
  /** Also after the end of the lease: a test may wait longer than it lasts. */
  const holderOf = async (id: number) =>
    (await desk.rows('SELECT claimed_by FROM review_items WHERE application_id = $1', [id]))[0]?.claimed_by ??
    null;

  it('is worked by keyboard alone, from the sign-in to decisions and their undo, in both widths and themes', async () => {
    for (const screen of [PHONE, DESKTOP]) {
      const ids = await desk.inReview(5);
      const operator = screen === PHONE ? ana : bea;
      await desk.visit(
        { ...screen, locale: 'en-US' },
        async (page) => {
          const { keyboard } = page;
          await page.getByLabel('Login').focus();
          await keyboard.type(operator.login);
          await keyboard.press('Tab');
          await keyboard.type(PASSWORD);
          await keyboard.press('Enter');
          await page.getByLabel('Code of the authenticator app').waitFor();
          await keyboard.type(await operator.nextCode());
          await keyboard.press('Enter');
          await page.getByText('5 in review').waitFor();
          assert.equal(new URL(page.url()).pathname, '/queue');
          await keyboard.press('j');
          await check(page, 'queue');
          await keyboard.press('?');
          await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
          await check(page, 'help');
          await keyboard.press('Escape');
          await keyboard.press('n');
          await page.getByText('You hold it').waitFor();
          const first = await shownNumber(page);
          assert.match(
            (await page.getByText('Held by').locator('xpath=..').textContent())!,
            /^Held by\W*me$/,
          );
          await check(page, 'decide');
          await keyboard.press('r');
          await page.getByRole('dialog', { name: `Reject: Application ${first}` }).waitFor();
          await check(page, 'reason');
          await keyboard.press('5');
          const second = await anotherThan(page, first);
          // Else the service might take the next decision before this one.
          await isProposed(page, first);
          await keyboard.press('a');
          // The file has no document: that is said first.
          await keyboard.press('1');
          await page
            .getByRole('alert')
            .getByText('The file contradicts this reason: the file has no document that counts.')
            .waitFor();
          assert.deepEqual(await proposalsOf([second]), []);
          await check(page, 'contradicted');
          await keyboard.press('1');
          const third = await anotherThan(page, second);
          await isProposed(page, second);
          await check(page, 'undo');
          await keyboard.press('u');
          await page.getByText(`${second}: approval, undone`).waitFor();
          assert.deepEqual(await proposalsOf([first, second, third]), [
            { id: first, act: 'reject', reason_code: 'insufficient_capacity', state: 'proposed' },
            { id: second, act: 'approve', reason_code: 'documents_verified', state: 'undone' },
          ]);
          assert.ok([first, second, third].every((id) => ids.includes(id)));
          assert.doesNotMatch((await page.evaluate(KEPT)) as string, PERSONAL);
          assert.match((await page.evaluate(KEPT)) as string, /^\[\{\},\{\},/);
          await keyboard.press('q');
          await page.getByRole('heading', { name: 'Queue' }).waitFor();
          await eventually('the claims given back', async () => (await holderOf(third)) === null);
        },
        // Before the sign-in.
        { expected: /401/ },
      );
    }
  });

  it('has filters and pages in the address, and the ways back lead where the keyboard was', async () => {
    const ids = await desk.inReview(60);
    await desk.json('partner', 'add', '--name', 'Nobody yet', '--country', 'CO');
    await desk.browse(vera, async (page) => {
      await page.getByText('60 in review').waitFor();
      const partners = page.getByLabel('Partner').locator('option');
      await eventually('a partner without rows', async () =>
        (await partners.allTextContents()).includes('Nobody yet'),
      );
      await page.getByLabel('USD from').fill('2000');
      await page.keyboard.press('Enter');
      await page.getByText('50 in review').waitFor();
      await page.getByLabel('Order').selectOption('Largest amount');
      await eventually('the order', () => page.url().endsWith('?amount_from=2000&order=amount'));
      const firstRow = page.locator('tbody tr').first();
      await firstRow.getByRole('link', { name: `${ids.at(-1)}`, exact: true }).waitFor();
      await page.reload();
      await page.getByText('50 in review').waitFor();
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await page.getByText('60 in review').waitFor();
      await page.getByRole('button', { name: 'Next page' }).click();
      await eventually('ten rows', async () => (await page.locator('tbody tr').count()) === 10);
      await page.getByRole('button', { name: 'Previous page' }).click();
      await eventually('fifty rows', async () => (await page.locator('tbody tr').count()) === 50);
      await page.keyboard.press('j');
      await page.keyboard.press('j');
      await page.keyboard.press('o');
      assert.equal(await shownNumber(page), ids[1]);
      await page.goBack();
      await eventually('the row', async () => {
        const focused = 'document.activeElement.textContent';
        return (await page.evaluate(focused)) === `${ids[1]}`;
      });
      assert.equal(
        await page.getByRole('button', { name: /Claim next|Approve/ }).count(),
        0,
        'a viewer decides nothing',
      );
    });
  });

  it('lets one of two browsers hold an application, and tells the other one', async () => {
    const [id] = await desk.inReview(1);
    const path = `/applications/${id}`;
    await desk.browse(
      ana,
      async (first) => {
        await first.getByText('You hold it').waitFor();
        await desk.browse(
          bea,
          async (second) => {
            await second.getByText(/^ana\.maria holds it until/).waitFor();
            await second.keyboard.press('a');
            await second.keyboard.press('3');
            await second.getByRole('alert').getByText('ana.maria holds it now').waitFor();
            await check(second, 'held');
          },
          { path, expected: /409/ },
        );
        assert.deepEqual(await proposalsOf([id!]), []);
        await first.goto('about:blank');
        await eventually('the claim given back', async () => (await holderOf(id!)) === null);
      },
      { path },
    );
  });

  it('stays where the operator went while the next application was on its way, and gives that one back', async () => {
    const ids = await desk.inReview(3);
    await desk.browse(
      ana,
      async (page) => {
        await page.getByText('You hold it').waitFor();
        const first = await shownNumber(page);
        const { promise: released, resolve: release } = Promise.withResolvers<void>();
        let asked = 0;
        await page.route('**/claim-next', async (route) => {
          asked += 1;
          await released;
          await route.continue();
        });
        // The one that was got ready; on its page the one after it is asked for, and waits.
        await page.keyboard.press('n');
        await anotherThan(page, first);
        await page.getByText('You hold it').waitFor();
        await eventually('the question', async () => asked > 0);
        await page.keyboard.press('n');
        await page.getByRole('link', { name: 'Queue' }).first().click();
        await page.waitForURL('**/queue**');
        const answer = page.waitForResponse('**/claim-next');
        release();
        const { id } = await (await answer).json();
        assert.ok(id);
        await eventually('the claim given back', async () => (await holderOf(id)) === null);
        assert.match(page.url(), /\/queue/);
      },
      { path: `/applications/${ids[0]}` },
    );
  });

  it('stays where the operator went from the queue while the next application was on its way, and gives it back', async () => {
    const [id] = await desk.inReview(1);
    await desk.browse(ana, async (page) => {
      await page.getByText('1 in review').waitFor();
      const { promise: held, resolve: answer } = Promise.withResolvers<void>();
      await page.route('**/claim-next', async (route) => {
        await held;
        await route.continue();
      });
      await page.keyboard.press('n');
      await page.getByRole('link', { name: 'Proposals' }).click();
      await page.getByRole('heading', { name: 'Proposals' }).waitFor();
      const released = page.waitForRequest(`**/applications/${id}/release`);
      answer();
      await released;
      await eventually('the claim is given back', async () => (await holderOf(id!)) === null);
      await page.getByRole('heading', { name: 'Proposals' }).waitFor();
    });
  });

  it('tells who did what when, where the application changed before the decision', async () => {
    const [id] = await desk.inReview(1);
    await desk.browse(
      ana,
      async (page) => {
        await page.getByText('You hold it').waitFor();
        await page.keyboard.press('a');
        await page.getByRole('dialog').waitFor();
        await desk.json('application', 'reject', `${id}`, '--reason', 'a test');
        await page.keyboard.press('3');
        await page
          .getByRole('alert')
          .getByText(/was first: rejected, /)
          .waitFor();
        await check(page, 'changed');
      },
      { path: `/applications/${id}`, expected: /412|404/ },
    );
    assert.deepEqual(await proposalsOf([id!]), []);
  });

  it('rests its shortcuts while a text is typed, with a modifier, and where they are switched off', async () => {
    const [id] = await desk.inReview(1);
    await desk.browse(
      ana,
      async (page) => {
        const dialogs = page.getByRole('dialog');
        await page.getByText('You hold it').waitFor();
        await page.keyboard.press('Control+r').catch(() => undefined);
        await page.keyboard.press('Alt+a');
        await page.keyboard.press('Shift+a');
        assert.equal(await dialogs.count(), 0);
        await page.keyboard.press('a');
        await dialogs.getByLabel(/^Note/).fill('');
        await page.keyboard.type('1 r ?');
        assert.equal(await dialogs.count(), 1);
        assert.deepEqual(await proposalsOf([id!]), []);
        await page.keyboard.press('Escape');
        await dialogs.waitFor({ state: 'detached' });
        await page.keyboard.press('?');
        await dialogs.getByLabel('Shortcuts of one key are on').click();
        await page.keyboard.press('Escape');
        await dialogs.waitFor({ state: 'detached' });
        await page.keyboard.press('a');
        await page.keyboard.press('?');
        assert.equal(await dialogs.count(), 0);
        await page.reload();
        await page.getByText('You hold it').waitFor();
        await page.keyboard.press('a');
        assert.equal(await dialogs.count(), 0);
        await page.getByRole('button', { name: 'Approve' }).click();
        await page.keyboard.press('1');
        assert.equal(await dialogs.count(), 1);
        assert.match((await page.evaluate(KEPT)) as string, /^\[\{"shortcuts":"off"\},\{\},/);
      },
      { path: `/applications/${id}` },
    );
  });

  it('shows the text of a stranger as text, and asks for no personal data in the queue', async () => {
    await desk.inReview(1);
    await desk.browse(vera, async (page) => {
      const answers: Promise<string>[] = [];
      page.on('response', (response) => {
        if (response.url().includes('/api/')) answers.push(response.text().catch(() => ''));
      });
      await page.reload();
      await page.locator('tbody').getByText(HOSTILE).waitFor();
      assert.equal(await page.locator('img, script:not([src])').count(), 0);
      const read = (await Promise.all(answers)).join('');
      assert.ok(read.includes('script'));
      assert.doesNotMatch(read, PERSONAL);
      assert.doesNotMatch((await page.evaluate(KEPT)) as string, PERSONAL);
    });
  });

  it('keeps rows in their places while the focus is among them', async () => {
    const ids = await desk.inReview(3);
    await desk.browse(vera, async (page) => {
      const numbers = async () => (await page.locator('tbody th').allTextContents()).map(Number);
      await page.getByText('3 in review').waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('j');
      await desk.rows(
        "UPDATE review_items SET due_at = due_at - interval '1 day' WHERE application_id = $1",
        [ids[2]],
      );
      await desk.rows('DELETE FROM review_items WHERE application_id = $1', [ids[0]]);
      await page.getByText('The order has changed.').waitFor();
      assert.deepEqual(await numbers(), ids);
      await page.getByText('no longer here').waitFor();
      await check(page, 'behind');
      await page.getByRole('button', { name: 'Show the new order' }).click();
      assert.deepEqual(await numbers(), [ids[2], ids[1]]);
    });
  });
});
