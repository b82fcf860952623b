/** Decisions that the service did not take: the session ended, or nobody answers (D48). Nothing is dropped silently. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { holdReads, PHONE, skip } from '../support/browser.ts';
import { type Enrolled, PASSWORD } from '../support/console.ts';
import { deskBrowser, isProposed, PERSON } from '../support/desk-browser.ts';
import { eventually } from '../support/eventually.ts';
import { check } from '../support/page-faults.ts';
import { remac } from '../support/remac.ts';

/** Whether a page would close without a question. */
const CLOSES = "window.dispatchEvent(new Event('beforeunload', { cancelable: true }))";

describe('what the service did not take, in a browser', { skip }, async () => {
  if (skip) return;
  const desk = await deskBrowser();
  const ana = await desk.console.enrolled('ana.maria', 'reviewer');
  const bea = await desk.console.enrolled('bea', 'reviewer');
  const proposalsOf = (id: number) =>
    desk.rows('SELECT act, state, maker_id FROM proposals WHERE application_id = $1 ORDER BY id', [id]);
  const endSessionsOf = ({ id }: Enrolled) =>
    desk.rows('DELETE FROM operator_sessions WHERE operator_id = $1', [id]);
  const giveFactors = async (page: Page, operator: Enrolled) => {
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByLabel('Code of the authenticator app').fill(await operator.nextCode());
    await page.keyboard.press('Enter');
  };
  /** Opens an application that waits in the queue, and holds it; the page knows that no other one is free. */
  const holding = async (
    act: (page: Page, id: number) => Promise<void>,
    more: Parameters<typeof desk.browse>[2] = {},
  ) => {
    const [id] = await desk.inReview(1);
    await desk.browse(
      ana,
      async (page) => {
        const next = page.waitForResponse('**/api/review-queue/claim-next');
        await page.goto(`${desk.console.url()}/applications/${id}`);
        await page.getByText('You hold it').waitFor();
        // Else the page would go to the queue after the decision, where the session has ended meanwhile.
        await (await next).finished();
        await act(page, id!);
      },
      more,
    );
  };

  it('a decision that meets an ended session waits for the sign-in, and then counts once', async () => {
    await holding(
      async (page, id) => {
        const keys: (string | undefined)[] = [];
        page.on('request', (request) => {
          if (request.url().endsWith('/proposals')) keys.push(request.headers()['idempotency-key']);
        });
        await page.getByRole('button', { name: 'Reveal personal data' }).click();
        await page.getByRole('dialog').getByLabel('Reason').fill('a call with the applicant');
        await page.keyboard.press('Enter');
        await page.getByText(PERSON.name, { exact: true }).waitFor();
        await holdReads(page, '/proposals');
        await endSessionsOf(ana);
        await page.keyboard.press('r');
        await page.keyboard.press('5');
        await page.getByText('What you did last is not sent yet.').waitFor();
        await check(page, 'ended');
        assert.deepEqual(await proposalsOf(id), []);
        assert.equal(await page.getByText(PERSON.name).count(), 0);
        await giveFactors(page, ana);
        await isProposed(page, id);
        await page.getByText('The session of ana.maria ended.').waitFor({ state: 'detached' });
        assert.deepEqual(await proposalsOf(id), [{ act: 'reject', state: 'proposed', maker_id: ana.id }]);
        assert.ok(keys.length >= 2 && new Set(keys).size === 1, `${keys}`);
      },
      { screen: PHONE, expected: /401/ },
    );
  });

  it('what was typed stands there after the sign-in, where the page itself found the session ended', async () => {
    const [id] = await desk.inReview(1);
    await desk.browse(
      ana,
      async (page) => {
        // What the page claims ahead meets the ended session. Nobody did that.
        const over = Promise.withResolvers<void>();
        await page.route('**/claim-next', async (route) => {
          await over.promise;
          await route.continue();
        });
        const ahead = page.waitForRequest('**/claim-next');
        await page.goto(`${desk.console.url()}/applications/${id}`);
        await page.getByText('You hold it').waitFor();
        const refused = (await ahead).response();
        const note = page.getByLabel('New note');
        await note.fill('not sent');
        await endSessionsOf(ana);
        over.resolve();
        assert.equal((await refused)?.status(), 401);
        await page.getByText('The session of ana.maria ended.').waitFor();
        assert.equal(await page.getByText('What you did last is not sent yet.').count(), 0);
        assert.equal(await note.isVisible(), false);
        await giveFactors(page, ana);
        await note.waitFor();
        assert.equal(await note.inputValue(), 'not sent');
        await page.getByText('You hold it').waitFor();
        // What cannot be read again stays, and the page says so.
        await page.context().setOffline(true);
        await page.getByRole('alert').getByText('The service does not answer.').waitFor();
        assert.equal(await note.isVisible(), true);
      },
      { expected: /401|ERR_INTERNET_DISCONNECTED/ },
    );
  });

  it('a pend with its message waits for the sign-in, and goes on', async () => {
    await holding(
      async (page, id) => {
        await page.getByRole('button', { name: /^Pend/ }).click();
        await page.getByLabel('Statement of income').check();
        await page.getByLabel('Message to the applicant').fill('Please send it again.');
        await holdReads(page, '/pend');
        await endSessionsOf(ana);
        await page.getByRole('dialog').getByRole('button', { name: 'Pend' }).click();
        await page.getByText('What you did last is not sent yet.').waitFor();
        await giveFactors(page, ana);
        await eventually('the pend', async () => {
          const found = await desk.rows(
            "SELECT 1 FROM review_items WHERE application_id = $1 AND state = 'pended'",
            [id],
          );
          return found.length === 1;
        });
        await page.getByText('The session of ana.maria ended.').waitFor({ state: 'detached' });
      },
      { expected: /401/ },
    );
  });

  it('another account that signs in gets nothing of it, and the page says so before', async () => {
    await holding(
      async (page, id) => {
        await holdReads(page, '/proposals');
        await endSessionsOf(ana);
        await page.keyboard.press('a');
        await page.keyboard.press('3');
        await page.getByText('What you did last is not sent yet.').waitFor();
        await page.getByText('Another account drops it.').waitFor();
        await page.getByRole('button', { name: 'Another account' }).click();
        await page.getByLabel('Login').fill('bea');
        await giveFactors(page, bea);
        await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
        await page.getByText(/^ana\.maria holds it until/).waitFor();
        assert.deepEqual(await proposalsOf(id), []);
      },
      { expected: /401|409/ },
    );
  });

  it('is not sent as the operator who signed in meanwhile in another tab', async () => {
    await holding(
      async (page, id) => {
        const [cookie] = (await desk.signedIn(bea)).cookies;
        await holdReads(page, '/proposals');
        await page.context().addCookies([cookie!]);
        await page.keyboard.press('a');
        await page.keyboard.press('3');
        await page.getByText('bea', { exact: true }).waitFor();
        await page.getByText(/^ana\.maria holds it until/).waitFor();
        assert.deepEqual(await proposalsOf(id), []);
      },
      { expected: /401|409/ },
    );
  });

  it('a decision and its undo that meet no network are sent when it is back; nothing is called too late before', async () => {
    await holding(
      async (page, id) => {
        await page.context().setOffline(true);
        await page.keyboard.press('r');
        await page.keyboard.press('5');
        await page.getByText(`${id}: rejection`).waitFor();
        await page.getByText('sending').waitFor();
        assert.equal(await page.evaluate(CLOSES), false);
        await page.context().setOffline(false);
        const undo = page.getByRole('button', { name: `Undo Application ${id}` });
        await isProposed(page, id);
        await page.context().setOffline(true);
        assert.equal(await page.evaluate(CLOSES), true);
        await undo.click();
        await page
          .getByRole('alert')
          .getByText(`${id}: rejection, not undone. The service does not answer.`)
          .waitFor();
        assert.equal(await page.getByText('too late').count(), 0);
        await page.context().setOffline(false);
        await page.getByRole('button', { name: 'Send again' }).click();
        await page.getByText(`${id}: rejection, undone`).waitFor();
        assert.deepEqual(await proposalsOf(id), [{ act: 'reject', state: 'undone', maker_id: ana.id }]);
      },
      { expected: /ERR_INTERNET_DISCONNECTED/ },
    );
  });

  it('a decision that is on its way is sent before the sign-out', async () => {
    // What the page asks for by itself meets the end of the session.
    const more = { expected: /401/ };
    await holding(async (page, id) => {
      const slow = Promise.withResolvers<void>();
      await page.route('**/proposals', async (route) => {
        if (route.request().method() === 'POST') await slow.promise;
        await route.continue();
      });
      await page.keyboard.press('r');
      await page.keyboard.press('5');
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await page.getByRole('button', { name: 'Sending what you decided…' }).waitFor();
      slow.resolve();
      await page.getByLabel('Login').waitFor();
      assert.deepEqual(await proposalsOf(id), [{ act: 'reject', state: 'proposed', maker_id: ana.id }]);
    }, more);
  });

  it('a decision whose answer was lost until it was applied says so, and offers no undo', async () => {
    await holding(
      async (page, id) => {
        const lost = async (route: Route) => {
          await route.fetch();
          await desk.rows(
            'UPDATE proposals SET second_id = $2, confirmed_at = now(), apply_at = now() WHERE application_id = $1',
            [id, bea.id],
          );
          await remac(desk.store);
          await desk.rows('UPDATE open_proposals SET due_at = now() WHERE application_id = $1', [id]);
          await desk.applyAll();
          await route.abort();
        };
        await page.route('**/proposals', lost, { times: 1 });
        await page.keyboard.press('r');
        await page.keyboard.press('5');
        await page.getByText(`${id}: rejection. Applied`).waitFor();
        assert.equal(await page.getByRole('button', { name: /^Undo/ }).count(), 0);
        assert.equal((await proposalsOf(id)).length, 1);
      },
      { expected: /ERR_FAILED/ },
    );
  });

  it('a decision that the service fails to take is kept with its reason, and sent again with the same key', async () => {
    await holding(
      async (page, id) => {
        for (const status of [429, 503]) {
          await page.route('**/proposals', (route) =>
            route.request().method() === 'POST'
              ? route.fulfill({ status, json: { error: 'no' } })
              : route.continue(),
          );
          if (status === 429) {
            await page.keyboard.press('r');
            await page.keyboard.press('5');
          } else await page.getByRole('button', { name: 'Send again' }).click();
          const said = status === 429 ? 'Too many tries.' : 'The service failed.';
          await page.getByRole('alert').getByText(said).waitFor();
          await page.unroute('**/proposals');
        }
        assert.deepEqual(await proposalsOf(id), []);
        assert.equal(await page.evaluate(CLOSES), false);
        await page.getByRole('button', { name: 'Sign out', exact: true }).click();
        await page
          .getByRole('dialog', { name: 'Not sent yet' })
          .getByRole('button', { name: 'Stay' })
          .click();
        await page.getByRole('button', { name: 'Send again' }).click();
        await isProposed(page, id);
        assert.equal((await proposalsOf(id)).length, 1);
      },
      { expected: /429|503/ },
    );
  });
});
