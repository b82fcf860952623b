/** The list of debts in the chat, up to the contract that pays it (D52; docs/conversation.md, "The debts"). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApplicationId } from '../../src/domain/application/ids.ts';
import { readContract } from '../../src/subjects/signing/sql/contracts.ts';
import { APPROVED } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { missingPdfTools, pdfText } from '../support/pdf-tools.ts';
import { testSigning } from '../support/signing.ts';
import { signingChat } from '../support/signing-chat.ts';

const store = await testDatabase();
const { database } = store;
const signing = await testSigning(store);
const { codes, json, run, lastFourOf } = signing;
const chat = await signingChat(store, signing);
const { applicantAt, hear, settle, faults } = chat;
type Somebody = Awaited<ReturnType<typeof applicantAt>>;

async function atDebts(): Promise<Somebody> {
  const somebody = await applicantAt(APPROVED);
  await somebody.tap();
  await somebody.choose(0);
  await somebody.sendFile();
  await somebody.choose(0);
  assert.equal(await somebody.place(), 'debts service', String(faults));
  return somebody;
}

async function atSummary(): Promise<Somebody> {
  const somebody = await atDebts();
  await chat.tellDebts(somebody);
  assert.equal(await somebody.place(), 'summary service', String(faults));
  return somebody;
}

const last = async (somebody: Somebody) => (await somebody.replies()).at(-1)?.text ?? '';
const titles = async (somebody: Somebody) =>
  ((await somebody.replies()).at(-1)?.buttons ?? []).map(({ title }) => title);
const listOf = async ({ id }: Somebody): Promise<string[]> =>
  (await json('debt', 'list', `${id}`)).map(
    (debt: { creditor: string; balance: string; told_by: string }) =>
      `${debt.creditor} ${debt.balance} ${debt.told_by}`,
  );
const rowsOf = async ({ id }: Somebody) =>
  (await database.query('SELECT * FROM loan_debts WHERE application_id = $1', [id])).rows;
const why = async (somebody: Somebody) => (await somebody.row()).state.handedOver;

/** Whether a contract has these sentences, wherever its lines end. */
function assertSays(pdf: Uint8Array, sentences: readonly string[]): void {
  if (missingPdfTools !== false) return;
  const text = pdfText(pdf).replaceAll(/\s+/g, ' ');
  for (const sentence of sentences) assert.ok(text.includes(sentence), sentence);
}

describe('a list that is told (D52)', () => {
  it('is repeated with its sum, and counts when it is confirmed', async () => {
    const ana = await atDebts();
    await ana.write('Banco Azul 4.000.000\nNu 1,7 millones');
    assert.match(
      await last(ana),
      /Banco Azul: \$ 4\.000\.000\nNu: \$ 1\.700\.000\nSuman \$ 5\.700\.000\. ¿Está bien\?/,
    );
    assert.deepEqual(await titles(ana), ['Sí, está bien', 'Cambiar la lista']);
    await ana.choose(0);
    assert.match(await last(ana), /a tus acreedores: \$ 5\.700\.000; a ti: \$ 270\.000/);
    assert.deepEqual(await listOf(ana), ['Banco Azul 4000000 applicant', 'Nu 1700000 applicant']);
  });

  it('leaves no creditor and no amount in the state of the conversation', async () => {
    const ana = await atDebts();
    await ana.write('Banco Esmeralda 5.712.345');
    const { state } = await ana.row();
    assert.doesNotMatch(JSON.stringify(state), /Esmeralda|5\.?712/);
    assert.equal(state.debtList, 'told');
  });

  it('is replaced by the newest one, and the same list again changes nothing', async () => {
    const ana = await atDebts();
    await ana.write('Banco Azul 4.000.000');
    await ana.write('Banco Rojo 5.700.000');
    await ana.write('banco rojo: $5.700.000');
    assert.deepEqual(await listOf(ana), ['Banco Rojo 5700000 applicant']);
    assert.equal((await rowsOf(ana)).length, 2);
    await ana.choose(1);
    assert.match(await last(ana), /Escribe la lista completa otra vez/);
    await ana.write('Banco Verde 5.650.000');
    await ana.write('Sí, está bien');
    assert.equal(await ana.place(), 'summary service');
    assert.deepEqual(await listOf(ana), ['Banco Verde 5650000 applicant']);
  });

  it('is asked back by the number of the line, and nothing is stored', async () => {
    const ana = await atDebts();
    await ana.write('Banco Azul 4.000.000\nNu 1.700');
    assert.match(await last(ana), /No entendí bien estas líneas: 2/);
    await ana.write('Nu 1.700.000\nNU 1.700.000');
    assert.match(await last(ana), /repiten una deuda: 2/);
    await ana.write('Nu USD 1.700');
    assert.match(await last(ana), /otra moneda: 1/);
    await ana.write(Array.from({ length: 21 }, (_, index) => `Nu#${index + 100} 100.000`).join('\n'));
    assert.match(await last(ana), /hasta 20 deudas/);
    assert.deepEqual(await rowsOf(ana), []);
    assert.equal(await ana.place(), 'debts service');
  });

  it('comes to an operator after ten lists', async () => {
    const ana = await atDebts();
    for (let list = 1; list <= 11; list += 1) await ana.write(`Nu 1.${list + 100}.000`);
    assert.equal(await ana.place(), 'debts operator');
    assert.equal(await why(ana), 'debts');
    assert.equal((await rowsOf(ana)).length, 10);
  });

  it('of twenty debts is shown in part, and all of them count', async () => {
    const ana = await atDebts();
    const lines = Array.from(
      { length: 20 },
      (_, index) => `Cooperativa de Ahorro Número ${'I'.repeat(index + 1)} 285.000`,
    );
    await ana.write(lines.join('\n'));
    assert.match(await last(ana), /… \(\+10\)\nSuman \$ 5\.700\.000/);
    assert.equal((await listOf(ana)).length, 20);
  });

  it('counts once where its message comes twice, and where turns of it are repeated', async () => {
    const ana = await atDebts();
    const told = await ana.textEvent('Banco Azul 5.700.000');
    await hear(told, told);
    await hear(told);
    await settle();
    assert.equal((await rowsOf(ana)).length, 1);
  });

  it('keeps what an operator told, once', async () => {
    const ana = await atDebts();
    await signing.owe(ana.id as ApplicationId, 'Banco Azul', '3000000');
    await ana.write('Banco Azul #4711 3.000.000\nNu 2.700.000');
    assert.deepEqual(await listOf(ana), ['Banco Azul 3000000 operator', 'Nu 2700000 applicant']);
    assert.match(await last(ana), /Suman \$ 5\.700\.000/);
  });
});

describe('an operator looks first (D52)', () => {
  it('where nobody told debts, until the operator accepts that', async () => {
    const ana = await atDebts();
    await ana.write('Nu 5.700.000');
    await ana.choose(1);
    await ana.write('seguir sin esto');
    assert.deepEqual(await listOf(ana), [], 'what was told before does not count');
    assert.equal(await ana.place(), 'summary operator');
    assert.equal(await why(ana), 'debts_differ');
    assert.match(await last(ana), /Una persona/);
    await json('debt', 'accept', `${ana.id}`, '--reason', 'all is for the applicant');
    await json('conversation', 'give-back', `${ana.id}`);
    await settle();
    assert.match(await last(ana), /a tus acreedores: \$ 0; a ti: \$ 5\.970\.000/);
    const [act] = await json('audit', 'list', '--application', `${ana.id}`);
    assert.equal(act.act, 'conversation give-back');
  });

  it('where the sum is more than 10 % off; an accepted list that changes is looked at again', async () => {
    const ana = await atDebts();
    await ana.write('Nu 5.399.999');
    await ana.choose(0);
    assert.equal(await why(ana), 'debts_differ');
    await json('debt', 'accept', `${ana.id}`, '--reason', 'a part of the debts');
    await signing.owe(ana.id as ApplicationId, 'Banco Azul', '1');
    await json('conversation', 'give-back', `${ana.id}`);
    await settle();
    assert.equal(await ana.place(), 'summary service', 'exactly 10 % off needs nobody');
    const [{ id: debt }] = (await json('debt', 'list', `${ana.id}`)).slice(-1);
    await json('debt', 'remove', `${ana.id}`, `${debt}`);
    await ana.choose(0);
    assert.equal(await ana.place(), 'summary service', 'the former list was accepted');
    await json('debt', 'remove', `${ana.id}`, `${(await json('debt', 'list', `${ana.id}`))[0].id}`);
    await ana.choose(0);
    assert.equal(await ana.place(), 'contract operator');
    assert.equal(await why(ana), 'debts_differ');
  });

  it('where the debts are above what is paid out; that cannot be accepted', async () => {
    const ana = await atDebts();
    await ana.write('Nu 6.000.000');
    await ana.choose(0);
    assert.equal(await why(ana), 'debts_above_net');
    await json('debt', 'accept', `${ana.id}`, '--reason', 'as it is');
    await json('conversation', 'give-back', `${ana.id}`);
    await settle();
    assert.equal(await ana.place(), 'summary operator');
    const [{ id: debt }] = await json('debt', 'list', `${ana.id}`);
    await json('debt', 'remove', `${ana.id}`, `${debt}`);
    await signing.owe(ana.id as ApplicationId, 'Nu', '5970000');
    await json('conversation', 'give-back', `${ana.id}`);
    await settle();
    assert.match(await last(ana), /a tus acreedores: \$ 5\.970\.000; a ti: \$ 0/);
  });

  it('not where the brand leaves the step out: nothing is consolidated', async () => {
    const { bytes } = await signing.make(await signing.beginWithoutDebts());
    assertSays(bytes, [
      'Deudas que paga el crédito: ninguna; el crédito no paga deudas con otros acreedores.',
      'Valor que recibe el deudor: $ 5.970.000.',
    ]);
  });
});

describe('a list that changes after the offer (D52)', () => {
  it('is not taken by itself: the person hears that a person changes it', async () => {
    const ana = await atSummary();
    await ana.write('Banco Azul 5.500.000');
    assert.match(await last(ana), /Para cambiarlas, escribe ASESOR[\s\S]*¿Quieres ver el contrato/);
    await ana.choose(0);
    await ana.write('Nu 5.500.000');
    assert.match(await last(ana), /Para cambiarlas, escribe ASESOR/);
    assert.deepEqual(await listOf(ana), ['Banco Azul 5700000 applicant']);
  });

  it('shows the offer again before the contract', async () => {
    const ana = await atSummary();
    await signing.owe(ana.id as ApplicationId, 'Nu', '100000');
    await ana.choose(0);
    assert.equal(await ana.place(), 'summary service', String(faults));
    assert.match((await ana.replies()).at(-2)?.text ?? '', /condiciones cambiaron/);
    assert.match(await last(ana), /acreedores: \$ 5\.800\.000; a ti: \$ 170\.000/);
    await ana.choose(0);
    assert.equal(await ana.place(), 'contract service', String(faults));
  });

  it('lets nobody sign the contract that was shown, at whatever step', async () => {
    for (const isCodeSent of [false, true]) {
      const ana = await atSummary();
      await ana.choose(0);
      await ana.choose(0);
      if (isCodeSent) await ana.write(await lastFourOf(ana.id as ApplicationId));
      await signing.owe(ana.id as ApplicationId, 'Nu', '100000');
      if (isCodeSent) await ana.write(codes.last);
      await ana.write(await lastFourOf(ana.id as ApplicationId));
      assert.equal(await ana.place(), 'summary service', String(faults));
      assert.match(await last(ana), /acreedores: \$ 5\.800\.000/);
      await ana.choose(0);
      await ana.choose(0);
      await ana.write(await lastFourOf(ana.id as ApplicationId));
      await ana.write(codes.last);
      assert.equal(await ana.place(), 'signed service', String(faults));
      const contract = await readContract(database, ana.id as ApplicationId);
      assert.equal(contract?.terms.offer.paying?.debts.length, 2);
      assert.equal(contract?.terms.offer.paying?.toApplicant, '170000');
    }
  });
});

it('the signed contract names the debts, which stay with it: no change, no erasure, no term of others (D52)', async () => {
  const ana = await atSummary();
  await signing.owe(ana.id as ApplicationId, 'Nu', '100000');
  const [{ id: gone }] = (await json('debt', 'list', `${ana.id}`)).slice(-1);
  await json('debt', 'remove', `${ana.id}`, `${gone}`);
  await ana.choose(0);
  if ((await ana.place()) === 'summary service') await ana.choose(0);
  await ana.choose(0);
  await ana.write(await lastFourOf(ana.id as ApplicationId));
  await ana.write(codes.last);
  assert.equal(await ana.place(), 'signed service', String(faults));
  const shown = (await ana.replies()).find(({ document }) => document)?.document?.mediaId ?? '';
  assertSays(chat.simulator.files.get(shown)!.bytes, [
    'el deudor encarga al acreedor que las pague en su nombre con este crédito: Banco Azul: $ 5.700.000.',
    'Valor que recibe el deudor: $ 270.000.',
  ]);
  assert.match(
    (await run('debt', 'add', `${ana.id}`, '--creditor', 'Nu', '--balance', '50000')).err,
    /is signed/,
  );
  const { phone } = await json('application', 'show', `${ana.id}`, '--reveal', '--reason', 'test');
  await json('subject', 'erase', '--phone', phone, '--reason', 'asked', '--close', '--yes');
  const left = await rowsOf(ana);
  assert.deepEqual(
    left.map(({ told_by, removed_at }) => [told_by, removed_at]),
    [['applicant', null]],
  );
});
