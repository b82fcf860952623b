/** The page of one application in a real browser. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import {
  Application,
  type ApplicationReply,
  NewNote,
  Note,
  Revealed,
  RevealReason,
} from '../../src/subjects/desk/routes/forms.ts';
import { Neighbours } from '../../src/subjects/desk/routes/neighbour-forms.ts';
import { Claimed, ClaimNext } from '../../src/subjects/desk/routes/queue-forms.ts';
import { DocumentFile } from '../../src/subjects/desk/routes/work-forms.ts';
import { form } from '../../src/wire/operator/form.ts';
import { type Route, route } from '../../src/wire/operator/route.ts';
import { skip } from '../support/browser.ts';
import { consoleInBrowser, NO_PROPOSALS, SCREENS } from '../support/console-browser.ts';
import { eventually } from '../support/eventually.ts';
import { check } from '../support/page-faults.ts';
import {
  MARKUP,
  NEIGHBOURS,
  PENDED,
  PERSON,
  REVEALED,
  SHOWN,
  SHOWN_ID,
} from '../support/shown-application.ts';

/** A picture of one pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PDF = Buffer.from(`%PDF-1.7 ${MARKUP}`);

/** What a page asks after its session ended. */
const ENDED = /401/;

/** The reason for which the file of a PDF is a scan. */
const SCAN = 'a scan';

/** The routes that the page asks, with answers of the forms that the real ones have. */
const reasons: string[] = [];
let application: ApplicationReply = SHOWN;
const ROUTES: Route[] = [
  NO_PROPOSALS,
  route({
    ...{ method: 'POST', path: '/applications/{id}/claim', access: 'reviewer', summary: 'A claim.' },
    body: form({}),
    reply: Claimed,
    run: async ({ params, session }) => {
      const by = { id: session!.operatorId, login: session!.login };
      return { body: { id: Number(params.id), claim: { by, until: '2026-03-02T12:00:00Z' } } };
    },
  }),
  route({
    ...{ method: 'POST', path: '/applications/{id}/release', access: 'reviewer', summary: 'Its end.' },
    body: form({}),
    reply: form({}),
    run: async () => ({ body: {} }),
  }),
  route({
    ...{ method: 'POST', path: '/review-queue/leave', access: 'reviewer', summary: 'The end of a page.' },
    body: form({}),
    reply: form({}),
    run: async () => ({ body: {} }),
  }),
  route({
    ...{ method: 'POST', path: '/review-queue/claim-next', access: 'reviewer', summary: 'The next one.' },
    body: ClaimNext,
    reply: Claimed,
    run: async () => ({ body: { id: null, claim: null } }),
  }),
  route({
    ...{ method: 'GET', path: '/applications/{id}', access: 'viewer', summary: 'One application.' },
    ...{ reply: Application, hasTag: true },
    run: async ({ params }) =>
      params.id === '256'
        ? { body: PENDED, tag: '0' }
        : { body: application, tag: `${application.notes?.length}` },
  }),
  route({
    ...{ method: 'GET', path: '/applications/{id}/neighbours', access: 'viewer', summary: 'Its neighbours.' },
    ...{ reply: Neighbours, run: async () => ({ body: NEIGHBOURS }) },
  }),
  route({
    ...{ method: 'POST', path: '/applications/{id}/reveal', access: 'reviewer', summary: 'Its person.' },
    body: RevealReason,
    reply: Revealed,
    run: async ({ body: { reason } }) => {
      reasons.push(reason);
      return { body: REVEALED };
    },
  }),
  route({
    method: 'POST',
    path: '/applications/{id}/documents/{document}/reveal',
    access: 'reviewer',
    summary: 'The file of a document.',
    body: RevealReason,
    reply: DocumentFile,
    run: async ({ body: { reason }, params }) => {
      reasons.push(reason);
      if (params.document === '1')
        return { body: { content_type: 'image/png', bytes: PNG, lines: null, counted: null } };
      const lines = [
        { text: `Extracto ${MARKUP}`, month: null },
        { text: '2026-01  COP 2.700.000', month: '2026-01' },
      ];
      const text = reason === SCAN ? { lines: null, counted: null } : { lines, counted: 1 };
      return { body: { content_type: 'application/pdf', bytes: PDF.toString('base64'), ...text } };
    },
  }),
  route({
    ...{ method: 'POST', path: '/applications/{id}/notes', access: 'reviewer', summary: 'A note.' },
    body: NewNote,
    reply: Note,
    run: async ({ body: { text }, session }) => {
      const by = { id: session!.operatorId, login: session!.login };
      const note = { id: application.notes!.length + 1, at: SHOWN.created_at, by, text };
      application = { ...application, notes: [...application.notes!, note] };
      return { body: note };
    },
  }),
];

/** Holds that nothing of the person is where others or the next operator may find it. */
async function assertNothingKept(page: Page): Promise<void> {
  const kept = `JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state,
    location.href, document.title])`;
  const text = (await page.evaluate(kept)) as string;
  assert.doesNotMatch(text, /Ana|3005550101|1020304050|Cali/);
  assert.equal(await page.evaluate('indexedDB.databases().then((all) => all.length)'), 0);
  assert.equal(await page.evaluate('caches.keys().then((all) => all.length)'), 0);
}

/** Gives a reason in the open dialog. */
async function giveReason(page: Page, reason: string): Promise<void> {
  await page.getByRole('dialog').getByLabel('Reason').fill(reason);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

describe('an application on its page', { skip }, async () => {
  if (skip) return;
  const { visitAs } = await consoleInBrowser(ROUTES);
  const path = `/applications/${SHOWN_ID}`;

  for (const screen of SCREENS) {
    const { width } = screen.viewport;

    it(`shows masked data, and the whole for a reason; texts are no markup (D48), ${width} px`, async () => {
      application = SHOWN;
      await visitAs(
        { login: `rosa.${width}`, role: 'reviewer', screen, path, expected: ENDED },
        async (page) => {
          await page.getByRole('heading', { name: `Application ${SHOWN_ID}` }).waitFor();
          await page.getByText('A. L.').waitFor();
          const happened = page.getByRole('listitem').filter({ has: page.locator('time') });
          await happened
            .filter({ hasText: 'pended: Explanation by the applicant' })
            .getByText('rosa.sol')
            .waitFor();
          await happened.filter({ hasText: 'pend ended: the applicant answered' }).waitFor();
          await page.getByText(`${MARKUP}, by the command line, Second operator: tom.luz`).waitFor();
          assert.equal(
            await page.getByText('said by the service').count(),
            0,
            'texts of the service are no texts of the page',
          );
          await page.getByText('signed', { exact: true }).waitFor();
          const failed = page.getByText('failed (a stored value cannot be used)');
          assert.equal(await failed.isVisible(), false, 'the chat is folded');
          await check(page, 'application');
          await page.getByText('8 messages, the last one').click();
          await failed.waitFor();
          await page.getByRole('button', { name: 'Reveal personal data' }).press('Enter');
          await page.getByRole('dialog').waitFor();
          await check(page, 'application-reason');
          await giveReason(page, 'a call with the applicant');
          await page.getByText(PERSON.name).waitFor();
          await page.getByText(`Ana → Eva ${MARKUP}`).waitFor();
          await page.getByText('Decided with the old value').waitFor();
          await page.getByText(PERSON.id_number).waitFor();
          await page.getByText(`Quiero saber más ${MARKUP}`).waitFor();
          const lines = page.locator('li');
          await lines.filter({ hasText: 'Message: Offer' }).getByText('tu saldo es $ 6.000.000').waitFor();
          await lines.filter({ hasText: 'Applicant' }).getByText('Me interesa').waitFor();
          await lines.filter({ hasText: 'Este es el contrato.' }).getByText('File: contract-1.pdf').waitFor();
          await page.getByText(`File: extracto ${MARKUP}.pdf`).waitFor();
          await page.getByRole('cell', { name: 'COP 2,650,000' }).waitFor();
          await check(page, 'application-revealed');
          assert.equal(await page.locator('main img, main script').count(), 0);
          assert.ok((await page.getByText(MARKUP).count()) >= 12);
          await assertNothingKept(page);

          await page.getByRole('button', { name: 'Hide', exact: true }).press('Enter');
          assert.equal(await page.getByText(PERSON.id_number).count(), 0);
          await page.reload();
          await page.getByText('A. L.').waitFor();
          assert.equal(await page.getByText('Ana Luna').count(), 0);
          await page.getByRole('button', { name: 'Sign out', exact: true }).press('Enter');
          await page.getByLabel('Login').waitFor();
          await assertNothingKept(page);
          assert.doesNotMatch(await page.content(), /A\. L\.|Ana|…50/);
        },
      );
    });

    it(`shows a document's picture, and a PDF by its text and as a download, each for a reason (D48), ${width} px`, async () => {
      await visitAs({ login: `ana.${width}`, role: 'reviewer', screen, path }, async (page) => {
        const files = page.getByRole('button', { name: 'Show the file' });
        await files.first().press('Enter');
        await giveReason(page, 'reading the months');
        const picture = page.getByRole('img', { name: 'Document 1' });
        await picture.waitFor();
        const width =
          "document.querySelector('main img').decode().then(() => document.images[0].naturalWidth)";
        assert.equal(await page.evaluate(width), 1);
        await files.first().press('Enter');
        await giveReason(page, 'reading the months');
        const text = page.getByRole('region', { name: 'Text of Document 2' });
        await text.getByText(`Extracto ${MARKUP}`).waitFor();
        await text.getByText('counted for Jan 2026').waitFor();
        await page.getByText('Lines counted: 1.').waitFor();
        assert.equal(await text.locator('img, script').count(), 0);
        const download = page.waitForEvent('download');
        await page.getByRole('link', { name: 'Download document-2.pdf' }).press('Enter');
        assert.deepEqual(await readFile(await (await download).path()), PDF);
        await check(page, 'application-files');
        await page.getByRole('button', { name: 'Hide the file: Document 2' }).press('Enter');
        await page.getByRole('button', { name: 'Show the file: Document 2' }).press('Enter');
        await giveReason(page, SCAN);
        await page.getByText('The pages of this PDF are pictures').waitFor();
        assert.equal(await page.getByText('Lines counted').count(), 0);
      });
    });
  }

  it('says what the loan takes of the income, and how far the score is from the bands', async () => {
    const figures = async (page: Page) => (await page.locator('main dl').first().innerText()).split(/\n+/);
    application = SHOWN;
    await visitAs({ login: 'pia', role: 'viewer', path }, async (page) => {
      await page.getByText('A. L.').waitFor();
      assert.deepEqual(await figures(page), [
        ...['Installment', 'COP 312,500', '24 months, by the contract'],
        ...['Installment by income', '11.6%', 'observed: COP 2,700,000'],
        ...['Score to the next band', '15 points below approval (70)', '25 points above review (30)'],
        'With the observed income: 19 points below approval (70)',
      ]);
      const unpriced = { installment: null, months: null, share: null, unpriced: 'no_terms' } as const;
      application = { ...SHOWN, capacity: { ...SHOWN.capacity, ...unpriced }, last_event: '8' };
      await page.reload();
      await page.getByText('There are no loan terms for its country.').waitFor();
      assert.deepEqual((await figures(page)).slice(0, 2), ['Installment', '—']);
    });
  });

  it('j and k go from section to section, documents and income first, and so do links', async () => {
    application = SHOWN;
    await visitAs({ login: 'kim', role: 'viewer', path }, async (page) => {
      await page.getByText('A. L.').waitFor();
      const focused = () => page.evaluate<string | undefined>('document.activeElement?.textContent');
      const first = ['Documents and income', 'What was sent', 'Points'];
      for (const name of first) {
        await page.keyboard.press('j');
        assert.equal(await focused(), name);
      }
      await page.keyboard.press('k');
      assert.equal(await focused(), first[1]);
      const ways = page.getByRole('navigation', { name: 'Sections of the application' });
      await ways.getByRole('link', { name: 'Timeline' }).press('Enter');
      assert.equal(await focused(), 'Timeline');
      assert.match(page.url(), new RegExp(`${path}$`));
    });
  });

  it('a full score has lost nothing, and its parts take one line', async () => {
    const criteria = SHOWN.criteria.map((one) => ({ ...one, points: one.most, lost: 0 }));
    application = { ...SHOWN, criteria, score: 100 };
    await visitAs({ login: 'fe', role: 'viewer', path }, async (page) => {
      await page.getByText('5 parts with all points').waitFor();
      assert.equal(await page.getByText('Channel: 25 of 25').isVisible(), false);
      const total = page.getByRole('row', { name: /^Score/ });
      await total.waitFor();
      assert.deepEqual(await total.getByRole('cell').allTextContents(), ['100', '100', '0']);
    });
  });

  it('a note is added by keyboard alone, and stands there as text', async () => {
    application = SHOWN;
    await visitAs({ login: 'nora', role: 'reviewer', path }, async (page) => {
      await page.getByLabel('New note').focus();
      await page.keyboard.type(`called twice ${MARKUP}`);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByText(`called twice ${MARKUP}`).and(page.locator('p')).waitFor();
      // The note may come with the next reading, before the answer to its request.
      await eventually('an empty field', async () => (await page.getByLabel('New note').inputValue()) === '');
    });
  });

  it('a viewer gets neither a way to reveal nor to write', async () => {
    await visitAs({ login: 'vera', role: 'viewer', path }, async (page) => {
      await page.getByText('A. L.').waitFor();
      assert.deepEqual(await page.locator('main').getByRole('button').allTextContents(), []);
    });
  });

  it('Escape closes the dialog, and the focus goes back to its button; a page that ends its session is the sign-in', async () => {
    await visitAs({ login: 'rita', role: 'reviewer', path, expected: ENDED }, async (page) => {
      const reveal = page.getByRole('button', { name: 'Reveal personal data' });
      await reveal.press('Enter');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await reveal.and(page.locator(':focus')).waitFor();
      await page.getByRole('link', { name: '256' }).press('Enter');
      await page.waitForURL(/256$/);
      await page.getByText('Statement of income').waitFor();
      assert.equal(await page.title(), 'Application 256 · Ventanilla');
      await check(page, 'application-pended');
      await page.locator('h1:focus').waitFor();
      // The page asks again by itself, and hears that the session ended.
      await page.context().clearCookies();
      await page.getByText('The session of rita ended.').waitFor();
      assert.equal(await page.getByRole('heading', { name: 'Application 256' }).count(), 0);
      assert.equal(await page.getByText('A. L.').isVisible(), false);
    });
  });
});
