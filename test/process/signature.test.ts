/**
 * From the webhook to the signature with every part as it is used: the service in a process of its own with its own
 * PostgreSQL, and HTTP peers that speak as the channel and as a provider of SMS do.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, it } from 'node:test';
import { madeUpFile } from '../../src/subjects/simulator/made-up-files.ts';
import { GIG_APPLICANT } from '../support/applicant.ts';
import { startWhatsAppApi, statusWebhook } from '../support/whatsapp-api.ts';
import { chatOf, textOf } from './chat.ts';
import { addPartner, newDataDir, startService, submit, ventanilla } from './support.ts';

const PERSON = { ...GIG_APPLICANT, name: 'María Ñáñez', id_number: '1020304050', phone: '+573245550142' };
const FROM = PERSON.phone.slice(1);

/** A provider of SMS, with what it was asked to send. */
async function startSms() {
  const sent: URLSearchParams[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    sent.push(new URLSearchParams(body));
    response.writeHead(201, { 'content-type': 'application/json' }).end('{"sid":"SM1","status":"queued"}');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { sent, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

it('D43 to D47: a person answers the offer in the chat and signs', async () => {
  const [api, sms, dataDir] = [await startWhatsAppApi(), await startSms(), newDataDir()];
  after(() => api.close());
  api.wrote.add(PERSON.phone);
  const apiKey = await addPartner(dataDir);
  const service = await startService(dataDir, {
    ...api.environment,
    CONTACT_WINDOWS_FILE: 'bench/always-open.json',
    CODE_WAY: 'sms',
    ...{ SMS_API_URL: sms.url, SMS_ACCOUNT_SID: 'AC1', SMS_AUTH_TOKEN: 'token', SMS_FROM: '+15005550006' },
  });
  const chat = chatOf(api, () => service.url, FROM);
  const { deliver, next, says, taps } = chat;

  const { body } = await submit(service, apiKey, [PERSON]);
  const [{ id, status }] = body.results;
  assert.equal(status, 'pending_signature');
  await chat.begins(id);
  await taps(await next('the question for the consent', /Acme[\s\S]*¿autorizas a /), 0);

  await next('the question for statements', /comprobantes de tus ingresos/);
  const owner = { ...PERSON, idNumber: PERSON.id_number };
  await chat.sendsFile('document', madeUpFile('fitting', owner, new Date()));
  await taps(await next('the receipt of the statement', /Recibimos tus archivos \(1\)/), 0);
  const reply = await next('the next step', /leyendo tus archivos|qué deudas quieres juntar/);
  if (reply.message.interactive === undefined) await next('debts', /qué deudas quieres juntar/);
  await says('Banco Azul 5.700.000');
  await taps(await next('the list of debts', /Banco Azul: \$ 5.700.000\nSuman \$ 5.700.000/), 0);
  await next('the word that the income is checked', /Estamos revisando/);
  await taps(
    await next(
      'the offer with its costs',
      /Cuota mensual[\s\S]*Tasa de interés efectiva anual[\s\S]*Valor total unificado/,
    ),
    0,
  );

  const contract = await next('the contract', /Este es tu contrato/);
  const pdf = api.media.files.get(contract.message.interactive?.header?.document.id ?? '');
  const sha256 = createHash('sha256').update(pdf!.bytes).digest('hex');
  assert.ok(textOf(contract).replaceAll(' ', '').includes(sha256), 'the words have the hash of the PDF');
  // A word counts from the second after the arrival on.
  const at = new Date(Date.now() - 2_000);
  await deliver(
    statusWebhook({ id: contract.id, status: 'read', callback: contract.callback, recipient: FROM, at }),
  );
  await says('acepto');
  await next('the question for the last four characters', /últimos cuatro caracteres/);
  await says(PERSON.id_number.slice(-4));
  await next('the word that a code is on its way', /enviando un código/);
  await next('the question for the code', /código de seis dígitos por SMS/);
  const [code] = /\b\d{6}\b/.exec(sms.sent[0]?.get('Body') ?? '') ?? [];
  assert.equal(sms.sent[0]?.get('To'), PERSON.phone);
  await says(`es ${code}`);
  await next('the signature', /quedó firmado/);

  const verified = await ventanilla(dataDir, 'contract', 'verify', `${id}`);
  // The PDF with its certificate page is made within a minute, which this test does not wait for.
  assert.match(verified.out, /^ok +evidence\nok +shown\nok +signature\n[\s\S]*^ok +state/m, verified.err);
  const feed = await fetch(`${service.url}/PRO/events?types=contract.signed`, {
    headers: { 'X-API-Key': apiKey },
  });
  const { events } = (await feed.json()) as { events: { data: { id: number } }[] };
  assert.deepEqual(
    events.map(({ data }) => data.id),
    [id],
  );
  assert.equal(api.readMarks.length > 0, true);
  for (const secret of [FROM, PERSON.id_number, PERSON.name, `${code}`]) {
    assert.ok(!`${service.out}${service.err}`.includes(secret), 'the log has nothing of the person');
  }
});
