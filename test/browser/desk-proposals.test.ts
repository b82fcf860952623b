/** Decisions on many and the second operator, in a real browser (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DESKTOP, skip } from '../support/browser.ts';
import { deskBrowser } from '../support/desk-browser.ts';
import { fileOf } from '../support/files.ts';
import { check } from '../support/page-faults.ts';

describe('decisions on many and by two operators, in a browser', { skip }, async () => {
  if (skip) return;
  const desk = await deskBrowser();
  const ana = await desk.console.enrolled('ana.maria', 'reviewer');
  const bea = await desk.console.enrolled('bea', 'reviewer', new Map([['COP', 10n ** 14n]]));
  const vera = await desk.console.enrolled('vera', 'viewer');

  it('decides on selected rows, which leave the list, and on all that match with their frozen number', async () => {
    const ids = await desk.inReview(6);
    await desk.browse(ana, async (page) => {
      await page.getByText('6 in review').waitFor();
      for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
      await page.getByText('2 selected').waitFor();
      await page.keyboard.press('r');
      const dialog = page.getByRole('dialog', { name: 'Reject: 2 applications' });
      await dialog.getByText(/COP [\d,]+ \(2\)/).waitFor();
      await dialog.getByText('2 of 2: the file has no document that counts').waitFor();
      await check(page, 'many');
      await page.keyboard.press('1');
      await page.getByRole('dialog', { name: 'Results' }).getByText('Proposed: 2').waitFor();
      await check(page, 'results');
      await page.getByRole('button', { name: 'Close' }).press('Enter');
      await page.getByRole('button', { name: 'Select all 4 that match' }).click();
      await page.getByText('4 selected').waitFor();
      await page.keyboard.press('a');
      await page
        .getByRole('dialog')
        .getByText(/^4 applications matched/)
        .waitFor();
      await page.getByRole('dialog').getByText('4 / 4').first().waitFor();
      await page.keyboard.press('3');
      const results = page.getByRole('dialog', { name: 'Results' });
      await results.getByText('Proposed: 4').waitFor();
      await results.getByRole('button', { name: 'Undo these proposals' }).press('Enter');
      await results.getByText('4 undone').waitFor();
      await results.getByText('Undone: 4').waitFor();
      assert.equal(await results.getByRole('row', { name: 'Undone' }).count(), 4);
      assert.equal(await results.getByText('Proposed').count(), 0);
      await check(page, 'undone');
    });
    const made = await desk.rows('SELECT act, state FROM proposals WHERE application_id = ANY ($1)', [ids]);
    const count = (of: string, is: string) =>
      made.filter(({ act, state }) => act === of && state === is).length;
    assert.deepEqual([count('reject', 'proposed'), count('approve', 'undone')], [2, 4]);
  });

  it('says that a selection has ended, and takes another code after a failure as another decision', async () => {
    await desk.inReview(2);
    await desk.browse(
      ana,
      async (page) => {
        await page.getByRole('button', { name: 'Select all 2 that match' }).click();
        await page.getByText('2 selected').waitFor();
        await desk.rows('DELETE FROM selections');
        await page.keyboard.press('a');
        await page.getByRole('alert').getByText('The selection has ended.').waitFor();
        assert.equal(await page.getByRole('button', { name: 'Propose' }).isDisabled(), true);
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: 'Clear the selection' }).click();
        for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
        // The service takes the decision, and its answer is lost.
        await page.route('**/proposals/bulk', async (route) => {
          await route.fetch();
          await route.abort();
        });
        await page.keyboard.press('r');
        await page.getByText('In all').waitFor();
        await page.keyboard.press('1');
        await page.getByRole('alert').getByText('The service does not answer.').waitFor();
        await page.unroute('**/proposals/bulk');
        await page.keyboard.press('3');
        await page.getByRole('dialog', { name: 'Results' }).getByText('Has a proposal already: 2').waitFor();
      },
      { expected: /404|ERR_FAILED/ },
    );
  });

  it('lets a second operator confirm or decline by keyboard what is above the authority of the first', async () => {
    await desk.rows('DELETE FROM open_proposals');
    await desk.rows('DELETE FROM proposals');
    const [one, two] = await desk.inReview(2);
    await desk.browse(
      ana,
      async (page) => {
        for (const id of [one, two]) {
          await page.goto(`${desk.console.url()}/applications/${id}`);
          await page.getByText('You hold it').waitFor();
          await page.keyboard.press('a');
          for (let press = 0; press < 2; press += 1) await page.keyboard.press('1');
          await page.getByText(`${id}: approval, waits for a second operator`).waitFor();
        }
        await page.goto(`${desk.console.url()}/proposals?list=mine`);
        await page.getByRole('link', { name: `${one}`, exact: true }).waitFor();
        await check(page, 'mine');
        await page.getByRole('link', { name: `${one}`, exact: true }).press('Enter');
        await page.getByRole('heading', { name: 'Proposal: approval' }).waitFor();
        // Nothing applies it until the second operator confirms.
        assert.equal(await page.getByText('Applies at', { exact: true }).count(), 0);
      },
      {},
    );
    await desk.browse(
      bea,
      async (page) => {
        const pages = page.getByRole('navigation', { name: 'Pages' });
        await pages.getByRole('link', { name: 'Proposals 2 to confirm' }).press('Enter');
        await page.waitForURL(/\/proposals\?list=to_confirm$/);
        await page.getByRole('link', { name: `${one}`, exact: true }).waitFor();
        await check(page, 'to-confirm');
        await page.setViewportSize({ width: 360, height: 640 });
        await check(page, 'to-confirm');
        await page.setViewportSize(DESKTOP.viewport);
        await page
          .getByRole('row', { name: `${two}` })
          .getByText(/4,400,000/)
          .waitFor();
        await page
          .getByRole('row', { name: `${two}` })
          .getByText('the file has no document that counts')
          .waitFor();
        await page.getByRole('link', { name: `${one}`, exact: true }).focus();
        // One key shows what is confirmed, and confirms nothing.
        await page.keyboard.press('c');
        const dialog = page.getByRole('dialog', { name: `Confirm: approval, Application ${one}` });
        await dialog.getByText('COP 4,000,000', { exact: true }).waitFor();
        const said = await dialog.innerText();
        for (const part of [
          /Score\s+\d+ \(\d+–\d+\)/,
          /The score said\s+to review/,
          /ana\.maria, /,
          /Documents verified/,
        ])
          assert.match(said, part);
        await dialog.getByText('the file has no document that counts').waitFor();
        await check(page, 'confirmation');
        await page.setViewportSize({ width: 360, height: 640 });
        await check(page, 'confirmation');
        await page.setViewportSize(DESKTOP.viewport);
        await page.keyboard.press('c');
        const waiting = (id: number) =>
          desk.rows('SELECT FROM proposals WHERE application_id = $1 AND confirmed_at IS NULL', [id]);
        assert.equal((await waiting(one!)).length, 1);
        // A document that came meanwhile is shown before anything is confirmed.
        await fileOf(desk.store).addDocument(one!, 'received');
        assert.match(await dialog.innerText(), /Documents\s+None\./);
        await dialog.getByRole('button', { name: 'Confirm' }).press('Enter');
        await dialog.getByRole('alert').getByText('It has changed since it was shown to you.').waitFor();
        await dialog.getByText('received: 1').waitFor();
        await check(page, 'confirmation-changed');
        assert.equal(await dialog.getByText('the file has no document that counts').count(), 0);
        assert.equal((await waiting(one!)).length, 1);
        await dialog.getByRole('button', { name: 'Confirm' }).press('Enter');
        await page.getByText(`${one}: Confirmed.`).waitFor();
        // The list that comes after the answer has only the other one, and the focus does not move to it.
        await page.getByText('The order has changed.').waitFor();
        await page.keyboard.press('c');
        await page
          .getByRole('row', { name: `${one}` })
          .getByText('Confirmed.')
          .waitFor();
        assert.equal(await page.locator(':focus').textContent(), `${one}`);
        await page.keyboard.press('j');
        assert.equal(await page.locator(':focus').textContent(), `${two}`);
        await page
          .getByRole('row', { name: `${two}` })
          .getByRole('button', { name: 'Decline' })
          .press('Enter');
        // The focus comes into the dialog with the next frame.
        await page.getByRole('dialog').getByRole('textbox').and(page.locator(':focus')).waitFor();
        await page.keyboard.type('the income is not clear');
        await page.keyboard.press('Enter');
        await page.getByText(`${two}: Declined.`).waitFor();
        await page
          .getByRole('row', { name: `${two}` })
          .getByText('Declined.')
          .waitFor();
        await pages.getByRole('link', { name: 'Proposals', exact: true }).press('Enter');
        await page.waitForURL(/\/proposals\?list=mine$/);
        await page.goto(`${desk.console.url()}/applications/${one}`);
        const standing = page.getByText('Proposed: approval, by ana.maria');
        assert.equal(await standing.textContent(), 'Proposed: approval, by ana.maria');
        await page.getByText('Applies at', { exact: true }).waitFor();
      },
      { path: '/queue', expected: /409/ },
    );
    const ended = await desk.rows(
      'SELECT application_id::integer AS id, state, second_id FROM proposals WHERE application_id = ANY ($1) ORDER BY id',
      [[one, two]],
    );
    assert.deepEqual(ended, [
      { id: one, state: 'proposed', second_id: bea.id },
      { id: two, state: 'declined', second_id: bea.id },
    ]);
  });

  it('a viewer has neither the page of proposals nor a link to it', async () => {
    await desk.browse(
      vera,
      async (page) => {
        await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
        assert.equal(await page.getByRole('link', { name: 'Proposals' }).count(), 0);
        assert.equal(await page.getByRole('alert').count(), 0);
      },
      { path: '/proposals' },
    );
  });

  it('says of no other decision on many that it failed', async () => {
    await desk.inReview(2);
    await desk.browse(
      ana,
      async (page) => {
        await page.getByText('2 in review').waitFor();
        await page.route('**/proposals/bulk', (route) =>
          route.fulfill({ status: 503, json: { error: 'no' } }),
        );
        for (const key of ['j', 'x', 'r']) await page.keyboard.press(key);
        const dialog = page.getByRole('dialog');
        await dialog.getByText('In all').waitFor();
        await page.keyboard.press('1');
        await dialog.getByRole('alert').waitFor();
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
        await page.keyboard.press('a');
        await dialog.waitFor();
        assert.equal(await dialog.getByRole('alert').count(), 0);
      },
      { expected: /503/ },
    );
  });

  it('says where the lists of proposals cannot be read', async () => {
    await desk.browse(
      ana,
      async (page) => {
        await page.getByRole('heading', { name: 'Queue' }).waitFor();
        await page.route('**/api/proposals?*', (route) => route.abort());
        await page.goto(`${desk.console.url()}/proposals`);
        await page.getByRole('alert').getByText('The service does not answer.').waitFor();
      },
      { expected: /ERR_FAILED|Failed to load/ },
    );
  });
});
