/** Every page of the console with the real routes: both widths, both themes, each language (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { PHONE, skip } from '../support/browser.ts';
import { WIDE } from '../support/console-browser.ts';
import { deskBrowser, HOSTILE, PERSON } from '../support/desk-browser.ts';
import { check } from '../support/page-faults.ts';
import { shifted } from '../support/shifted.ts';

/** Languages with the heading of the queue. */
const LANGUAGES = { en: 'Queue', es: 'Cola', pt: 'Fila' } as const;
const PERSONAL = new RegExp(`${PERSON.name}|${PERSON.id_number}|${PERSON.city}|573007`);
const KEPT = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, document.title])';

/** Whether two names of an axis stand in each other's place, or one beyond the picture. */
const IS_CROWDED = `(() => {
  const picture = document.querySelector('svg[role=img]').getBoundingClientRect();
  const names = [...document.querySelectorAll('svg[role=img] > text')].map((name) => name.getBoundingClientRect());
  return names.length < 2 || names.some(({ left, right }, index) =>
    left < picture.left - 0.5 || right > picture.right + 0.5 || (index > 0 && left < names[index - 1].right));
})()`;
/** Such as `documents_verified`: the page says it in words. */
const RAW_CODE = /\b[a-z]+(_[a-z]+)+\b/;

describe('every page of the console', { skip }, async () => {
  if (skip) return;
  const desk = await deskBrowser();
  const ana = await desk.console.enrolled('ana.maria', 'reviewer');
  const lena = await desk.console.enrolled('lena', 'admin');
  const [shown, proposed, declined, bare] = await desk.inReview(4);
  const [maker, second] = [await ana.signIn(), await lena.signIn()];
  const propose = async (id: number, reason = `look at ${HOSTILE}`) => {
    const body = { act: 'reject', reason_code: 'suspected_fraud', reason };
    const [row] = await desk.rows(
      'SELECT coalesce(max(id), 0)::text AS last FROM application_events WHERE application_id = $1',
      [id],
    );
    const headers = { 'If-Match': `"${row!.last}"` };
    const answer = await maker.ask('POST', `/api/applications/${id}/proposals`, body, headers);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.id as number;
  };
  await propose(proposed!);
  // Without a note the code stands for the reason.
  await propose(bare!, 'suspected_fraud');
  const toDecline = await propose(declined!);
  const no = await second.ask('POST', `/api/proposals/${toDecline}/decline`, { reason: `no ${HOSTILE}` });
  assert.equal(no.status, 200, JSON.stringify(no.body));
  await maker.ask('POST', `/api/applications/${shown}/notes`, { text: `a note ${HOSTILE}` });

  /** Addresses with what stands there when the page is whole. */
  const PAGES: readonly (readonly [name: string, path: string, ready: (page: Page) => Promise<void>])[] = [
    ['queue', '/queue', (page) => page.locator('tbody tr').first().waitFor()],
    ['application', `/applications/${shown}`, (page) => page.getByText(`a note ${HOSTILE}`).waitFor()],
    ['proposed', `/applications/${declined}`, (page) => page.getByText(`no ${HOSTILE}`).first().waitFor()],
    ['bare', `/applications/${bare}`, (page) => page.locator('main h2').first().waitFor()],
    [
      'to-confirm',
      '/proposals?list=to_confirm',
      (page) => page.getByText(`look at ${HOSTILE}`).first().waitFor(),
    ],
    [
      'confirmation',
      '/proposals?list=to_confirm',
      async (page) => {
        await page.locator('tbody button[data-main]').first().click();
        await page.getByRole('dialog').getByText(`look at ${HOSTILE}`).waitFor();
      },
    ],
    [
      'contradicted',
      `/applications/${shown}`,
      async (page) => {
        // On touch the key is hidden.
        await page.locator('section button[data-main]:has(kbd)').first().click();
        await page.getByRole('dialog').locator('input[type=radio]').first().check();
        await page.getByRole('dialog').getByRole('alert').waitFor();
      },
    ],
    ['mine', '/proposals?list=mine', (page) => page.locator('main h1').waitFor()],
    ['came-back', '/proposals?list=came_back', (page) => page.locator('main h1').waitFor()],
    ['ended', '/proposals?list=ended', (page) => page.locator('main h1').waitFor()],
    ['lead', '/lead', (page) => page.locator('main h2').first().waitFor()],
    ['not-found', '/nothing', (page) => page.locator('main h1').waitFor()],
  ];

  for (const [language, queue] of Object.entries(LANGUAGES)) {
    for (const screen of [WIDE, PHONE]) {
      it(`has no findings of axe and shows texts of strangers as texts, ${language}, ${screen.viewport.width} px`, async () => {
        await desk.browse(
          lena,
          async (page) => {
            await page.getByRole('heading', { name: queue, exact: true }).waitFor();
            for (const [name, path, ready] of PAGES) {
              await page.goto(desk.console.url() + path);
              await ready(page);
              await check(page, `${name}-${language}`);
              if (name === 'lead')
                assert.equal(await page.evaluate(IS_CROWDED), false, 'the names of the axis');
              assert.equal(await page.locator('main img, main script').count(), 0, name);
              assert.doesNotMatch(await page.locator('main').innerText(), RAW_CODE, name);
              assert.doesNotMatch((await page.evaluate(KEPT)) as string, PERSONAL, name);
            }
          },
          { screen, locale: language },
        );
      });
    }
  }

  it('the maker finds what was declined, with the text of the other one as a text', async () => {
    await desk.browse(
      ana,
      async (page) => {
        await page.getByText(`no ${HOSTILE}`).waitFor();
        assert.equal(await page.locator('main img, main script').count(), 0);
      },
      { path: '/proposals?list=mine' },
    );
  });

  it('the maker is told why a proposal came back in the language of the page', async () => {
    const [late] = await desk.inReview(1);
    await propose(late!);
    // Above the authority of its maker, and nobody confirms it.
    const sevenDaysBefore = shifted('due_at', "interval '-7 days'");
    const comeBack = async () => {
      await desk.rows(`UPDATE open_proposals SET due_at = ${sevenDaysBefore} WHERE application_id = $1`, [
        late,
      ]);
      await desk.applyAll();
    };
    for (const { locale, why, isNew } of [
      { locale: 'pt-BR', why: 'Devolvida: ninguém a confirmou a tempo', isNew: true },
      { locale: 'es-CO', why: 'Devuelta: nadie la confirmó a tiempo', isNew: false },
    ]) {
      await desk.browse(
        ana,
        async (page) => {
          // What was declined before is in the list, and in no bar.
          await page.getByText(`no ${HOSTILE}`).waitFor();
          if (isNew) await comeBack();
          await page
            .getByRole('row', { name: `${late}` })
            .getByText(why)
            .waitFor();
          assert.doesNotMatch(await page.locator('main').innerText(), /nobody/);
          const bars = page.getByRole('alert');
          if (isNew) await bars.getByText(why).waitFor();
          assert.equal(await bars.count(), isNew ? 1 : 0);
        },
        { path: '/proposals?list=came_back', locale },
      );
    }
  });
});
