/** The final schedule comes into the chat after the payment, once, with the days of the installments (D46). */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import type { ApplicationId } from '../../src/domain/application/ids.ts';
import { addMonths, localDate } from '../../src/domain/loan/local-day.ts';
import { finalSchedule } from '../../src/subjects/signing/uses/final-schedule.ts';
import { verifyContract } from '../../src/subjects/signing/uses/verify-contract.ts';
import { testDatabase } from '../support/database.ts';
import { missingPdfTools, pdfText } from '../support/pdf-tools.ts';
import { testSigning } from '../support/signing.ts';
import { signingChat } from '../support/signing-chat.ts';

const store = await testDatabase();
const { database } = store;
const signing = await testSigning(store);
const { context, json, run, folder, lineOptions } = signing;
const chat = await signingChat(store, signing);
const { settle, faults, simulator, signed } = chat;
type Somebody = Awaited<ReturnType<typeof signed>>;

const OVERRIDE = ['--override', '--second', 'Luis', '--as', 'ana', '--reason', 'ticket 1'];
const pay = async ({ id }: Somebody, ...more: string[]) =>
  json('application', 'disburse', `${id}`, ...(await lineOptions(id)), ...OVERRIDE, ...more);

/** The final schedules in the chat. */
async function schedules(somebody: Somebody) {
  const replies = await somebody.replies();
  return replies
    .filter(({ document }) => document?.filename.endsWith('-schedule.pdf'))
    .map(({ text, document }) => ({ text, file: simulator.files.get(document!.mediaId)! }));
}
const faultsOf = async (id: number) =>
  (await verifyContract(context, id as ApplicationId))!.checks.filter(({ fault }) => fault !== null);

it('D46: the payment brings the final schedule into the chat, byte for byte as operators write it', async () => {
  const ana = await signed();
  await pay(ana);
  await settle();
  const [schedule, ...more] = await schedules(ana);
  assert.ok(schedule, String(faults));
  assert.equal(more.length, 0);
  assert.match(schedule.text, /ya se desembolsó. Este es el calendario final/);
  const path = join(folder, 'schedule.pdf');
  const installments = await json('contract', 'schedule', `${ana.id}`, '--output', path);
  assert.deepEqual(schedule.file.bytes, await readFile(path));
  const { offer, evidence } = await json('contract', 'show', `${ana.id}`);
  const { rows } = await database.query<{ now: Date }>('SELECT now()');
  const today = localDate(rows[0]!.now, 'America/Bogota');
  assert.equal(installments.length, offer.months);
  assert.deepEqual(
    installments.map(({ due }: { due: string }) => due),
    Array.from({ length: offer.months }, (_, month) => addMonths(today, month + 1)),
  );
  const total = installments.reduce(
    (sum: number, { payment }: { payment: string }) => sum + Number(payment),
    0,
  );
  assert.equal(total, Number(offer.total));
  assert.equal(evidence.at(-1).kind, 'schedule_made');
  assert.deepEqual(await faultsOf(ana.id), []);
  await ana.write('hola');
  assert.equal((await schedules(ana)).length, 1, 'once');
});

it('D46: the installments count from the latest value date of the payment', async () => {
  const ana = await signed();
  const { offer } = await json('contract', 'show', `${ana.id}`);
  const { rows } = await database.query<{ day: string }>(
    "SELECT to_char(now() AT TIME ZONE 'America/Bogota', 'YYYY-MM-DD') AS day",
  );
  const today = rows[0]!.day;
  const next = new Date(Date.parse(today) + 2 * 86_400_000).toISOString().slice(0, 10);
  const line = (payee: string, amount: string, day: string) => [
    '--line',
    `payee=${payee};amount=${amount};reference=${payee};value-date=${day}`,
  ];
  await json(
    'application',
    'disburse',
    `${ana.id}`,
    ...line('Banco Azul', offer.paying.creditors, next),
    ...line('applicant', offer.paying.toApplicant, today),
    ...OVERRIDE,
  );
  const [first] = await json('contract', 'schedule', `${ana.id}`);
  assert.equal(first.due, addMonths(next, 1));
});

it('D46: a schedule that did not arrive comes again with the next message', async () => {
  const eva = await signed();
  await pay(eva);
  await settle();
  const turn = (await eva.replies()).findLastIndex(({ document }) => document !== undefined);
  await database.query(
    `UPDATE replies SET status = 'failed', delivered_at = NULL WHERE application_id = $1
     AND turn = (SELECT turn FROM replies WHERE application_id = $1 ORDER BY turn OFFSET $2 LIMIT 1)`,
    [eva.id, turn],
  );
  await eva.write('gracias');
  assert.equal((await schedules(eva)).length, 2);
  await eva.write('hola');
  assert.equal((await schedules(eva)).length, 2);
});

it('D43: outside of the channel’s window the schedule waits for the next message', async () => {
  const leo = await signed();
  await database.query(
    "UPDATE conversations SET heard_at = heard_at - interval '25 hours' WHERE application_id = $1",
    [leo.id],
  );
  await pay(leo);
  await settle();
  assert.equal((await schedules(leo)).length, 0);
  await leo.write('hola');
  assert.equal((await schedules(leo)).length, 1);
});

it('D43: a person who wants no messages gets none, and the schedule is there for operators', async () => {
  const ida = await signed();
  await ida.write('STOP');
  await pay(ida);
  await settle();
  assert.equal((await schedules(ida)).length, 0);
  const made = await finalSchedule(context, ida.id as ApplicationId);
  assert.ok(typeof made === 'object');
  assert.deepEqual(await faultsOf(ida.id), []);
});

it('D46: it stays after the person is erased, and the export of a person has the lines', async () => {
  const ana = await signed();
  await pay(ana);
  await settle();
  const exported = await run(
    'subject',
    'export',
    '--phone',
    ana.phone,
    '--reveal',
    '--reason',
    'test',
    '--json',
  );
  assert.equal(exported.code, 0, exported.err);
  const { applications } = JSON.parse(exported.out);
  const one = applications.find(({ id }: { id: number }) => id === ana.id);
  assert.deepEqual(
    one.payment_lines.map(({ payee, reference }: Record<string, string>) => [payee, reference]),
    [
      ['Banco Azul', `TR-${ana.id}-0`],
      ['applicant', `TR-${ana.id}-1`],
    ],
  );
  await json('subject', 'erase', '--phone', ana.phone, '--reason', 'asked', '--yes');
  assert.equal((await json('disbursement', 'list', `${ana.id}`)).length, 2);
  assert.deepEqual(await faultsOf(ana.id), []);
});

it('D46: verify tells a schedule of another day, and another file', async () => {
  const ana = await signed();
  await pay(ana);
  await settle();
  const attack = (set: string) =>
    database.query(
      `ALTER TABLE loan_contracts DISABLE TRIGGER USER; UPDATE loan_contracts SET ${set} WHERE application_id = ${ana.id}; ALTER TABLE loan_contracts ENABLE TRIGGER USER`,
    );
  await attack('disbursed_on = disbursed_on + 1');
  assert.match((await faultsOf(ana.id))[0]?.fault ?? '', /count from another day/);
  await attack("disbursed_on = disbursed_on - 1, schedule_sha256 = '\\x01'");
  assert.match((await faultsOf(ana.id))[0]?.fault ?? '', /another one than the evidence tells of/);
});

it('D45: a contract of before this change is paid out without a schedule, and verifies', async () => {
  const ana = await signed();
  await database.query(
    `ALTER TABLE loan_contracts DISABLE TRIGGER USER;
     UPDATE loan_contracts SET terms = terms - 'payments' - 'limitedRate' WHERE application_id = ${ana.id};
     ALTER TABLE loan_contracts ENABLE TRIGGER USER`,
  );
  await pay(ana);
  await settle();
  assert.equal((await schedules(ana)).length, 0);
  assert.match((await run('contract', 'schedule', `${ana.id}`)).err, /has no final schedule/);
  assert.deepEqual(await faultsOf(ana.id), []);
  assert.equal(await ana.place(), 'signed service', String(faults));
});

it('D46: pdftotext reads the days of the schedule', { skip: missingPdfTools }, async () => {
  const ana = await signed();
  await pay(ana);
  const made = await finalSchedule(context, ana.id as ApplicationId);
  assert.ok(typeof made === 'object');
  const text = pdfText(made.bytes);
  assert.match(text, /Calendario final de pagos/);
  for (const { due } of await json('contract', 'schedule', `${ana.id}`)) assert.ok(text.includes(due), due);
});
