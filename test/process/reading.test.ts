/** A service is killed while it reads a picture by OCR: the next one reads it, once, and the chat goes on (D43). */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { madeUpFile } from '../../src/subjects/simulator/made-up-files.ts';
import { GIG_APPLICANT } from '../support/applicant.ts';
import { missingPdfTools } from '../support/pdf-tools.ts';
import { startWhatsAppApi } from '../support/whatsapp-api.ts';
import { chatOf } from './chat.ts';
import {
  addPartner,
  childrenOf,
  commandLine,
  isAlive,
  newDataDir,
  query,
  scratch,
  startService,
  submit,
  until,
} from './support.ts';

const PERSON = { ...GIG_APPLICANT, name: 'María Núñez', id_number: '1020304050', phone: '+573245550143' };

/** A photo of a statement that fits the application. */
function photo() {
  const { bytes } = madeUpFile('fitting', { ...PERSON, idNumber: PERSON.id_number }, new Date());
  const folder = scratch('photo');
  mkdirSync(folder);
  writeFileSync(`${folder}/a.pdf`, bytes);
  execFileSync('pdftoppm', ['-r', '150', '-png', '-singlefile', 'a.pdf', 'a'], { cwd: folder });
  return { bytes: readFileSync(`${folder}/a.png`), contentType: 'image/png', filename: 'foto.png' };
}

test('a killed service loses no file that it reads, and none is read or answered twice', {
  skip: missingPdfTools,
}, async () => {
  const [api, dataDir] = [await startWhatsAppApi(), newDataDir()];
  after(() => api.close());
  api.wrote.add(PERSON.phone);
  const apiKey = await addPartner(dataDir);
  const start = () =>
    startService(dataDir, { ...api.environment, CONTACT_WINDOWS_FILE: 'bench/always-open.json' });
  let service = await start();
  const chat = chatOf(api, () => service.url, PERSON.phone.slice(1));
  const { body } = await submit(service, apiKey, [PERSON]);
  await chat.begins(body.results[0].id);
  await chat.taps(await chat.next('the question for the consent', /¿autorizas a /), 0);
  await chat.next('the question for statements', /comprobantes de tus ingresos/);
  await chat.sendsFile('image', photo());

  const reader = await until('the reader of the picture', () =>
    childrenOf(service.nodePid).find((pid) => commandLine(pid)?.includes('image/png')),
  );
  await service.kill();
  const documents = () =>
    query(dataDir, 'SELECT state, reason, reading IS NOT NULL AS has_text FROM documents');
  assert.deepEqual(await documents(), [{ state: 'received', reason: null, has_text: false }]);
  await until('the reader to be gone', () => !isAlive(reader));

  // As if the half minute were over for which others leave the work of a dead process alone.
  await query(dataDir, 'UPDATE conversation_work SET leased_until = NULL, due_at = now()');
  service = await start();
  const receipt = await chat.next('the receipt of the photo', /Recibimos tus archivos \(1\)/);
  const left = async () => (await query(dataDir, 'SELECT work FROM conversation_work')).length;
  await until('the end of the reading', async () => (await left()) === 0);
  const [document, ...others] = await documents();
  assert.deepEqual(others, []);
  // What was guessed from a picture is a hint for an operator. A machine that is too busy for the reader says so.
  assert.equal(document.state, 'received');
  assert.ok(['low_confidence', 'reader_off', 'reader_time'].includes(document.reason), document.reason);
  await chat.taps(receipt, 0);
  await chat.next('the next step', /qué deudas quieres juntar/);
  assert.equal((await service.stop()).code, 0);
});
