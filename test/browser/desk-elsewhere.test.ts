/** An operator who goes elsewhere before the next application was claimed stays there (D48). */
import { describe, it } from 'node:test';
import { skip } from '../support/browser.ts';
import { deskBrowser } from '../support/desk-browser.ts';
import { eventually } from '../support/eventually.ts';

describe('an operator who did not wait for the next application', { skip }, async () => {
  if (skip) return;
  const desk = await deskBrowser();
  const ana = await desk.console.enrolled('ana.maria', 'reviewer');

  it('stays on the page that they opened, and the application is given back', async () => {
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
      await eventually('the claim is given back', async () => {
        const claims = await desk.rows('SELECT claimed_by FROM review_items WHERE application_id = $1', [id]);
        return claims[0]?.claimed_by === null;
      });
      await page.getByRole('heading', { name: 'Proposals' }).waitFor();
    });
  });
});
