/** The chat of the simulator's page in a real browser: replies, files, the second phone, and the channel's window. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ReplyContent } from '../../src/domain/message/reply.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { DESKTOP, PHONE, skip, testBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { queueReply, textContent } from '../support/replies.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { simulatorPage } from '../support/simulator.ts';

describe('the chat in a browser', { skip }, async () => {
  if (skip) return;
  const service = await testService();
  const simulated = await simulatorPage(service);
  const { simulator, heard } = simulated;
  const { apiKey } = await service.addPartner();
  const visit = testBrowser(`${simulated.url}/simulator`);

  let last = 0;
  async function applicant(name: string) {
    last += 1;
    const phone = toPhone(`+57300888${String(last).padStart(4, '0')}`);
    const { body } = await post(`${service.url}/PRO`, apiKey, {
      applications: [anApplication({ phone, name })],
    });
    return { id: (body as { results: { id: number }[] }).results[0]!.id, phone };
  }
  const reply = (
    one: { id: number; phone: ReturnType<typeof toPhone> },
    turn: number,
    content: ReplyContent,
  ) => queueReply(service, one, turn, content);
  const heardFrom = (phone: string) => heard.map(({ event }) => event).filter(({ from }) => from === phone);

  it('replies come beside the messages, in order; buttons, rows and typed texts are heard', async () => {
    const one = await applicant('Eva Luna');
    await visit(DESKTOP, async (page) => {
      await page.getByRole('button', { name: 'Eva Luna' }).click();
      const messages = page.getByRole('list', { name: 'Messages' });
      await page.getByRole('button', { name: 'Me interesa' }).click();
      await page.getByText(`Interest recorded in the history of application ${one.id}`).waitFor();
      await reply(
        one,
        1,
        textContent('¿Nos <i>autorizas</i>?', {
          buttons: [
            { title: 'Sí, autorizo', payload: 'yes' },
            { title: 'No, gracias', payload: 'no' },
          ],
        }),
      );
      await messages.getByText('¿Nos <i>autorizas</i>?').waitFor();
      const yes = page.getByRole('button', { name: 'Sí, autorizo' });
      await yes.click();
      await messages.getByText('Sí, autorizo', { exact: true }).waitFor();
      const rows = [{ title: 'Otra hora', payload: 'later', description: 'Mañana por la mañana' }];
      await reply(one, 2, textContent('¿Cuándo?', { list: { button: 'Ver horas', rows } }));
      await page.getByText('Ver horas').click();
      await page.getByRole('button', { name: 'Otra hora Mañana por la mañana' }).click();
      await eventually('the row is heard', () => heardFrom(one.phone).length === 3);
      await page.getByLabel('Write as the applicant').fill('¿Cuánto pago? 🙂');
      await page.keyboard.press('Enter');
      await messages.getByText('¿Cuánto pago? 🙂').waitFor();
      await eventually('the text is heard', () => heardFrom(one.phone).length === 4);
      // The old button again: the service has to tell that it is old.
      await yes.click();
      await eventually('all is heard', () => heardFrom(one.phone).length === 5);
      assert.deepEqual(
        heardFrom(one.phone).map((event) => (event.kind === 'tap' ? event.payload : event.kind)),
        [`interested.${one.id}`, 'yes', 'later', 'text', 'yes'],
      );
      const texts = await messages.locator('.text').allTextContents();
      const places = ['¿Nos <i>autorizas</i>?', '¿Cuándo?', '¿Cuánto pago? 🙂'].map((text) =>
        texts.indexOf(text),
      );
      assert.deepEqual(
        places,
        places.toSorted((left, right) => left - right),
      );
      await page.reload();
      await page.getByRole('button', { name: 'Eva Luna' }).click();
      await messages.getByText('¿Cuánto pago? 🙂').waitFor();
    });
  });

  it('files are sent from the dialog, and a document of a reply opens', async () => {
    const one = await applicant('Noa Gil');
    const bytes = Buffer.from('%PDF-1.4 contract');
    const uploaded = await simulator.uploadMedia({
      bytes,
      contentType: 'application/pdf',
      filename: 'c.pdf',
    });
    assert.ok(uploaded.kind === 'uploaded');
    await reply(
      one,
      1,
      textContent('Tu contrato', {
        buttons: [{ title: 'Acepto', payload: 'accept' }],
        document: { mediaId: uploaded.mediaId, filename: 'contrato.pdf' },
      }),
    );
    await visit(PHONE, async (page) => {
      await page.getByRole('button', { name: 'Noa Gil' }).click();
      const link = page.getByRole('link', { name: 'contrato.pdf' });
      await link.waitFor();
      const path = await link.getAttribute('href');
      const file = await fetch(simulated.url + path);
      assert.deepEqual(Buffer.from(await file.arrayBuffer()), bytes);
      await page.getByRole('button', { name: 'Send something else' }).click();
      await page.getByLabel('Files of this computer').setInputFiles([
        { name: 'mayo.pdf', mimeType: 'application/pdf', buffer: Buffer.from('may') },
        { name: 'foto.png', mimeType: 'image/png', buffer: Buffer.from('png') },
      ]);
      await page.getByRole('link', { name: 'mayo.pdf' }).waitFor();
      await eventually('both files are heard', () => heardFrom(one.phone).length === 2);
      assert.deepEqual(
        heardFrom(one.phone).map(
          (event) => event.kind === 'file' && [event.media, event.filename, event.claimedType],
        ),
        [
          ['document', 'mayo.pdf', 'application/pdf'],
          ['image', null, 'image/png'],
        ],
      );
      await page.getByRole('button', { name: 'Send something else' }).click();
      await page.getByRole('button', { name: 'A place' }).click();
      await page.getByText('📍 A place').waitFor();
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), PHONE.viewport.width);
    });
  });

  it('a code comes to the second phone and is typed into the chat', async () => {
    const one = await applicant('Sol Rey');
    for (const [index, options] of [DESKTOP, PHONE].entries()) {
      await visit(options, async (page) => {
        await page.getByRole('button', { name: 'Sol Rey' }).click();
        await simulator.sendCode(
          { phone: one.phone, code: '482913', text: '482913 es tu código', template: 'code', language: 'es' },
          new AbortController().signal,
        );
        const codes = page.getByRole('list', { name: 'Codes' });
        await codes.getByText('482913').last().waitFor();
        await codes.getByRole('button', { name: 'Type this code' }).first().click();
        await page.keyboard.press('Enter');
        await page
          .getByRole('list', { name: 'Messages' })
          .getByText('482913', { exact: true })
          .last()
          .waitFor();
        // The first visit left the same text in the chat.
        await eventually('the code is heard', () => heardFrom(one.phone).length === index + 1);
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), options.viewport.width);
      });
    }
    assert.deepEqual(
      heardFrom(one.phone).map((event) => event.kind === 'text' && event.body),
      ['482913', '482913'],
    );
  });

  it("the channel's 24 hours end and begin again by keyboard", async () => {
    const one = await applicant('Mar Paz');
    await visit(DESKTOP, async (page) => {
      await page.getByRole('button', { name: 'Mar Paz' }).click();
      const note = page.getByText("The channel's 24 hours are over");
      assert.ok(await note.isHidden());
      await page.getByRole('button', { name: 'Send something else' }).press('Enter');
      await page.getByRole('button', { name: 'End the 24 hours' }).press('Enter');
      await note.waitFor();
      assert.ok(simulator.windowsOver.has(one.phone));
      await page.getByRole('button', { name: 'Send something else' }).press('Enter');
      await page.getByRole('button', { name: 'Begin the 24 hours again' }).press('Enter');
      await note.waitFor({ state: 'hidden' });
    });
  });

  it('the newest message stays in sight when a code takes room from the chat', async () => {
    const one = await applicant('Rosa Sol');
    for (let turn = 1; turn <= 6; turn += 1) await reply(one, turn, textContent(`Línea ${turn}\n`.repeat(9)));
    await visit(PHONE, async (page) => {
      await page.getByRole('button', { name: 'Rosa Sol' }).click();
      const messages = page.getByRole('list', { name: 'Messages' });
      await messages.getByText('Línea 6').waitFor();
      await simulator.sendCode(
        { phone: one.phone, code: '482914', text: '482914 es tu código', template: 'code', language: 'es' },
        new AbortController().signal,
      );
      await page.getByRole('list', { name: 'Codes' }).getByText('482914').waitFor();
      const hidden = () => messages.evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight);
      await eventually('the end to be in sight', async () => (await hidden()) < 2);
      // The browser tells of a scroll only after the log has got smaller.
      await messages.evaluate((log) => {
        log.scrollTop -= 10;
        log.style.maxHeight = `${log.clientHeight - 100}px`;
      });
      await eventually('the end to be in sight again', async () => (await hidden()) < 2);
    });
  });

  it('a phone that got no message can write, and a wrong phone is told', async () => {
    await visit(
      PHONE,
      async (page) => {
        await page.getByRole('button', { name: 'Write from another phone' }).click();
        await page.getByLabel('Phone, with + and the country code').fill('12');
        await page.getByLabel('Text', { exact: true }).fill('¿Quiénes son?');
        await page.keyboard.press('Enter');
        await page.getByRole('alert').getByText('country code').waitFor();
        await page.getByLabel('Phone, with + and the country code').fill('+57 300 888 9999');
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: '+573008889999' }).waitFor();
        await page.getByRole('list', { name: 'Messages' }).getByText('¿Quiénes son?').waitFor();
      },
      { expected: /400/ },
    );
    assert.equal(heardFrom('+573008889999').length, 1);
  });

  it('what is lost on its way is marked, and the sign of typing comes and goes', async () => {
    const one = await applicant('Luz Vera');
    await visit(DESKTOP, async (page) => {
      await page.getByRole('button', { name: 'Luz Vera' }).click();
      const field = page.getByLabel('Write as the applicant');
      simulated.setFaults({ unheardShare: 1 });
      await field.fill('Hola');
      await page.keyboard.press('Enter');
      await page.getByText('Lost on its way').waitFor();
      simulated.setFaults({ unheardShare: 0 });
      await field.fill('¿Hola?');
      await page.keyboard.press('Enter');
      const readMessageId = await eventually(
        'it is heard',
        () => heardFrom(one.phone)[0]?.messageId ?? undefined,
      );
      await simulator.markRead(readMessageId);
      await page.getByText('Typing').waitFor();
      await reply(one, 1, textContent('Hola, Luz', { readMessageId }));
      await page.getByText('Hola, Luz').waitFor();
      await page.getByText('Typing').waitFor({ state: 'detached' });
    });
  });
});
