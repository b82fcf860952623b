/** The inbox in a real browser: an operator answers a person and hands the conversation back (D43, D48). */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { applicationRoutes } from '../../src/subjects/desk/routes/application.ts';
import { inboxRoutes } from '../../src/subjects/desk/routes/inbox.ts';
import { noteRoutes } from '../../src/subjects/desk/routes/notes.ts';
import { proposalRoutes } from '../../src/subjects/desk/routes/proposals.ts';
import { queueRoutes } from '../../src/subjects/desk/routes/queue.ts';
import { openDocumentStore } from '../../src/subjects/documents/store/document-store.ts';
import { checkTerms } from '../../src/subjects/signing/uses/check-terms.ts';
import { commandLine } from '../cli/harness.ts';
import { pdfOf } from '../documents/files.ts';
import { skip } from '../support/browser.ts';
import { consoleInBrowser, SCREENS } from '../support/console-browser.ts';
import { conversationsOf } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { check } from '../support/page-faults.ts';
import { MARKUP } from '../support/shown-application.ts';
import { TERMS } from '../support/terms.ts';

describe('the inbox', { skip }, async () => {
  if (skip) return;
  const store = await testDatabase();
  const { json } = commandLine(store);
  const { id: partner } = await json('partner', 'add', '--name', `Acme ${MARKUP}`, '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
  const talks = await conversationsOf(store, key);
  const context = {
    ...{ database: store.runtime, vault: store.vault, clock: machineClock },
    ...{ undoSeconds: 10, lookShare: 0, dueHours: 24 },
    terms: async () => checkTerms(TERMS, 'terms.json'),
  };
  const folder = mkdtempSync(join(tmpdir(), 'ventanilla-console-inbox-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const files = await openDocumentStore(folder, null, machineClock);
  const routes = [
    ...[applicationRoutes, noteRoutes, proposalRoutes, queueRoutes].flatMap((of) => of(context)),
    ...inboxRoutes(context, async () => ({ store: files, scanner: null })),
  ];
  const { visitAs } = await consoleInBrowser(routes, null, store);

  /** Somebody at the step for debts who asks for a person. */
  async function asking() {
    const person = await talks.applicantAt();
    await person.tap();
    await person.choose(0);
    await person.sendFile();
    await person.choose(0);
    await person.write('asesor');
    return person;
  }

  /** A page that is closed gives its claim back a little later. */
  const givenBack = () =>
    eventually('the claim is given back', async () => {
      const { rowCount } = await store.database.query('SELECT FROM inbox_claims WHERE claimed_until > now()');
      return rowCount === 0;
    });

  for (const screen of SCREENS) {
    const { width } = screen.viewport;

    it(`an operator answers the next person, sees what they write, and hands back, ${width} px`, async () => {
      const person = await asking();
      await visitAs(
        { login: `rosa.${width}`, role: 'reviewer', screen, path: '/inbox', expected: /400/ },
        async (page) => {
          await page.getByRole('link', { name: `${person.id}` }).waitFor();
          await page.getByRole('link', { name: /^Inbox.*1.*waiting/ }).waitFor();
          await check(page, 'inbox');
          await page.getByRole('button', { name: /Answer the next person/ }).press('Enter');
          await page.getByText('You answer this person.').waitFor();
          await page.getByRole('button', { name: 'Reveal personal data' }).press('Enter');
          await page.getByLabel('Reason, 5 characters or more', { exact: true }).fill('the person asked');
          await page.getByRole('dialog').getByRole('button', { name: 'Reveal personal data' }).press('Enter');
          await page.getByText('asesor', { exact: true }).waitFor();
          await page.getByLabel('Insert a text').selectOption('hello');
          await person.write(`¿hola? ${MARKUP}`);
          await page.getByText('The applicant has written.').waitFor();
          await page.getByText('¿hola?').waitFor();
          const text = page.getByLabel('Text that the applicant reads');
          assert.match(await text.inputValue(), /^Hola, soy una persona/);
          await check(page, 'inbox-conversation');
          await page.getByRole('button', { name: 'Send' }).press('Enter');
          await page.getByText('Sent.').waitFor();
          assert.ok((await person.replies()).at(-1)?.text.startsWith('Hola, soy una persona'));
          const file = page.getByLabel('Or a file: PDF, JPEG or PNG');
          await file.setInputFiles({
            name: 'no.pdf',
            mimeType: 'application/pdf',
            buffer: Buffer.from('MZ'),
          });
          await page.getByRole('button', { name: 'Send' }).press('Enter');
          await page.getByText('This file is not accepted').waitFor();
          await check(page, 'inbox-file-refused');
          await page.getByRole('button', { name: 'Take the file away' }).press('Enter');
          const named = 'plan <img src=x> {{7*7}}.exe';
          await file.setInputFiles({ name: named, mimeType: 'application/pdf', buffer: pdfOf([[['Plan']]]) });
          await page.getByRole('button', { name: 'Send' }).press('Enter');
          await page.getByText('Sent.').waitFor();
          const sent = (await person.replies()).at(-1)?.file?.filename ?? '';
          assert.equal(sent, 'plan img src=x {{77}}.pdf');
          await page.getByText(sent, { exact: false }).waitFor();
          await check(page, 'inbox-file');
          await page.getByLabel('The service goes on at').selectOption('earnings');
          await page.getByRole('button', { name: 'Hand back to the service' }).press('Enter');
          await page.getByText('The service speaks in it.').waitFor();
          assert.equal(await person.place(), 'earnings service');
          await check(page, 'inbox-handed-back');
        },
      );
    });
  }

  it('an operator who comes second reads who answers, and sends nothing', async () => {
    const person = await asking();
    await visitAs({ login: 'rita', role: 'reviewer', path: `/inbox/${person.id}` }, async (first) => {
      await first.getByText('You answer this person.').waitFor();
      await visitAs(
        { login: 'saul', role: 'reviewer', path: `/inbox/${person.id}`, expected: /409/ },
        async (page) => {
          await page.getByText('Another operator answers the person: rita').waitFor();
          await page.getByLabel('Text that the applicant reads').fill('Hola');
          assert.ok(await page.getByRole('button', { name: 'Send' }).isDisabled());
        },
      );
    });
    await givenBack();
  });

  it('tells where nothing can be said, and closes with a reason; the page speaks three languages', async () => {
    const person = await asking();
    await store.database.query(
      "UPDATE conversations SET heard_at = now() - interval '25 hours' WHERE application_id = $1",
      [person.id],
    );
    for (const [locale, words] of [
      ['es-CO', 'La persona escribió hace más de 24 horas.'],
      ['pt-BR', 'A pessoa escreveu há mais de 24 horas.'],
    ] as const) {
      const login = `ana.${locale.toLowerCase()}`;
      await visitAs({ login, role: 'reviewer', locale, path: `/inbox/${person.id}` }, async (page) => {
        await page.getByText(words).waitFor();
        await check(page, `inbox-${locale}`);
      });
      await givenBack();
    }
    await visitAs({ login: 'vera', role: 'viewer', path: `/inbox/${person.id}` }, async (page) => {
      await page.getByText('Window closed').waitFor();
      assert.equal(await page.getByRole('button', { name: /Close|Hand back|Send|Reveal/ }).count(), 0);
    });
    await visitAs({ login: 'rolf', role: 'reviewer', path: `/inbox/${person.id}` }, async (page) => {
      await page.getByRole('button', { name: 'Send the reminder' }).click();
      await page.getByText('The reminder: waits').waitFor();
      await page.getByLabel(/^Reason, 5 characters/).fill('nobody answers');
      await page.getByRole('button', { name: 'Close the conversation' }).press('Enter');
      await page.getByText('The conversation has ended.').waitFor();
      assert.equal(await person.place(), 'closed service');
    });
  });
});
