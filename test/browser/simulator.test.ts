/** The simulator's page in a real browser. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { reviewApplication } from '../../src/subjects/applications/uses/applications.ts';
import { showApplication } from '../../src/subjects/messages/uses/explained-application.ts';
import { IN_REVIEW } from '../support/applicant.ts';
import { DESKTOP, PHONE, skip, testBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { simulatorPage } from '../support/simulator.ts';

describe('the simulator in a browser', { skip }, async () => {
  if (skip) return;
  const service = await testService();
  const { database, vault } = service;
  const simulator = await simulatorPage(service);
  const { apiKey } = await service.addPartner();
  const visit = testBrowser(`${simulator.url}/simulator`);

  async function register(changes: Record<string, unknown>): Promise<number> {
    const { body } = await post(`${service.url}/PRO`, apiKey, { applications: [anApplication(changes)] });
    return (body as { results: { id: number }[] }).results[0]?.id as number;
  }

  const historyOf = async (id: number) => {
    const { history } = await showApplication(
      { database, vault, clock: machineClock, actor: 'test' },
      toApplicationId(id),
    );
    return history.map(({ action }) => action);
  };
  const statusOf = async (id: number) => {
    const text = 'SELECT status FROM messages WHERE application_id = $1';
    return (await database.query<{ status: string }>(text, [id])).rows[0]?.status;
  };

  it('new messages appear without a reload and are marked as read, and a tap gets into the history', async () => {
    await visit(DESKTOP, async (page) => {
      await page.getByRole('heading', { name: 'No messages yet' }).waitFor();
      assert.ok(await page.getByText('npm run demo').isVisible());
      const id = await register({ name: 'Inés <b>Peña</b>', debt_amount: 8_000_000 });
      const entry = page.getByRole('button', { name: 'Inés <b>Peña</b>' });
      await entry.waitFor();
      assert.notEqual(await statusOf(id), 'read');
      await entry.click();
      const messages = page.getByRole('list', { name: 'Messages' });
      await messages.getByText(/^Hola, cliente: Partner 1 y Ventanilla .*8\.000\.000/).waitFor();
      await messages.getByText('Read', { exact: true }).waitFor();
      assert.equal(await statusOf(id), 'read');

      const button = page.getByRole('button', { name: 'Me interesa' });
      await button.dblclick();
      await page.getByText(`Interest recorded in the history of application ${id}`).waitFor();
      assert.deepEqual(await historyOf(id), ['register', 'interested']);
      assert.equal(await button.getAttribute('aria-disabled'), 'true');
      await page.reload();
      await entry.click();
      await page.getByText('Interest recorded').waitFor();
    });
  });

  it('D40: the message after an approval is a second bubble, and the interest stands once', async () => {
    const id = await register({ ...IN_REVIEW, name: 'Ada Mora' });
    await visit(DESKTOP, async (page) => {
      const entry = page.getByRole('button', { name: 'Ada Mora' });
      await entry.click();
      await page.getByRole('button', { name: 'Me interesa' }).waitFor();
      await reviewApplication(
        { database, vault, clock: machineClock, actor: 'test' },
        toApplicationId(id),
        'approve',
        'x',
        'unspecified',
      );
      const meta = page.getByText(`Application ${id} ·`);
      await eventually('two bubbles', async () => (await meta.count()) === 2);
      const buttons = page.getByRole('button', { name: 'Me interesa' });
      assert.equal(await buttons.count(), 2);
      await buttons.first().click();
      await page.getByText(`Interest recorded in the history of application ${id}`).waitFor();
      assert.equal(await page.getByText('Interest recorded').count(), 1);
      await eventually('both buttons to be done', async () =>
        (await buttons.allTextContents()).every((text) => text.endsWith('✓')),
      );
    });
    assert.deepEqual(await historyOf(id), ['register', 'approve', 'interested']);
  });

  it('a name, some digits or a whole phone finds a chat; another text finds none', async () => {
    await register({ name: 'Olga Ruiz', phone: '+573007771234' });
    await register({ name: 'Paz Soto', phone: '+573007775678' });
    await visit(DESKTOP, async (page) => {
      const [olga, paz] = ['Olga Ruiz', 'Paz Soto'].map((name) => page.getByRole('button', { name }));
      assert.ok(olga && paz);
      await olga.waitFor();
      await paz.waitFor();
      const field = page.getByRole('searchbox', { name: 'Find a phone or a name' });
      for (const text of ['olga', '71234', '300 777 1234']) {
        await field.fill(text);
        await paz.waitFor({ state: 'detached' });
        await olga.waitFor();
        await field.fill('');
        await paz.waitFor();
      }
      await field.fill('300 777 0000');
      await olga.waitFor({ state: 'detached' });
      assert.ok(!(await page.getByText('npm run demo').isVisible()));
      assert.ok(!(await page.getByRole('button', { name: 'Send now' }).isVisible()));
    });
  });

  it('the list tells each outcome, and shows the phones of one outcome alone', async () => {
    await register({ name: 'Aura Paz' });
    await register({ ...IN_REVIEW, name: 'Iván Rey' });
    await register({ name: 'Raúl Sosa', debt_amount: 900_000_000 });
    await visit(DESKTOP, async (page) => {
      const [approved, inReview, rejected] = ['Aura Paz', 'Iván Rey', 'Raúl Sosa'].map((name) =>
        page.getByRole('button', { name }),
      );
      assert.ok(approved && inReview && rejected);
      await rejected.getByText('Rejected', { exact: true }).waitFor();
      await inReview.getByText('In review', { exact: true }).waitFor();
      await approved.getByText('Approved', { exact: true }).waitFor();
      await page.getByLabel('Show phones by the outcome').selectOption('In review');
      await rejected.waitFor({ state: 'detached' });
      await approved.waitFor({ state: 'detached' });
      assert.ok(await inReview.isVisible());
      await page.getByLabel('Show phones by the outcome').selectOption('All');
      await rejected.waitFor();
    });
  });

  it('a long name makes the page no wider than the screen', async () => {
    const name = `Maximiliano ${'Wolfeschlegelsteinhausen'.repeat(4)}`;
    await register({ name });
    await visit(PHONE, async (page) => {
      const width = () => page.evaluate('document.documentElement.scrollWidth');
      const entry = page.getByRole('button', { name });
      await entry.waitFor();
      assert.equal(await width(), PHONE.viewport.width);
      await entry.click();
      await page.getByRole('heading', { name }).waitFor();
      assert.equal(await width(), PHONE.viewport.width);
    });
  });

  it('the page and the documentation lead to each other', async () => {
    const response = await fetch(`${simulator.url}/simulator/docs`, { redirect: 'manual' });
    assert.equal(response.headers.get('location'), 'http://127.0.0.1:8080/docs');
    await visit(DESKTOP, async (page) => {
      const link = page.getByRole('link', { name: 'API docs' });
      assert.equal(await link.getAttribute('href'), '/simulator/docs');
    });
  });

  it('the page works by keyboard, dark, on a small screen, and BAJA stops messages', async () => {
    const id = await register({ name: 'Rosa Díaz' });
    await visit({ ...PHONE, colorScheme: 'dark' }, async (page) => {
      const entry = page.getByRole('button', { name: 'Rosa Díaz' });
      await entry.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Rosa Díaz' }).waitFor();
      assert.ok(await entry.isHidden());
      const width = await page.evaluate('document.documentElement.scrollWidth');
      assert.equal(width, PHONE.viewport.width);
      await page.getByLabel('Write as the applicant').fill('BAJA');
      await page.keyboard.press('Enter');
      await page.getByText('This phone gets no more messages').waitFor();
      await page.getByRole('button', { name: 'Phones' }).press('Enter');
      await entry.waitFor();
      assert.match((await entry.textContent()) ?? '', /Approved · wants no more messages/);
    });
    assert.deepEqual(await historyOf(id), ['register']);
  });

  it('a fault that is set while the page loads the faults stays set', async () => {
    await visit(DESKTOP, async (page) => {
      await page.getByRole('button', { name: 'Faults' }).waitFor();
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route('**/simulator/faults', async (route) => {
        if (route.request().method() !== 'GET') return route.continue();
        const response = await route.fetch();
        await released;
        await route.fulfill({ response });
      });
      await page.getByRole('button', { name: 'Faults' }).click();
      const lost = page.getByRole('slider', { name: 'Answers lost' });
      const saved = page.waitForResponse((response) => response.request().method() === 'POST');
      await lost.press('End');
      await saved;
      const read = page.waitForResponse(
        (response) => response.request().method() === 'GET' && response.url().endsWith('/simulator/faults'),
      );
      release();
      await (await read).finished();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Faults on' }).waitFor();
      await page.unrouteAll();
      await page.getByRole('button', { name: 'Faults on' }).click();
      await page
        .getByRole('button', { name: /none|all off|no faults/i })
        .first()
        .click();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Faults', exact: true }).waitFor();
    });
  });

  it('the page sets faults; a message whose answer is lost is shown as uncertain, then on the phone', async () => {
    await visit(DESKTOP, async (page) => {
      await page.getByRole('button', { name: 'Faults' }).click();
      const lost = page.getByRole('slider', { name: 'Answers lost' });
      const saved = page.waitForResponse((response) => response.request().method() === 'POST');
      await lost.press('End');
      assert.equal((await saved).status(), 200);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Faults on' }).waitFor();
      // However long the page takes to read it, the channel does not tell before.
      const tell = simulator.holdEvents();
      const id = await register({ name: 'Iván Ruiz' });
      await page.getByText('1 uncertain').waitFor();
      tell();
      await page.getByRole('button', { name: 'Iván Ruiz' }).waitFor();
      await eventually('delivered', async () => ((await statusOf(id)) === 'delivered' ? true : undefined));
    });
  });
});
