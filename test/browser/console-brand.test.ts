/** The page of a key's brand in a real browser, on real routes (docs/brand.md; docs/operators.md). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { pausedAmong } from '../../src/subjects/messages/subject.ts';
import { brandRoutes } from '../../src/subjects/partners/routes/brand.ts';
import { commandLine } from '../cli/harness.ts';
import { PHONE, skip } from '../support/browser.ts';
import { consoleInBrowser, EMPTY_QUEUE, NO_PROPOSALS, SCREENS } from '../support/console-browser.ts';
import { testDatabase } from '../support/database.ts';
import { check } from '../support/page-faults.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';

/** As the channel tells them. */
const readTemplates = async () => ({
  kind: 'read' as const,
  templates: [
    { name: 'ventanilla_approved', language: 'es', status: 'approved' as const },
    { name: 'ventanilla_offer', language: 'es', status: 'pending' as const },
    { name: 'ventanilla_rejected', language: 'es', status: 'rejected' as const },
  ],
});

describe('the page of a brand', { skip }, async () => {
  if (skip) return;
  const store = await testDatabase();
  const { json } = commandLine(store);
  const { visitAs } = await consoleInBrowser(
    [
      ...EMPTY_QUEUE,
      NO_PROPOSALS,
      ...brandRoutes({ ...store, database: store.runtime }, { pausedAmong, readTemplates }),
    ],
    null,
    store,
  );
  const partner = await json('partner', 'add', '--name', HOSTILE, '--country', 'CO');
  await store.database.query("INSERT INTO paused_templates (name, reason) VALUES ('acme_offer', '132001')");
  const newKey = async () => {
    const { id } = await json('key', 'issue', '--partner', `${partner.id}`);
    return { id: `${id}`, path: `/partners/${partner.id}/keys/${id}/brand` };
  };
  const brandOf = async (id: string) => json('key', 'brand', 'show', id);
  const phone = (page: Page, language: string) =>
    page.getByRole('figure', { name: `Message in ${language}` });
  const save = (page: Page) => page.getByRole('button', { name: 'Save the brand' });

  for (const screen of SCREENS) {
    const { width } = screen.viewport;

    it(`an admin changes what messages say by the keyboard, sees it on a phone, and saves it, ${width} px`, async () => {
      const { id, path } = await newKey();
      await visitAs({ login: `ana.${width}`, role: 'admin', screen, path }, async (page) => {
        await phone(page, 'Spanish').getByText(`Hola, Luz Marina: ${HOSTILE}`).waitFor();
        for (const said of ['approved', 'waits for its approval', 'rejected', 'the channel has none'])
          await page.getByText(said, { exact: true }).first().waitFor();
        await check(page, `brand-${width}`);
        await page.getByLabel('Name that applicants read').fill('Acme Repartos');
        await page.getByRole('combobox', { name: 'Message' }).selectOption('offer');
        const spanish = page.getByRole('group', { name: 'Spanish' });
        await spanish.getByLabel('Text').fill(`Hola {name}, {partner}: {debt}. ${HOSTILE}`);
        await phone(page, 'Spanish')
          .getByText(`Hola Luz Marina, Acme Repartos: $ 8.000.000. ${HOSTILE}`)
          .waitFor();
        await spanish.getByLabel('Own buttons').press('Space');
        await spanish.getByLabel('Button 1').fill('Sí, quiero');
        await phone(page, 'Spanish').getByText('Sí, quiero').waitFor();
        await page.getByLabel('Name of the template').fill('acme_offer');
        await page.getByText('its messages wait since').first().waitFor();
        await check(page, `brand-changed-${width}`);
        await save(page).press('Enter');
        await page.getByText('Saved. Messages that wait have it too.').waitFor();
      });
      const { texts, buttons, templates, ...brand } = await brandOf(id);
      assert.deepEqual(
        [brand.partner, texts.offer.es, buttons.offer.es, templates.offer.name],
        ['Acme Repartos', `Hola {name}, {partner}: {debt}. ${HOSTILE}`, ['Sí, quiero'], 'acme_offer'],
      );
    });

    it(`each fault stands at its field, and nothing is saved with one, ${width} px`, async () => {
      const { id, path } = await newKey();
      await visitAs({ login: `eva.${width}`, role: 'admin', screen, path }, async (page) => {
        const spanish = page.getByRole('group', { name: 'Spanish' });
        await spanish.getByLabel('Text').fill('Hola {nombre}, {partner}: {debt}.');
        await spanish.getByText('A placeholder may not stand here').waitFor();
        await spanish.getByLabel('Own buttons').check();
        await spanish.getByLabel('Button 1').fill('x'.repeat(21));
        await spanish.getByText('One line of 1 to 20 characters.').waitFor();
        await page.getByLabel('Name of the template').fill('Acme Offer');
        await page.getByText('Only a to z, digits and _, at most 512.').waitFor();
        await page.getByLabel('Changes of the conversation').fill('{"limits": {"files": 0}}');
        await page.getByText('conversation.limits.files').waitFor();
        await page.getByText('The preview comes back').waitFor();
        assert.equal(await spanish.getByLabel('Text').getAttribute('aria-invalid'), 'true');
        assert.ok(await save(page).isDisabled());
        await check(page, `brand-faults-${width}`);
        await page.getByRole('combobox', { name: 'Message' }).selectOption('reminder');
        await page.getByText('At texts.approved.es').waitFor();
        await page.getByLabel('Changes of the conversation').fill('{');
        await page.getByText('This is no JSON object.').waitFor();
        assert.ok(await save(page).isDisabled());
      });
      assert.equal((await brandOf(id)).partner, HOSTILE);
    });
  }

  it('what somebody else saved meanwhile is not overwritten', async () => {
    const { id, path } = await newKey();
    await visitAs({ login: 'ida', role: 'admin', path, expected: /409/ }, async (page) => {
      await page.getByLabel('Name that applicants read').fill('Mine');
      await store.database.query('UPDATE api_keys SET brand = \'{"partner": "Theirs"}\' WHERE id = $1', [id]);
      await phone(page, 'Spanish').getByText('Mine').waitFor();
      await save(page).press('Enter');
      await page.getByText('Somebody else changed this brand meanwhile.').waitFor();
      await page.getByRole('button', { name: 'Read it again' }).press('Enter');
      await phone(page, 'Spanish').getByText('Theirs').waitFor();
      assert.equal(await page.getByLabel('Name that applicants read').inputValue(), 'Theirs');
    });
  });

  it('it fits a phone in the longest languages, and a reviewer has no such page', async () => {
    const { path } = await newKey();
    for (const [language, button] of [
      ['es', 'Guardar la marca'],
      ['pt', 'Salvar a marca'],
    ] as const) {
      const visit = { login: `leo.${language}`, role: 'admin', screen: PHONE, locale: language } as const;
      await visitAs({ ...visit, path }, async (page) => {
        await page.getByRole('button', { name: button }).waitFor();
        await page.getByRole('figure').first().waitFor();
        await check(page, `brand-${language}`);
      });
    }
    await visitAs({ login: 'rosa', role: 'reviewer', path }, async (page) => {
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    });
  });
});
