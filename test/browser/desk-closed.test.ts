/** A page that is closed gives back at once what no other page of its operator uses (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { skip } from '../support/browser.ts';
import { deskBrowser } from '../support/desk-browser.ts';
import { eventually } from '../support/eventually.ts';

describe('a page that is closed', { skip }, async () => {
  if (skip) return;
  let beforeNext = async () => {};
  /** Resolves when the service has answered a request for the next one. */
  let next = Promise.withResolvers<void>();
  const desk = await deskBrowser((route) => {
    if (route.path !== '/review-queue/claim-next') return route;
    const run: typeof route.run = async (call) => {
      await beforeNext();
      return route.run(call).finally(next.resolve);
    };
    return { ...route, run };
  });
  const ana = await desk.console.enrolled('ana.maria', 'reviewer');
  /** Also one that ended by itself, which no test waits for. */
  const claims = () => desk.rows('SELECT FROM review_items WHERE claimed_by IS NOT NULL');
  const areGivenBack = () =>
    eventually('the claims are given back', async () => (await claims()).length === 0);
  const address = (id: number) => `${desk.console.url()}/applications/${id}`;
  const holds = (page: Page) => page.getByText('You hold it').waitFor();

  it('gives back also what it had asked for, and got no answer', async () => {
    const [id] = await desk.inReview(2);
    const { promise: isClosed, resolve: goOn } = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    beforeNext = async () => {
      asked.resolve();
      await isClosed;
    };
    next = Promise.withResolvers();
    await desk.browse(
      ana,
      async (page) => {
        await holds(page);
        await asked.promise;
        await page.close();
        await areGivenBack();
      },
      { path: `/applications/${id}` },
    );
    goOn();
    await next.promise;
    assert.deepEqual(await claims(), []);
  });

  it('leaves to another page of the operator what that one uses too', async () => {
    beforeNext = async () => {};
    const [id] = await desk.inReview(1);
    const pages = async () =>
      (await desk.rows('SELECT cardinality(claimed_for) AS count FROM review_items'))[0]!.count;
    await desk.browse(
      ana,
      async (first) => {
        await holds(first);
        const second = await first.context().newPage();
        await second.goto(address(id!));
        await holds(second);
        assert.equal(await pages(), 2);
        await second.getByRole('link', { name: 'Proposals' }).click();
        await eventually('the second page uses it no more', async () => (await pages()) === 1);
        await second.goBack();
        await eventually('it uses it again', async () => (await pages()) === 2);
        await second.close();
        await eventually('one page uses it', async () => (await pages()) === 1);
        assert.equal((await claims()).length, 1);
      },
      { path: `/applications/${id}` },
    );
    await areGivenBack();
  });

  it('gives back also where its operator signs out of it, and stays signed in elsewhere', async () => {
    const [id] = await desk.inReview(2);
    const elsewhere = await ana.signIn();
    await desk.browse(
      ana,
      async (page) => {
        await holds(page);
        await page.getByRole('button', { name: /^Account/ }).click();
        await page.getByRole('button', { name: 'Sign out', exact: true }).click();
        await page.getByLabel('Login').waitFor();
        await areGivenBack();
      },
      { path: `/applications/${id}`, expected: /401/ },
    );
    assert.equal((await elsewhere.ask('GET', '/api/session')).status, 200);
  });
});
