/** A browser walks the three pages: the simulator, the documentation, and a reviewer's decision. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setAuthority } from '../support/authority.ts';
import { DESKTOP, skip, testBrowser } from '../support/browser.ts';
import { PASSWORD } from '../support/console.ts';
import { deskBrowser, isProposed, shownNumber } from '../support/desk-browser.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { simulatorPage } from '../support/simulator.ts';

describe('the pages in a browser', { skip }, async () => {
  if (skip) return;
  const service = await testService();
  const simulator = await simulatorPage(service);
  const { apiKey } = await service.addPartner();
  const desk = await deskBrowser();
  const onPhone = testBrowser(`${simulator.url}/simulator`);
  const asPartner = testBrowser(`${service.url}/docs`);

  it('the simulator shows the message of an applicant, and takes the tap', async () => {
    await onPhone(DESKTOP, async (page) => {
      const applications = [anApplication({ name: 'Inés Peña' })];
      await post(`${service.url}/PRO`, apiKey, { applications });
      await page.getByRole('button', { name: 'Inés Peña' }).click();
      await page.getByRole('button', { name: 'Me interesa' }).click();
      await page.getByText('Interest recorded in the history of application').waitFor();
    });
  });

  it('the documentation sends a batch to /DEV and shows the answer', async () => {
    await asPartner(DESKTOP, async (page) => {
      await page.getByLabel('Your key for DEV').fill(apiKey);
      await page.getByRole('button', { name: 'Send to /DEV' }).click();
      const answer = page.getByRole('region', { name: 'Answer', exact: true });
      await answer.getByText('"decision": "approved"').waitFor();
    });
  });

  it('a reviewer signs in, takes the next application and approves it', async () => {
    const [id] = await desk.inReview(1);
    const operator = await desk.console.enrolled('ana', 'reviewer');
    const { database, vault } = desk.store;
    await setAuthority(database, vault, operator.id, new Map([['COP', 10n ** 14n]]));
    await desk.visit(
      { ...DESKTOP, locale: 'en-US' },
      async (page) => {
        await page.getByLabel('Login').fill(operator.login);
        await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
        await page.keyboard.press('Enter');
        await page.getByLabel('Code of the authenticator app').fill(await operator.nextCode());
        await page.keyboard.press('Enter');
        await page.getByText('1 in review').waitFor();
        await page.keyboard.press('n');
        await page.getByText('You hold it').waitFor();
        assert.equal(await shownNumber(page), id);
        await page.keyboard.press('a');
        await page.keyboard.press('3');
        await isProposed(page, id as number);
        // The page asks for its session before the sign-in.
      },
      { expected: /401/ },
    );
    await desk.applyAll();
    assert.deepEqual(await desk.rows('SELECT act, state FROM proposals WHERE application_id = $1', [id]), [
      { act: 'approve', state: 'applied' },
    ]);
  });
});
