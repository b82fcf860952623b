/** Debts that are read in a statement, from the file to the list (D52; docs/conversation.md, "The debts"). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import type { ApplicationId } from '../../src/domain/application/ids.ts';
import { performerOf, signingOf } from '../../src/subjects/conversation/uses/neighbours.ts';
import { takeTurns } from '../../src/subjects/conversation/uses/turns.ts';
import { readContract } from '../../src/subjects/signing/sql/contracts.ts';
import { ANA, documentStage, newestMonths } from '../documents/support.ts';
import { APPROVED } from '../support/applicant.ts';
import { beforeStatement } from '../support/before-statement.ts';
import { conversationsOf, goodPerformer } from '../support/conversations.ts';
import { type DebtsStatement, debtsPdf } from '../support/debts-statement.ts';
import { eventually } from '../support/eventually.ts';
import { testSigning } from '../support/signing.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

const stage = await documentStage();
const { database, vault, simulator, json, run } = stage;
const signing = await testSigning(stage);
/** What the statements are read by. */
let { layouts } = stage.context;
const { offer, makeContract, sendCode, readDocument } = performerOf({
  documents: {
    ...stage.context,
    get layouts() {
      return layouts;
    },
  },
  income: undefined as never,
  ...{ signing: signing.context, channel: simulator },
});
const chat = await conversationsOf(stage, stage.keyId, {
  performer: goodPerformer({
    ...{ offer, makeContract, sendCode },
    // Statements of earnings are not what is tested here.
    readDocument: async (order, file) => (file.purpose === 'debts' ? readDocument(order, file) : 'accepted'),
  }),
  signing: signingOf(vault),
});
const { faults } = chat;
const { today } = await newestMonths(database);
const [year = '', month = ''] = today.split('-');
/** A day that is over everywhere. */
const AS_OF = `01/${month}/${Number(year) - 1}`;
type Somebody = Awaited<ReturnType<typeof chat.applicantAt>>;

async function atDebts(changes: object = {}): Promise<Somebody> {
  const ana = await chat.applicantAt({ ...APPROVED, name: ANA.name, id_number: ANA.idNumber, ...changes });
  await ana.tap();
  await ana.choose(0);
  await ana.sendFile();
  await ana.choose(0);
  assert.equal(await ana.place(), 'debts service', String(faults));
  return ana;
}

const ROWS = [
  ['Banco Azul', '4711', '$ 4.000.000'],
  ['Nu', '118', '$ 1.700.000', `01/${month}/${Number(year) - 2}`],
];
/** A file of its own. */
const statement = (changes: Partial<DebtsStatement> = {}) =>
  Buffer.concat([
    debtsPdf({ ...ANA, asOf: AS_OF, rows: ROWS, total: '$ 5.700.000', ...changes }),
    Buffer.from(`\n%${randomUUID()}`),
  ]);
const fileOf = (ana: Somebody, bytes: Buffer) =>
  ana.fileEvent(simulator.files.keep({ bytes, contentType: 'application/pdf', filename: 'deudas.pdf' }));
async function send(ana: Somebody, ...files: Buffer[]): Promise<void> {
  for (const bytes of files) await chat.hear(await fileOf(ana, bytes));
  await chat.skipPause();
  await chat.settle();
}
const last = async (ana: Somebody) => (await ana.replies()).at(-1)?.text ?? '';
const listOf = async ({ id }: Somebody, ...more: string[]): Promise<string[]> =>
  (await json('debt', 'list', `${id}`, ...more)).map(
    (debt: { creditor: string; balance: string; told_by: string }) =>
      `${debt.creditor} ${debt.balance} ${debt.told_by}`,
  );
const documentOf = async ({ id }: Somebody) => (await json('document', 'list', '--application', `${id}`))[0];
const decide = async (act: 'accept' | 'reject', document: number) => {
  await json('document', act, `${document}`, '--reason', 'test', '--as', 'ana');
  await chat.settle();
};
const READ = ['Banco Azul 4000000 document', 'Nu 1700000 document'];

describe('a statement that counts (D52)', () => {
  it('puts its debts on the list, which is repeated with its sum and counts when it is confirmed', async () => {
    const ana = await atDebts();
    await send(ana, statement());
    assert.match(
      await last(ana),
      /Banco Azul: \$ 4\.000\.000\nNu: \$ 1\.700\.000\nSuman \$ 5\.700\.000\. ¿Está bien\?/,
    );
    const { id, reason } = await documentOf(ana);
    assert.equal(reason, 'read');
    const debts = await json('debt', 'list', `${ana.id}`);
    const [, second] = debts;
    assert.deepEqual(
      [second.document_id, second.reference, second.as_of, second.overdue_since, second.added_by],
      [id, '118', `${Number(year) - 1}-${month}-01`, `${Number(year) - 2}-${month}-01`, 'document'],
    );
    assert.deepEqual(await listOf(ana), READ);
    await ana.choose(0);
    assert.match(await last(ana), /a tus acreedores: \$ 5\.700\.000; a ti: \$ 270\.000/);
    assert.doesNotMatch(JSON.stringify((await ana.row()).state), /Azul|4\.?000/);
  });

  it('counts once where its message or its file comes again', async () => {
    const ana = await atDebts();
    const bytes = statement();
    const event = await fileOf(ana, bytes);
    await chat.hear(event, event);
    await chat.skipPause();
    await chat.settle();
    await send(ana, bytes);
    assert.deepEqual(await listOf(ana, '--all'), READ);
  });

  it('doubles no debt that the person told, and takes back that the list was right', async () => {
    const ana = await atDebts();
    await ana.write('banco azúl #4711 4.000.000');
    await chat.hear(await fileOf(ana, statement()));
    await chat.skipPause();
    await ana.write('Sí, está bien');
    assert.equal(await ana.place(), 'debts service', String(faults));
    assert.deepEqual(await listOf(ana), ['banco azúl 4000000 applicant', 'Nu 1700000 document']);
    assert.match(await last(ana), /Suman \$ 5\.700\.000\. ¿Está bien\?/);
  });

  it('takes the place of a debt that the person told without its number', async () => {
    const ana = await atDebts();
    await ana.write('banco azúl 4.000.000\nBanco Verde 200.000');
    await send(ana, statement());
    assert.deepEqual(await listOf(ana), ['Banco Verde 200000 applicant', ...READ]);
    assert.match(await last(ana), /Suman \$ 5\.900\.000\. ¿Está bien\?/);
    assert.deepEqual((await listOf(ana, '--all')).length, 4, 'what was told stays in the record');
  });

  it('is replaced by a list that is told later, also where the file comes again', async () => {
    const ana = await atDebts();
    const bytes = statement();
    await send(ana, bytes);
    await ana.write('Banco Verde 5.650.000');
    await send(ana, bytes);
    assert.deepEqual(await listOf(ana), ['Banco Verde 5650000 applicant']);
  });

  it('adds to another statement', async () => {
    const ana = await atDebts();
    await send(ana, statement(), statement({ rows: [['Banco Rojo', '9', '$ 100.000']], total: '$ 100.000' }));
    assert.deepEqual(await listOf(ana), [...READ, 'Banco Rojo 100000 document']);
    assert.match(await last(ana), /Suman \$ 5\.800\.000\. ¿Está bien\?/);
  });

  it('that is read after the person confirmed a list asks again, also where an operator speaks meanwhile', async () => {
    for (const isHeld of [false, true]) {
      const ana = await atDebts();
      await ana.write('Banco Rojo 100.000');
      await chat.hear(await fileOf(ana, statement()));
      await chat.skipPause();
      await takeTurns(chat.context);
      await chat.hear(await ana.textEvent('Sí, está bien'));
      await chat.skipPause();
      await takeTurns(chat.context);
      assert.equal((await ana.row()).state.debtList, 'confirmed');
      if (isHeld) await chat.hear(await ana.textEvent('ASESOR'));
      await chat.skipPause();
      await takeTurns(chat.context);
      assert.equal(await ana.place(), isHeld ? 'debts operator' : 'debts service');
      await chat.settle();
      if (isHeld) await json('conversation', 'give-back', `${ana.id}`);
      await chat.settle();
      assert.equal(await ana.place(), 'debts service', String(faults));
      if (!/Suman/.test(await last(ana))) await ana.write('Ya envié todo');
      assert.match(await last(ana), /Banco Rojo[\s\S]*Suman \$ 5\.800\.000\. ¿Está bien\?/);
    }
  });

  it('that is read after the person went on without debts adds none', async () => {
    const ana = await atDebts();
    await chat.hear(await fileOf(ana, statement()));
    await chat.skipPause();
    await ana.write('seguir sin esto');
    await chat.settle();
    assert.deepEqual(await listOf(ana), []);
  });
});

describe('an operator looks first (D52)', () => {
  const CASES: readonly [what: string, changes: Partial<DebtsStatement>, reason: string][] = [
    ['the rows do not add up to the total', { total: '$ 5.800.000' }, 'total_differs'],
    ['it is another person’s', { name: 'Luis Ruiz', idNumber: '77777777' }, 'another_holder'],
  ];
  for (const [what, changes, reason] of CASES)
    it(`where ${what}; an accepted document puts its debts on the list, once`, async () => {
      const ana = await atDebts();
      await send(ana, statement(changes));
      const document = await documentOf(ana);
      assert.deepEqual([document.reason, document.state], [reason, 'received']);
      assert.deepEqual(await listOf(ana), []);
      await decide('accept', document.id);
      assert.deepEqual(await listOf(ana), READ);
      const [{ added_by: by }] = await json('debt', 'list', `${ana.id}`);
      assert.equal(by, 'ana');
      assert.match(
        (await run('document', 'accept', `${document.id}`, '--reason', 'x')).err,
        /accepted already/,
      );
      await ana.write('Ya envié todo');
      assert.match(await last(ana), /Suman \$ 5\.700\.000\. ¿Está bien\?/);
    });

  it('where the balances are in another currency than the application', async () => {
    const ana = await atDebts();
    layouts = layouts.map((layout) => (layout.kind === 'debts' ? { ...layout, currency: 'MXN' } : layout));
    await send(ana, statement());
    ({ layouts } = stage.context);
    assert.deepEqual(await listOf(ana), []);
    assert.equal(await ana.place(), 'debts operator');
    assert.equal((await ana.row()).state.handedOver, 'debts');
  });

  it('where the list breaks a rule, and then none of its debts is taken', async () => {
    const twice = ['Nu', '118', '$ 2.850.000'];
    const tomorrow = `01/${month}/${Number(year) + 1}`;
    for (const changes of [{ rows: [twice, twice] }, { asOf: tomorrow }]) {
      const ana = await atDebts();
      await send(ana, statement(changes));
      assert.deepEqual(await listOf(ana, '--all'), []);
      assert.equal(await ana.place(), 'debts operator', JSON.stringify(changes));
    }
    const ana = await atDebts();
    await send(ana, statement({ rows: [twice, twice], total: '$ 1' }));
    const { id } = await documentOf(ana);
    const { err } = await run('document', 'accept', `${id}`, '--reason', 'x');
    assert.match(err, /cannot take the debts of document \d+: debts has this debt already/);
    assert.equal((await documentOf(ana)).state, 'received', 'nothing is half done');
  });
});

describe('a rejected statement (D52)', () => {
  it('takes its debts off the list and closes the contract that is shown; accepted again it puts them back', async () => {
    const ana = await atDebts();
    await signing.owe(ana.id as ApplicationId, 'Banco Gris', '100000');
    await send(ana, statement());
    for (let step = 0; step < 2; step += 1) await ana.choose(0);
    assert.equal(await ana.place(), 'contract service', String(faults));
    assert.equal((await readContract(database, ana.id as ApplicationId))?.state, 'open');
    const { id } = await documentOf(ana);
    await decide('reject', id);
    assert.equal(await readContract(database, ana.id as ApplicationId), null, 'nobody can sign it');
    assert.deepEqual(await listOf(ana), ['Banco Gris 100000 operator']);
    const gone = (await json('debt', 'list', `${ana.id}`, '--all')).filter(
      ({ removed_by: by }: { removed_by: string | null }) => by === 'ana',
    );
    assert.equal(gone.length, 2);
    await decide('accept', id);
    assert.deepEqual(await listOf(ana), ['Banco Gris 100000 operator', ...READ]);
  });

  it('that is rejected before its turn adds no debt', async () => {
    const ana = await atDebts();
    await chat.hear(await fileOf(ana, statement()));
    await chat.skipPause();

    await takeTurns(chat.context);
    await chat.perform('files');
    await decide('reject', (await documentOf(ana)).id);
    assert.deepEqual(await listOf(ana, '--all'), []);
  });
});

it('a rejection waits for the turn that puts the debts on the list, and takes them off again (D52)', async () => {
  const ana = await atDebts();
  await chat.hear(await fileOf(ana, statement()));
  await chat.skipPause();
  await takeTurns(chat.context);
  await chat.perform('files');
  const { id } = await documentOf(ana);
  let rejected: Promise<unknown> | undefined;
  const begin = async () => {
    rejected = json('document', 'reject', `${id}`, '--reason', 'test');
    await eventually('the decision waits for the turn', async () => {
      const waiting = await waitingSessions(database);
      return waiting.some(({ query }) => query.includes('FROM conversations')) || undefined;
    });
  };
  await takeTurns({
    ...chat.context,
    database: beforeStatement(chat.context.database, 'write_turns', begin),
  });
  await rejected;
  await chat.settle();
  assert.deepEqual([await listOf(ana), await listOf(ana, '--all')], [[], READ]);
  assert.deepEqual(faults, []);
});

it('what was read is shown masked, and revealed with a reason (D52)', async () => {
  const ana = await atDebts();
  await send(ana, statement());
  const { id } = await documentOf(ana);
  const [masked] = (await json('document', 'show', `${id}`)).debts;
  assert.doesNotMatch(JSON.stringify(masked), /Azul|4711|4000000/);
  const [debt] = (await json('document', 'show', `${id}`, '--reveal', '--reason', 'test')).debts;
  assert.deepEqual([debt.creditor, debt.reference, debt.balance], ['Banco Azul', '4711', '4000000']);
});
