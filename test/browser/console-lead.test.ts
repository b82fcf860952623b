/** The lead's view in a real browser. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  Lead,
  LeadQuery,
  type LeadReply,
  NewLook,
  SecondLooks,
  type SecondLooksReply,
} from '../../src/subjects/desk/routes/work-forms.ts';
import { form } from '../../src/wire/operator/form.ts';
import { type Route, route } from '../../src/wire/operator/route.ts';
import { PHONE, skip } from '../support/browser.ts';
import { consoleInBrowser, NO_PROPOSALS, SCREENS } from '../support/console-browser.ts';
import { check } from '../support/page-faults.ts';
import { MARKUP } from '../support/shown-application.ts';

const HOUR_MS = 3_600_000;
const BY = { id: 7, login: 'rosa.sol' };
const OTHER = { id: 8, login: 'juan.mar' };

/** The hours before this one that have decisions, with their counts. */
const HOURS = [2, 3, 5, 26, 27, 30, 50, 75, 76, 77, 99, 120, 121, 140].map((back, index) => ({
  hour: new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - back * HOUR_MS).toISOString(),
  ...{ approved: 3 + (index % 5) * 2, rejected: index % 4, disbursed: index % 3 },
}));
const DECISIONS = HOURS.reduce((sum, hour) => sum + hour.approved + hour.rejected + hour.disbursed, 0);

const leadOf = (days: number): LeadReply => ({
  days,
  hours: HOURS.filter(({ hour }) => Date.parse(hour) > Date.now() - days * 24 * HOUR_MS),
  backlog: [
    { to: 4, count: 120 },
    { to: 24, count: 340 },
    { to: 72, count: 51 },
    { to: null, count: 3 },
  ],
  ...{ waiting: 514, overdue: 54, oldest_at: '2026-03-02T10:00:00Z' },
  reviewers: [
    { by: BY, decisions: 80, overrides: 12 },
    { by: OTHER, decisions: 40, overrides: 0 },
  ],
  overrides: [{ by: BY, act: 'reject', reason_code: 'suspected_fraud', count: 12 }],
  second_looks: { share: 0.05, waiting: 3, own: 1, looked: 20, disagreed: 1 },
});

let looks: SecondLooksReply['second_looks'] = [];
const judged: unknown[] = [];
const ROUTES: Route[] = [
  NO_PROPOSALS,
  route({
    ...{ method: 'GET', path: '/lead', access: 'admin', summary: 'The view of a lead.' },
    query: LeadQuery,
    reply: Lead,
    run: async ({ query }) => ({ body: leadOf(query.days ?? 7) }),
  }),
  route({
    ...{ method: 'GET', path: '/second-looks', access: 'admin', summary: 'Second looks.' },
    reply: SecondLooks,
    run: async () => ({ body: { second_looks: looks } }),
  }),
  route({
    ...{ method: 'POST', path: '/second-looks/{proposal}', access: 'admin', summary: 'A second look.' },
    body: NewLook,
    reply: form({}),
    run: async ({ params, body }) => {
      judged.push({ proposal: params.proposal, ...body });
      looks = looks.filter(({ proposal }) => String(proposal) !== params.proposal);
      return { body: {} };
    },
  }),
];

const newLooks = (): SecondLooksReply['second_looks'] =>
  [3, 4].map((proposal) => ({
    ...{ proposal, application_id: 380 + proposal, act: 'reject', reason_code: 'documents_invalid' },
    ...{ score: 61, decision: 'in_review', at: '2026-03-02T10:00:00Z' },
  }));

describe("the lead's view", { skip }, async () => {
  if (skip) return;
  const { visitAs } = await consoleInBrowser(ROUTES);

  for (const screen of SCREENS) {
    const { width } = screen.viewport;

    it(`shows what was decided as a picture and as a table, and what waits, ${width} px`, async () => {
      looks = newLooks();
      await visitAs({ login: `lena.${width}`, role: 'admin', screen, path: '/lead' }, async (page) => {
        await page.getByRole('img', { name: `${DECISIONS} in all` }).waitFor();
        await page.getByText('20 looked at').waitFor();
        await page.getByRole('row', { name: /over 3 days/ }).waitFor();
        await check(page, 'lead');
        await page.getByText('As a table').press('Enter');
        const rows = page.locator('details').getByRole('row');
        assert.equal(await rows.count(), HOURS.length + 1);
        await check(page, 'lead-table');
        await page.getByLabel('Span of time').selectOption('30');
        await page.waitForURL(/days=30$/);
        await page.getByRole('heading', { name: 'Decisions a day' }).waitFor();
        await check(page, 'lead-month');
      });
    });
  }

  it('fits a phone in the longest languages, with its tables open', async () => {
    looks = newLooks();
    for (const [language, open] of [
      ['es', 'Como tabla'],
      ['pt', 'Como tabela'],
    ] as const) {
      const visit = { login: `luis.${language}`, role: 'admin', screen: PHONE, path: '/lead' } as const;
      await visitAs({ ...visit, locale: language }, async (page) => {
        await page.getByText(open).press('Enter');
        await page.locator('details').getByRole('row').first().waitFor();
        await check(page, `lead-table-${language}`);
      });
    }
  });

  it('says how many of the looks that wait are for another admin', async () => {
    looks = newLooks();
    await visitAs({ login: 'lola', role: 'admin', path: '/lead' }, async (page) => {
      await page
        .getByRole('button', { name: /^Judge/ })
        .first()
        .waitFor();
      await page.getByText('3 wait, 1 for another admin').waitFor();
      assert.equal(await page.getByRole('button', { name: /^Judge/ }).count(), 2);
    });
  });

  it('a lead judges a decision by keyboard alone, and it leaves the list', async () => {
    looks = newLooks();
    await visitAs({ login: 'luz', role: 'admin', path: '/lead' }, async (page) => {
      await page.getByRole('button', { name: 'Judge: Application 383' }).press('Enter');
      await page.getByRole('dialog').getByLabel('I disagree').focus();
      await page.keyboard.press('Space');
      await page.getByLabel('Note, optional').fill(MARKUP);
      await check(page, 'lead-judge');
      await page.getByRole('button', { name: 'Save' }).press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Judge: Application 383' }).waitFor({ state: 'detached' });
      assert.equal(await page.getByRole('button', { name: /^Judge/ }).count(), 1);
      assert.deepEqual(judged, [{ proposal: '3', agrees: false, note: MARKUP }]);
    });
  });

  it('a reviewer has neither the page nor a link to it', async () => {
    await visitAs({ login: 'rosa', role: 'reviewer', path: '/lead' }, async (page) => {
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
      assert.equal(await page.getByRole('link', { name: 'Lead' }).count(), 0);
    });
  });
});
