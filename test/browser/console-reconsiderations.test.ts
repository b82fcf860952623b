/** The queue of reconsiderations in a real browser (D50). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AnsweredCase,
  NewAnswer,
  ReconsiderationQuery,
  type ReconsiderationReply,
  Reconsiderations,
} from '../../src/subjects/desk/routes/reconsideration-forms.ts';
import { type Route, route } from '../../src/wire/operator/route.ts';
import { skip } from '../support/browser.ts';
import { consoleInBrowser, NO_PROPOSALS, SCREENS } from '../support/console-browser.ts';
import { check } from '../support/page-faults.ts';
import { MARKUP } from '../support/shown-application.ts';

const REASONS = ['three_debts', 'no_history'].map((code) => ({
  code,
  words: {
    en: `Three debts are overdue ${MARKUP}`,
    es: `Hay tres deudas vencidas ${MARKUP}`,
    pt: `Há três dívidas vencidas ${MARKUP}`,
  },
}));
const caseOf = (id: number, kind: ReconsiderationReply['kind'], chat: boolean): ReconsiderationReply => ({
  ...{ id, kind, application: 380 + id, partner: { id: 1, name: `Acme ${MARKUP}` } },
  ...{ asked_at: '2026-03-02T10:00:00Z', due_at: '2026-03-17T05:00:00Z', state: 'open' },
  reasons: kind === 'data' ? [] : REASONS,
  chat_is_open: chat,
  ...{ outcome: null, answered_at: null, answered_by: null, answer: null, told: null },
});
const answeredCase = (id: number): ReconsiderationReply => ({
  ...caseOf(id, 'reconsideration', false),
  ...{
    state: 'answered',
    outcome: 'confirmed',
    answered_at: '2026-03-04T10:00:00Z',
    answered_by: 'rosa.sol',
  },
  ...{ answer: `Las tres deudas siguen vencidas ${MARKUP}`, told: 'delivered' },
});

let open: ReconsiderationReply[] = [];
const given: unknown[] = [];
const ROUTES: Route[] = [
  NO_PROPOSALS,
  route({
    ...{ method: 'GET', path: '/reconsiderations', access: 'viewer', summary: 'The queue.' },
    query: ReconsiderationQuery,
    reply: Reconsiderations,
    run: async ({ query }) => ({
      body: { reconsiderations: query.state === 'answered' ? [answeredCase(9)] : open, next: null },
    }),
  }),
  route({
    ...{ method: 'POST', path: '/reconsiderations/{id}/answer', access: 'reviewer', summary: 'An answer.' },
    body: NewAnswer,
    reply: AnsweredCase,
    run: async ({ params, body }) => {
      given.push({ id: params.id, ...body });
      open = open.filter(({ id }) => String(id) !== params.id);
      return {
        body: { reconsideration: answeredCase(Number(params.id)), unreached: 'window_closed' as const },
      };
    },
  }),
];

describe('the queue of reconsiderations', { skip }, async () => {
  if (skip) return;
  const { visitAs } = await consoleInBrowser(ROUTES);

  for (const screen of SCREENS) {
    const { width } = screen.viewport;

    it(`lists what waits, and a reviewer answers by keyboard, ${width} px`, async () => {
      open = [caseOf(3, 'reconsideration', false), caseOf(4, 'data', true)];
      const login = `rosa.${width}`;
      await visitAs({ login, role: 'reviewer', screen, path: '/reconsiderations' }, async (page) => {
        await page.getByRole('heading', { name: 'Application 383: review of the rejection' }).waitFor();
        await check(page, 'reconsiderations');
        await page.getByRole('button', { name: /^Answer: Application 383/ }).press('Enter');
        await page.getByRole('dialog').waitFor();
        await check(page, 'reconsiderations-answer');
        await page.getByLabel('Apply again').check();
        await page.getByLabel('Text that the applicant reads').fill('With a statement of three months');
        await page.getByRole('button', { name: 'Send the answer' }).press('Enter');
        await page.getByText('The chat tells it when the person writes again; use another way').waitFor();
        await page.getByRole('heading', { name: /Application 383/ }).waitFor({ state: 'detached' });
        assert.deepEqual(given.splice(0), [
          { id: '3', outcome: 'apply_again', text: 'With a statement of three months' },
        ]);
        await page.getByRole('link', { name: 'Answered', exact: true }).press('Enter');
        await page.getByText('rosa.sol').waitFor();
        await check(page, 'reconsiderations-answered');
      });
    });
  }

  it('is read in the other languages, and a viewer answers nothing', async () => {
    open = [caseOf(3, 'reconsideration', true)];
    for (const [locale, title, words] of [
      ['es-CO', 'Reconsideraciones', 'Hay tres deudas vencidas'],
      ['pt-BR', 'Reconsiderações', 'Há três dívidas vencidas'],
    ] as const) {
      const login = `vera.${locale.toLowerCase()}`;
      await visitAs({ login, role: 'viewer', locale, path: '/reconsiderations' }, async (page) => {
        await page.getByRole('heading', { name: title }).waitFor();
        await page.getByText(words).first().waitFor();
        assert.equal(await page.getByRole('button', { name: /^Responder/ }).count(), 0);
        await check(page, `reconsiderations-${locale}`);
      });
    }
  });
});
