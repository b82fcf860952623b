/** The pages of operators and of health in a real browser, on real routes (docs/operators.md, "The operator API"). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { healthRoutes } from '../../src/subjects/monitoring/routes/health.ts';
import { operatorRoutes } from '../../src/subjects/operators/routes/operators.ts';
import { PHONE, skip } from '../support/browser.ts';
import { consoleInBrowser, EMPTY_QUEUE, NO_PROPOSALS, SCREENS } from '../support/console-browser.ts';
import { sessionsOf, testDatabase } from '../support/database.ts';
import { check } from '../support/page-faults.ts';

describe('the pages of operators and of health', { skip }, async () => {
  if (skip) return;
  const store = await testDatabase();
  await store.database.query("UPDATE sender SET paused_at = now(), paused_reason = 'x'");
  await store.database.query(
    `INSERT INTO troubles (code, text, began_at, ended_at, times, ended_ms)
    SELECT 'pushes_late', 'events wait for their push to an enabled endpoint for 61 min', now() - n * interval '5 hours',
      now() - n * interval '4 hours', n, 0 FROM generate_series(22, 1, -1) AS n`,
  );
  const view = {
    database: sessionsOf(store),
    place: 'database test',
    schema: async () => ({ fault: null, pending: [] }),
    roleFault: async () => null,
  };
  const { visitAs, desk } = await consoleInBrowser(
    [...EMPTY_QUEUE, NO_PROPOSALS, ...operatorRoutes(store), ...healthRoutes(view, store.database)],
    null,
    store,
  );

  for (const screen of SCREENS) {
    const { width } = screen.viewport;

    it(`an admin ends a session of another operator by the keyboard, ${width} px`, async () => {
      const login = `bea.${width}`;
      const bea = await (await desk.enrolled(login, 'reviewer')).signIn();
      await visitAs({ login: `ana.${width}`, role: 'admin', screen, path: '/operators' }, async (page) => {
        const end = page.getByRole('button', { name: `End the session: ${login}` });
        await end.waitFor();
        await check(page, 'operators');
        await end.press('Enter');
        await page.getByText('The session has ended.').waitFor();
        await end.waitFor({ state: 'detached' });
        assert.equal((await bea.ask('GET', '/api/session')).status, 401);
        assert.equal(await page.getByText('This is your session.').count(), 1);
      });
    });

    it(`an admin reads what is wrong and where to read what to do, ${width} px`, async () => {
      await visitAs({ login: `eva.${width}`, role: 'admin', screen, path: '/health' }, async (page) => {
        await page.getByText('sender_paused', { exact: true }).waitFor();
        await page.getByText('look for sender_paused in docs/runbook.md').waitFor();
        await page
          .getByText(/^Since .*, for .*\.$/)
          .first()
          .waitFor();
        await check(page, 'health');
        assert.equal(await page.getByRole('rowheader', { name: 'pushes_late' }).count(), 20);
        await page.getByRole('button', { name: 'Show more' }).press('Enter');
        await page.getByRole('rowheader', { name: 'pushes_late' }).nth(21).waitFor();
        assert.equal(await page.getByRole('button', { name: 'Show more' }).count(), 0);
      });
    });
  }

  it('both fit a phone in the longest languages', async () => {
    for (const [language, session, trouble] of [
      ['es', 'Esta es tu sesión.', 'Todos los mensajes están en pausa.'],
      ['pt', 'Esta é a sua sessão.', 'Todas as mensagens estão em pausa.'],
    ] as const) {
      const visit = { login: `ida.${language}`, role: 'admin', screen: PHONE, locale: language } as const;
      await visitAs({ ...visit, path: '/operators' }, async (page) => {
        await page.getByText(session).waitFor();
        await check(page, `operators-${language}`);
        await page.goto(`${new URL(page.url()).origin}/health`);
        await page.getByText('sender_paused', { exact: true }).waitFor();
        await page.getByText(trouble).waitFor();
        await check(page, `health-${language}`);
      });
    }
  });

  for (const screen of SCREENS) {
    const { width } = screen.viewport;

    it(`a viewer ends another session of their own by the keyboard, ${width} px`, async () => {
      const login = `vera.${width}`;
      await visitAs({ login, role: 'viewer', screen }, async (page) => {
        const session = "fetch('/api/session').then((answer) => answer.json())";
        const { id } = (await page.evaluate(session)) as { id: number };
        await store.database.query(
          `INSERT INTO operator_sessions (id, secret, operator_id, is_whole, network, browser)
           VALUES (gen_random_uuid()::text::bytea, '', $1, true, '203.0.113.0/24', 'Firefox, Linux')`,
          [id],
        );
        await page.getByRole('button', { name: `Account: ${login}` }).press('Enter');
        await page.getByRole('link', { name: 'Your sessions' }).press('Enter');
        await page.getByText('Began with Firefox, Linux, from 203.0.113.0/24.').waitFor();
        await check(page, 'sessions');
        await page.getByRole('button', { name: `End the session: ${login}` }).press('Enter');
        await page.getByText('The session has ended.').waitFor();
        assert.equal(await page.getByRole('button', { name: `End the session: ${login}` }).count(), 0);
      });
    });
  }

  it('the own sessions fit a phone in the longest languages', async () => {
    for (const [locale, title] of [
      ['es', 'Tus sesiones'],
      ['pt', 'Suas sessões'],
    ] as const) {
      const visit = { login: `olga.${locale}`, role: 'viewer', screen: PHONE, locale } as const;
      await visitAs({ ...visit, path: '/sessions' }, async (page) => {
        await page.getByRole('heading', { name: title }).waitFor();
        await check(page, `sessions-${locale}`);
      });
    }
  });

  it('a reviewer has neither of them', async () => {
    for (const path of ['/operators', '/health'])
      await visitAs({ login: `rosa.${path.slice(1)}`, role: 'reviewer', path }, async (page) => {
        await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
      });
  });
});
