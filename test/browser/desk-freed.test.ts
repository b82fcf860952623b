/** An application that another operator holds comes to the page that shows it as soon as it is free (D48). */
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { skip } from '../support/browser.ts';
import { deskBrowser } from '../support/desk-browser.ts';
import { eventually } from '../support/eventually.ts';
import { check } from '../support/page-faults.ts';

describe('the page of an application that another operator holds', { skip }, async () => {
  if (skip) return;
  const desk = await deskBrowser();
  const ana = await desk.console.enrolled('ana.maria', 'reviewer');
  const bea = await desk.console.enrolled('bea', 'reviewer');

  /** Opens an application that ana holds, as bea, with a clock that `letRun` moves. */
  const meanwhile = async (
    act: (page: Page, id: number, byAna: (path: string, body?: object) => Promise<void>) => Promise<void>,
  ) => {
    const [id] = await desk.inReview(1);
    const visitor = await ana.signIn();
    const byAna = async (path: string, body: object = {}) => {
      const { status, body: answer } = await visitor.ask('POST', `/api${path}`, body, { 'If-Match': '"0"' });
      if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`);
    };
    await byAna(`/applications/${id}/claim`);
    await desk.browse(
      bea,
      async (page) => {
        await page.clock.install();
        await page.goto(`${desk.console.url()}/applications/${id}`);
        await page.getByText(/^ana\.maria holds it until/).waitFor();
        await act(page, id!, byAna);
      },
      { expected: /409|ERR_FAILED/ },
    );
  };
  const isTaken = (page: Page) =>
    eventually('the application is taken', async () => {
      await page.clock.runFor(5_000);
      return page.getByText('It is free now. You hold it').isVisible();
    });

  it('takes it when it is free, and says so', async () => {
    await meanwhile(async (page, id, byAna) => {
      await byAna(`/applications/${id}/release`);
      await isTaken(page);
      await check(page, 'freed');
    });
  });

  it('takes it also where a decision was proposed and undone before the page read it', async () => {
    await meanwhile(async (page, id, byAna) => {
      const address = `**/api/applications/${id}`;
      // The page cannot read it now, so it learns of the proposal by its claim alone.
      let isAborted = false;
      await page.route(address, (route) => {
        isAborted = true;
        return route.abort();
      });
      // It reads once at a time: what it asked for before has come.
      await eventually('a reading that fails', async () => {
        await page.clock.runFor(5_000);
        return isAborted;
      });
      await byAna(`/applications/${id}/proposals`, { act: 'approve', reason: 'fine' });
      await eventually('the claim is refused', async () => {
        await page.clock.runFor(5_000);
        return (await page.getByText(/^ana\.maria holds it until/).count()) === 0;
      });
      const [proposal] = await desk.rows('SELECT max(id) AS id FROM proposals');
      await byAna(`/proposals/${proposal!.id}/undo`);
      await byAna(`/applications/${id}/release`);
      await page.unroute(address);
      await isTaken(page);
    });
  });
});
