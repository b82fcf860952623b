/** The page of an application on the real service: what applicants, partners and operators wrote, in a real browser. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { deskRoutes } from '../../src/subjects/desk/routes/desk-routes.ts';
import type { ApplicationReply } from '../../src/subjects/desk/routes/forms.ts';
import { png } from '../documents/files.ts';
import { documentStage, shownText } from '../documents/support.ts';
import { PHONE, skip } from '../support/browser.ts';
import { consoleInBrowser } from '../support/console-browser.ts';
import { conversationsOf } from '../support/conversations.ts';
import { check } from '../support/page-faults.ts';

const MARKUP = `</script><img src=x onerror="document.title='x'">{{7*7}}`;
/** Short, as the name of a brand has to be. */
const BRAND = 'Marca <img src=x onerror=1>';
const PERSON = { name: 'Wilhelmina Quux', id_number: '77001122334', city: `Xanadu ${MARKUP}` };

describe('an application of the service on its page', { skip }, async () => {
  if (skip) return;
  const stage = await documentStage();
  const { database, runtime, vault, files, json, receive, sent } = stage;
  const partner = await json('partner', 'add', '--name', `Banco ${MARKUP}`, '--country', 'CO');
  const key = await json('key', 'issue', '--partner', `${partner.id}`);
  await database.query('UPDATE api_keys SET brand = $2 WHERE id = $1', [key.id, { partner: BRAND }]);
  const talks = await conversationsOf(stage, key.id);
  const person = await talks.applicantAt({ ...PERSON, platform: MARKUP });
  // The loop that does it does not run here.
  await runtime.query('SELECT expand_reviews(0, 100, 24)');
  await person.tap();
  await person.write(`mi secreto es verde ${MARKUP}`);
  const { documentId } = await receive(
    sent(person.id as never, png(60, 40), { claimedType: 'image/png', filename: `${MARKUP}.png` }),
  );
  const { visitAs, desk } = await consoleInBrowser(
    deskRoutes(
      {
        database: runtime,
        vault,
        clock: machineClock,
        undoSeconds: 10,
        lookShare: 0,
        dueHours: 24,
        terms: async () => null,
      },
      async () => ({ store: files, readText: shownText(), scanner: null }),
    ),
    null,
    stage,
  );
  const path = `/applications/${person.id}`;
  const recorded = async () => {
    const { rows } = await database.query<{ act: string; reason: string | null }>(
      'SELECT act, reason FROM operator_events WHERE application_id = $1 ORDER BY id',
      [person.id],
    );
    return rows.map(({ act, reason }) => `${act}: ${reason}`);
  };

  it('shows its person, chat and document after their reasons are recorded, and keeps a note (D48)', async () => {
    await visitAs({ login: 'rosa', role: 'reviewer', path }, async (page) => {
      await page.getByText('W. Q.').waitFor();
      await page.getByText('You hold it').waitFor();
      assert.equal(await page.getByText(/Wilhelmina|secreto|Xanadu/).count(), 0);
      await page.getByRole('button', { name: 'Reveal personal data' }).press('Enter');
      await page.getByRole('dialog').getByLabel('Reason').fill('a call with the applicant');
      await page.keyboard.press('Enter');
      await page.getByText(PERSON.name, { exact: true }).waitFor();
      await page.getByText(PERSON.city).waitFor();
      await page.getByText(`mi secreto es verde ${MARKUP}`).waitFor();
      await page.getByText(BRAND).first().waitFor();
      await page
        .getByText(/delivered/)
        .first()
        .waitFor();

      await page.getByRole('button', { name: `Show the file: Document ${documentId}` }).press('Enter');
      await page.getByRole('dialog').getByLabel('Reason').fill('is it readable');
      await page.keyboard.press('Enter');
      await page.getByRole('img', { name: `Document ${documentId}` }).waitFor();
      const width = "document.querySelector('main img').decode().then(() => document.images[0].naturalWidth)";
      assert.equal(await page.evaluate(width), 60);

      await page.getByLabel('New note').fill(`called twice ${MARKUP}`);
      await page.getByRole('button', { name: 'Add the note' }).press('Enter');
      await page.getByText(`called twice ${MARKUP}`).and(page.locator('p')).waitFor();
      await check(page, 'service');
      assert.equal(await page.locator('main img').count(), 1);
      assert.equal(await page.title(), `Application ${person.id} · Ventanilla`);
      assert.doesNotMatch(page.url(), /Wilhelmina|77001122334/);
    });
    const acts = await recorded();
    assert.ok(acts.includes('application reveal: a call with the applicant'), `${acts}`);
    assert.ok(acts.includes('application reveal: is it readable'), `${acts}`);
  });

  it('shows what another operator writes meanwhile by itself, though it is no event', async () => {
    const writer = await (await desk.enrolled('wanda', 'reviewer')).signIn();
    await visitAs({ login: 'sol', role: 'reviewer', path }, async (page) => {
      await page.getByText('W. Q.').waitFor();
      await writer.ask('POST', `/api/applications/${person.id}/notes`, { text: 'written meanwhile' });
      await page.getByText('written meanwhile').waitFor();
    });
  });

  it('is pended with a checklist and a message by keyboard alone, and resumed', async () => {
    const message = `Please send it again ${MARKUP}`;
    const expected = /404/;
    await visitAs({ login: 'pia', role: 'reviewer', path, screen: PHONE, expected }, async (page) => {
      await page.getByText('You hold it').waitFor();
      await page.keyboard.press('p');
      const dialog = page.getByRole('dialog', { name: `Pend: Application ${person.id}` });
      await dialog.getByLabel('Readable copy').focus();
      await page.keyboard.press('Space');
      await dialog.getByLabel('Message to the applicant').focus();
      await page.keyboard.type(message);
      await check(page, 'pend');
      await dialog.getByLabel('Hours until it comes back').press('Enter');
      await page.getByRole('heading', { name: 'Queue' }).waitFor();
      assert.ok((await person.replies()).some(({ text }) => text.includes('Please send it again')));
      await page.goto(desk.url() + path);
      await page.getByText('Readable copy', { exact: true }).waitFor();
      await check(page, 'pended');
      await page.keyboard.press('a');
      assert.equal(await page.getByRole('dialog').count(), 0, 'a pended one is not decided');
      await page.getByRole('button', { name: 'Resume' }).press('Enter');
      await page.getByText('You hold it').waitFor();
    });
    const acts = (await recorded()).map((act) => act.split(':')[0]);
    assert.deepEqual(
      ['application pend', 'application resume'].map((act) => acts.includes(act)),
      [true, true],
    );
  });

  it('another operator finds the note, and nothing of the person', async () => {
    await visitAs({ login: 'vera', role: 'viewer', path }, async (page) => {
      await page.getByText(`called twice ${MARKUP}`).waitFor();
      assert.equal(await page.getByText(/Wilhelmina|secreto|Xanadu/).count(), 0);
      const asked = `fetch('/api/applications/${person.id}').then((answer) => answer.json())`;
      const application = (await page.evaluate(asked)) as ApplicationReply;
      assert.equal(application.documents[0]?.id, documentId);
      assert.doesNotMatch(JSON.stringify(application), /Wilhelmina|77001122334|secreto|Xanadu/);
    });
  });

  it("an admin reads the lead's page of the service", async () => {
    await visitAs({ login: 'lena', role: 'admin', path: '/lead' }, async (page) => {
      await page.getByText('Nothing was decided.').waitFor();
      await page.getByText('None waits.').waitFor();
      await check(page, 'service-lead');
    });
  });
});
