/** What stands around every page in a real browser: the ways to the pages, and the dock with what may be undone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { Application } from '../../src/subjects/desk/routes/forms.ts';
import { Neighbours } from '../../src/subjects/desk/routes/neighbour-forms.ts';
import { MadeProposal, NewProposal } from '../../src/subjects/desk/routes/proposal-forms.ts';
import { Claimed, ClaimNext } from '../../src/subjects/desk/routes/queue-forms.ts';
import { form } from '../../src/wire/operator/form.ts';
import { type Route, route } from '../../src/wire/operator/route.ts';
import { PHONE, skip } from '../support/browser.ts';
import { consoleInBrowser, EMPTY_QUEUE, NO_PROPOSALS, WIDE } from '../support/console-browser.ts';
import { check } from '../support/page-faults.ts';
import { NEIGHBOURS, SHOWN, SHOWN_ID } from '../support/shown-application.ts';

const LOCALES = ['en-US', 'es-CO', 'pt-BR'];
/** Where the boxes of these elements begin, without what is not shown. */
const topsOf = (page: Page, selector: string) =>
  page.evaluate<number[]>(`[...new Set([...document.querySelectorAll(${JSON.stringify(selector)})]
    .filter((element) => element.checkVisibility())
    .map((element) => { const { top, height } = element.getBoundingClientRect(); return Math.round(top + height / 2); }))]`);

const LATER = '2026-03-02T12:00:00Z';
const nothing = (method: 'POST', path: string): Route =>
  route({
    ...{ method, path, access: 'reviewer', summary: 'Nothing.' },
    ...{ body: form({}), reply: form({}), run: async () => ({ body: {} }) },
  });
let proposals = 0;
/** A desk on which the next application is always free, and whose decisions can be undone for ten minutes. */
const ROUTES: Route[] = [
  ...EMPTY_QUEUE,
  NO_PROPOSALS,
  nothing('POST', '/applications/{id}/release'),
  nothing('POST', '/review-queue/leave'),
  route({
    ...{ method: 'POST', path: '/applications/{id}/claim', access: 'reviewer', summary: 'A claim.' },
    ...{ body: form({}), reply: Claimed },
    run: async ({ params, session }) => {
      const by = { id: session!.operatorId, login: session!.login };
      return { body: { id: Number(params.id), claim: { by, until: LATER } } };
    },
  }),
  route({
    ...{ method: 'POST', path: '/review-queue/claim-next', access: 'reviewer', summary: 'The next one.' },
    ...{ body: ClaimNext, reply: Claimed },
    run: async ({ session }) => {
      proposals += 1;
      const by = { id: session!.operatorId, login: session!.login };
      return { body: { id: SHOWN_ID + proposals, claim: { by, until: LATER } } };
    },
  }),
  route({
    ...{ method: 'GET', path: '/applications/{id}', access: 'viewer', summary: 'One application.' },
    ...{ reply: Application, hasTag: true },
    run: async ({ params }) => ({
      body: { ...SHOWN, id: Number(params.id), proposal: null, contradicted: [] },
      tag: '7',
    }),
  }),
  route({
    ...{ method: 'GET', path: '/applications/{id}/neighbours', access: 'viewer', summary: 'Its neighbours.' },
    ...{ reply: Neighbours, run: async () => ({ body: NEIGHBOURS }) },
  }),
  route({
    ...{ method: 'POST', path: '/applications/{id}/proposals', access: 'reviewer', summary: 'A proposal.' },
    ...{ headers: ['If-Match', 'Idempotency-Key'], body: NewProposal, reply: MadeProposal },
    run: async ({ params, body, session }) => ({
      body: {
        ...{ id: Number(params.id), application_id: Number(params.id), act: body.act, reason: body.reason },
        ...{
          reason_code: body.reason_code!,
          override: false,
          state: 'proposed' as const,
          needs_second: null,
        },
        by: { id: session!.operatorId, login: session!.login },
        ...{ at: '2026-03-02T10:00:00Z', now: '2026-03-02T10:00:00Z', apply_at: '2026-03-02T10:10:00Z' },
        ...{ second: null, ended_at: null, outcome: null, returned_for: null },
      },
    }),
  }),
];

describe('around every page', { skip }, async () => {
  if (skip) return;
  const { visitAs } = await consoleInBrowser(ROUTES);
  const path = `/applications/${SHOWN_ID}`;

  for (const locale of LOCALES)
    it(`an admin's ways to the pages are one line at 1280 px, ${locale}`, async () => {
      const login = `ada.${locale.slice(0, 2)}`;
      await visitAs({ login, role: 'admin', screen: WIDE, locale, path: '/queue' }, async (page) => {
        await page.locator('h1').waitFor();
        const tops = await topsOf(page, 'header a[href^="/"], header button');
        assert.equal(tops.length, 1, `lines at ${tops}`);
      });
    });

  it('a group of pages opens and closes by the keyboard, and leads to each of them', async () => {
    await visitAs({ login: 'gil', role: 'admin', path: '/queue', expected: /404/ }, async (page) => {
      const service = page.getByRole('button', { name: 'Service' });
      const health = page.getByRole('link', { name: 'Health' });
      await service.press('Enter');
      await health.waitFor();
      await check(page, 'pages');
      await page.keyboard.press('Escape');
      await health.waitFor({ state: 'hidden' });
      await page.locator('button:focus', { hasText: 'Service' }).waitFor();
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/(operators|health)$/);
      await health.waitFor({ state: 'hidden' });
    });
  });

  for (const locale of LOCALES)
    it(`on a phone what may be decided is one row, without keys, ${locale}`, async () => {
      const login = `eva.${locale.slice(0, 2)}`;
      await visitAs({ login, role: 'reviewer', screen: PHONE, locale, path }, async (page) => {
        await page.locator('section button[data-main]').waitFor();
        const tops = await topsOf(page, 'section:has(> button[data-main]) button');
        assert.equal(tops.length, 1, `rows at ${tops}`);
        assert.equal(await page.locator('kbd:visible').count(), 0);
        await check(page, `dock-${locale}`);
      });
    });

  for (const screen of [WIDE, PHONE])
    it(`30 decisions to undo take the line that one takes, ${screen.viewport.width} px`, async () => {
      const login = `uma.${screen.viewport.width}`;
      await visitAs({ login, role: 'reviewer', screen, path }, async (page) => {
        const heights = new Map<number, number>();
        for (let count = 1; count <= 30; count += 1) {
          const before = page.url();
          await page.getByText('You hold it').waitFor();
          await page.keyboard.press('r');
          await page.getByRole('dialog').waitFor();
          await page.keyboard.press('2');
          await page.waitForURL((url) => `${url}` !== before);
          if (count === 1 || count === 2 || count === 30) {
            await page.getByRole('timer').first().waitFor();
            const bar = await page
              .getByRole('status', { name: 'Open decisions' })
              .locator('..')
              .boundingBox();
            heights.set(count, Math.round(bar!.height));
          }
        }
        assert.equal(new Set(heights.values()).size, 1, JSON.stringify([...heights]));
        await page.getByRole('button', { name: '29 more' }).click();
        assert.equal(await page.getByRole('list', { name: '29 more' }).getByRole('button').count(), 29);
        await check(page, 'undo-many');
      });
    });
});
