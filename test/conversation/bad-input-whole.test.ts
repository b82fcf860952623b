/** What no flow foresees, where the files are read by the program itself (D43). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { packedPdf } from '../documents/files.ts';
import { wholeChat } from '../support/whole-chat.ts';

const whole = await wholeChat();
const { json, run, runtime, statement, pdfEvent } = whole;
const chat = await whole.over(runtime);
type Applicant = Awaited<ReturnType<typeof chat.ana>>;

const last = async (ana: Applicant) => (await ana.replies()).at(-1)?.text ?? '';
const shown = (ana: Applicant) => run('conversation', 'show', `${ana.id}`).then(({ out }) => out);
async function send(ana: Applicant, ...files: Buffer[]): Promise<void> {
  const events = [];
  for (const bytes of files) events.push(await pdfEvent(ana, bytes));
  await chat.hear(...events);
  await chat.skipPause();
  await chat.settle();
}

it('D43: a PDF bomb is asked on like a file that a person has to read, and an operator decides on it', async () => {
  const ana = await chat.ana();
  await ana.tap();
  await ana.choose(0);
  await send(ana, packedPdf('BT /F1 9 Tf (x) Tj ET', 700_000_000));
  assert.match(await last(ana), /Recibimos tus archivos \(1\)/);
  await ana.write('Ya envié todo');
  assert.equal(await ana.place(), 'debts service');
  assert.match(await last(ana), /qué deudas quieres juntar/);
  const [document] = await json('document', 'list', '--application', `${ana.id}`);
  assert.match(`${document.state} ${document.reason}`, /^received reader_(memory|time)$/);
  assert.match(await shown(ana), /work: document operator/);
  await ana.write('Seguir sin esto');
  assert.equal(await ana.place(), 'checking operator');
  assert.match(await last(ana), /Una persona del equipo revisará tu caso/);
  await json('document', 'reject', `${document.id}`, '--reason', 'test');
  await json('conversation', 'give-back', `${ana.id}`);
  await chat.settle();
  assert.equal(await ana.place(), 'earnings service');
  await send(ana, statement());
  await ana.write('Ya envié todo');
  await ana.write('Banco Azul 5.700.000');
  await ana.write('Sí, está bien');
  assert.equal(await ana.place(), 'summary service');
});
