/** The undo of a decision that is still being sent (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { skip } from '../support/browser.ts';
import { deskBrowser, isProposed, shownNumber } from '../support/desk-browser.ts';
import { eventually } from '../support/eventually.ts';

describe('an undo in a browser', { skip }, async () => {
  if (skip) return;
  const desk = await deskBrowser();
  const ana = await desk.console.enrolled('ana.maria', 'reviewer');

  const statesOf = async (number: number) =>
    (await desk.rows('SELECT state FROM proposals WHERE application_id = $1', [number])).map(
      ({ state }) => state,
    );

  it('takes back the newest decision while its answer is held, and not the one before', async () => {
    const [id] = await desk.inReview(2);
    await desk.browse(
      ana,
      async (page) => {
        await page.getByText('You hold it').waitFor();
        await page.keyboard.press('r');
        await page.keyboard.press('5');
        await isProposed(page, id!);
        const second = await eventually('the next application', async () => {
          const shown = await shownNumber(page);
          return shown !== id && shown;
        });
        await page.getByText('You hold it').waitFor();
        const held = Promise.withResolvers<void>();
        await page.route('**/proposals', async (route) => {
          await held.promise;
          await route.continue();
        });
        await page.keyboard.press('a');
        await page.keyboard.press('1');
        await page.getByText(`${second}: approval`).waitFor();
        const undone = page.waitForResponse('**/proposals/bulk/undo');
        await page.keyboard.press('u');
        await page.getByText('is undone once it is sent').waitFor();
        await undone;
        held.resolve();
        await page.getByText(`${second}: approval, undone`).waitFor();
        assert.deepEqual(await statesOf(second), [], 'its undo was there first');
        assert.equal((await statesOf(id!)).includes('undone'), false);
      },
      { path: `/applications/${id}`, expected: /400/ },
    );
  });

  it('has a button while the decision is on its way, and holds where the tab is closed before the answer', async () => {
    const [id] = await desk.inReview(1);
    await desk.browse(
      ana,
      async (page) => {
        await page.getByText('You hold it').waitFor();
        const release = await desk.holdDecisions(id!);
        await page.keyboard.press('r');
        await page.keyboard.press('5');
        await desk.heldRequests(1);
        await page.getByRole('button', { name: `Undo Application ${id}` }).press('Enter');
        await page.getByText('is undone once it is sent').waitFor();
        await desk.heldRequests(2);
        await page.close();
        await release();
        await eventually('the undo', async () => `${await statesOf(id!)}` === 'undone');
      },
      { path: `/applications/${id}` },
    );
  });

  it('is not done by closing the tab: what was sent is proposed', async () => {
    const [id] = await desk.inReview(1);
    await desk.browse(
      ana,
      async (page) => {
        await page.getByText('You hold it').waitFor();
        const release = await desk.holdDecisions(id!);
        await page.keyboard.press('r');
        await page.keyboard.press('5');
        await desk.heldRequests(1);
        await page.close();
        await release();
        await eventually('the decision', async () => `${await statesOf(id!)}` === 'proposed');
      },
      { path: `/applications/${id}` },
    );
  });
});
