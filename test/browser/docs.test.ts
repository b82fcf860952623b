/** The documentation page in a real browser. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SANDBOX_SCENARIOS } from '../../src/domain/application/sandbox.ts';
import { DESKTOP, PHONE, skip, testBrowser } from '../support/browser.ts';
import { anApplication, post, testService } from '../support/service.ts';

describe('the documentation in a browser', { skip }, async () => {
  if (skip) return;
  const service = await testService();
  const { apiKey } = await service.addPartner();
  const visit = testBrowser(`${service.url}/docs`);
  const phoneOf = (kind: string) =>
    SANDBOX_SCENARIOS.find(({ outcome }) => outcome.kind === kind)?.phone as string;

  it('the form sends a batch to /DEV and shows the answer; the key stays in its field', async () => {
    await visit(DESKTOP, async (page) => {
      await page.getByLabel('Your key for DEV').fill(apiKey);
      await page.getByRole('button', { name: 'Send to /DEV' }).click();
      const answer = page.getByRole('region', { name: 'Answer', exact: true });
      await answer.getByRole('heading', { name: /^200 OK/ }).waitFor();
      await answer.getByText('"decision": "approved"').waitFor();
      assert.ok(await answer.getByText('x-request-id').isVisible());

      const row = page.getByRole('row', { name: phoneOf('duplicate') });
      await row.getByRole('button', { name: 'Use this phone' }).click();
      await page.getByText(`${phoneOf('duplicate')} is in the batch now`).waitFor();
      await page.getByRole('button', { name: 'Send to /DEV' }).click();
      await answer.getByText('a request already exists').waitFor();

      const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
      assert.equal(kept, '[{},{}]');
      assert.equal(await page.evaluate('document.cookie + location.search'), '');
      await page.locator('#try-form').getByRole('button', { name: 'Start over' }).click();
      assert.ok(await answer.isHidden());
      assert.equal(await page.getByLabel('Your key for DEV').inputValue(), '');
    });
  });

  it('the field finds rows of the tables, also folded ones, and empties again', async () => {
    for (const [screen, path, label, text, row, other] of [
      [DESKTOP, '?lang=en', 'Find in the tables', 'PRIOR_HISTORY', 'prior_history', 'income'],
      [PHONE, '?lang=es', 'Buscar en las tablas', 'codigo de pais', 'código de país', 'ingreso'],
    ] as const) {
      await visit(
        screen,
        async (page) => {
          const rows = page.locator('tbody tr:visible');
          const before = await rows.count();
          const field = page.getByLabel(label);
          await field.fill(text);
          for (const shown of await rows.allTextContents()) assert.match(shown, new RegExp(row));
          assert.ok((await rows.count()) > 1);
          const found = `${await rows.count()} `;
          assert.ok((await page.getByRole('status').first().textContent())?.startsWith(found));
          assert.equal((await page.locator('details[open] tr:visible').count()) > 0, true);
          await field.fill('no such text');
          assert.equal(await rows.count(), 0);
          await field.fill('');
          assert.equal(await rows.count(), before);
          assert.equal(await page.locator('details[open]').count(), 0);
          assert.ok(await page.getByText(other, { exact: true }).first().isVisible());
          const width = await page.evaluate('document.documentElement.scrollWidth');
          assert.equal(width, screen.viewport.width);
        },
        { path },
      );
    }
  });

  it('the form explains invalid JSON, a wrong key and a 500', async () => {
    await visit(
      DESKTOP,
      async (page) => {
        await page.getByLabel('Your key for DEV').fill('vtn_dev_wrong');
        const batch = page.getByLabel('The batch');
        await batch.fill('{"applications": [');
        await page.getByRole('button', { name: 'Send to /DEV' }).click();
        await page.getByText('This is not valid JSON yet').waitFor();
        // A phone of the table replaces an unreadable batch by the example.
        const row = page.getByRole('row', { name: phoneOf('unavailable') });
        await row.getByRole('button', { name: 'Use this phone' }).click();
        await page.getByRole('button', { name: 'Send to /DEV' }).click();
        await page.getByRole('heading', { name: /^401/ }).waitFor();
        await page.getByLabel('Your key for DEV').fill(apiKey);
        await page.getByRole('button', { name: 'Send to /DEV' }).click();
        await page.getByRole('heading', { name: /^500/ }).waitFor();
        assert.ok(await page.getByText('retry-after', { exact: true }).isVisible());
      },
      { expected: /the server responded with a status of (401|500)/ },
    );
  });

  it('D41: a form reads the events page by page and one application; the key stays in its field', async () => {
    const partner = await service.addPartner();
    const { body } = await post(`${service.url}/PRO`, partner.apiKey, { applications: [anApplication()] });
    const { id } = (body as { results: { id: number }[] }).results[0]!;
    await service.database.query(
      `SELECT add_partner_events('application.interested', array_fill($1::integer, ARRAY[7]),
        array_fill($2::bigint, ARRAY[7]), NULL, NULL, NULL, NULL)`,
      [partner.partnerId, id],
    );
    const visitor = { expected: /the server responded with a status of 404/ };
    await visit(
      DESKTOP,
      async (page) => {
        const form = page.locator('#read-form');
        const read = form.getByRole('button', { name: 'Read', exact: true });
        await form.getByLabel('Your key for PRO').fill(partner.apiKey);
        await read.click();
        const answer = page.getByRole('region', { name: 'What was read' });
        await answer.getByText('"has_more": true').waitFor();
        await page.getByText('The path now leads to the next page').waitFor();
        await read.click();
        await answer.getByText('"has_more": false').waitFor();
        assert.equal(await answer.getByText('application.interested').count(), 1);

        const path = form.getByLabel('The path: events, or one application');
        await path.fill(`/PRO/applications/${id}`);
        await read.click();
        await answer.getByText('"status": "pending_signature"').waitFor();
        await path.fill('/PRO/applications/1');
        await read.click();
        await answer.getByRole('heading', { name: /^404/ }).waitFor();
        for (const elsewhere of ['//other.example/PRO/events', '/DEV', 'https://other.example/PRO/events']) {
          await path.fill(elsewhere);
          await read.click();
          await page.getByText('The path begins with /PRO/events').waitFor();
        }
        const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
        assert.equal(kept, '[{},{}]');
        assert.equal(await page.evaluate('document.cookie + location.search'), '');
        await form.getByRole('button', { name: 'Start over' }).click();
        assert.equal(await form.getByLabel('Your key for PRO').inputValue(), '');
      },
      visitor,
    );
  });

  it('in Spanish, dark, on a small screen: nothing is cut off, and the batch is in Spanish', async () => {
    const context = { ...PHONE, colorScheme: 'dark', locale: 'es-CO' } as const;
    await visit(context, async (page) => {
      await page.getByRole('heading', { name: 'Primeros pasos' }).waitFor();
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), PHONE.viewport.width);
      // Only code may be wider than the page, because code scrolls by itself.
      const wide = await page.evaluate(
        '[...document.querySelectorAll("main :not(pre, pre *)")].filter((one) => one.scrollWidth > innerWidth).length',
      );
      assert.equal(wide, 0);
      await page.getByLabel('Tu clave de DEV').fill(apiKey);
      await page.getByRole('button', { name: 'Enviar a /DEV' }).press('Enter');
      await page.locator('#try-form').getByText('"estado": "firma_pendiente"').waitFor();
      await page.getByLabel('Tu clave de PRO').fill(apiKey);
      await page.getByRole('button', { name: 'Leer' }).click();
      await page.getByRole('region', { name: 'Lo que se leyó' }).getByText('"has_more": false').waitFor();
      await page.getByRole('link', { name: 'English' }).click();
      await page.getByRole('heading', { name: 'Getting started' }).waitFor();
    });
  });

  it('on a desktop the contents stay visible and mark the current section; code can be copied', async () => {
    await visit({ ...DESKTOP, permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
      const contents = page.getByRole('navigation', { name: 'Contents' });
      const link = contents.getByRole('link', { name: 'Safe retries' });
      await link.click();
      await page.locator('.contents a[aria-current]', { hasText: 'Safe retries' }).waitFor();
      assert.ok(await link.isVisible());
      const { y = -1 } = (await link.boundingBox()) ?? {};
      assert.ok(y > 0 && y < DESKTOP.viewport.height);
      await page.locator('#start').getByRole('button', { name: 'Copy' }).first().click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      const copied = (await page.evaluate('navigator.clipboard.readText()')) as string;
      assert.ok(copied.includes(`curl -sS ${service.url}/DEV \\\n`), copied);
    });
  });

  it('the page can be read without a script', async () => {
    await visit({ ...DESKTOP, javaScriptEnabled: false }, async (page) => {
      assert.ok(await page.getByText(/needs JavaScript/).isVisible());
      assert.ok(await page.getByLabel('Your key for DEV').isHidden());
      assert.ok(await page.getByLabel('Find in the tables').isHidden());
      assert.equal(await page.getByRole('button').count(), 0);
      await page
        .getByText(/^What the error of an application says/)
        .first()
        .click();
      assert.ok(
        await page
          .getByText('messaging_optin is required and must be true or false', { exact: true })
          .isVisible(),
      );
    });
  });
});
