/** A person connects an account in the chat: link, code and income of a provider, on a real store (D43, D44). */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { forgetRows } from '../../src/ground/postgres/forget.ts';
import { performerOf } from '../../src/subjects/conversation/uses/neighbours.ts';
import { openIncome } from '../../src/subjects/income/open.ts';
import { belvoProvider } from '../../src/subjects/income/sources/belvo.ts';
import { stepIdentity } from '../../src/subjects/income/sql/income-steps.ts';
import { INCOME_STEPS } from '../../src/subjects/income/sql/tables.ts';
import { commandLine } from '../cli/harness.ts';
import {
  type Answers,
  GOOD,
  INCOMES,
  OWNER,
  page,
  STREAM,
  startBelvoApi,
  TOKEN,
} from '../income/belvo-api.ts';
import { conversationsOf, goodPerformer } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';

const store = await testDatabase();
const { database, vault, runtime } = store;
const { json, run } = commandLine(store);
const api = await startBelvoApi();
after(() => api.close());
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const brandDir = mkdtempSync(join(tmpdir(), 'ventanilla-source-steps-'));
after(() => rmSync(brandDir, { recursive: true }));
const brand = join(brandDir, 'brand.json');
writeFileSync(brand, '{"conversation": {"steps": {"connect": true, "debts": false}}}');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`, '--brand', brand);

const income = {
  ...openIncome(({ read }) => read(undefined, { dataDir: '/', ownDatabase: true }), {
    database: runtime,
    vault,
    clock: machineClock,
  }),
  provider: belvoProvider(api.account),
};
const real = performerOf({
  income,
  documents: null as never,
  signing: null as never,
  channel: null as never,
});
const performer = goodPerformer({ checkIncome: real.checkIncome, answerSource: real.answerSource });
const chat = await conversationsOf(store, key, { performer });

/** The income that the applicants of these tests declare, told of months that count now. */
const today = new Date((await database.query<{ now: Date }>('SELECT now()')).rows[0]!.now);
const DECLARED = 3_200_000;
const earned = (amount: number) => ({
  ...INCOMES,
  income_streams: [
    { ...STREAM, monthly_average: amount, monthly_median: amount, last_income_date: dayOf(today) },
  ],
});
function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}
const answersOf = (changes: Answers = {}): Answers => ({
  ...GOOD,
  'POST incomes': { status: 201, body: earned(DECLARED) },
  'PATCH incomes': { status: 200, body: [earned(DECLARED)] },
  ...changes,
});
const NOT_YET = { 'GET links': { status: 200, body: page() } };
const ASKS_CODE = { 'POST incomes': { status: 428, body: TOKEN } };

/** A person who got the link. */
async function atLink() {
  api.answers = answersOf();
  const person = await chat.applicantAt({ name: 'Ana Pérez Gómez', id_number: '52345678', income: DECLARED });
  await person.tap();
  await person.write('sí');
  await person.choose(0);
  return person;
}
const lastText = async (person: Awaited<ReturnType<typeof atLink>>) =>
  (await person.replies()).at(-1)?.text ?? '';
const checked = async (id: number) =>
  (
    await database.query('SELECT outcome, reason, method FROM income_checks WHERE application_id = $1', [id])
  ).rows.at(-1);
const steps = async (id: number) =>
  (await database.query('SELECT session FROM income_steps WHERE application_id = $1', [id])).rows;
/** Everything that the store has of a person, as text: what is sealed cannot be found in it. */
async function storedText(id: number): Promise<string> {
  const tables = [
    'conversations',
    'conversation_inputs',
    'conversation_work',
    'replies',
    'income_steps',
    'income_checks',
  ];
  const texts = tables.map(async (table) => {
    const { rows } = await database.query(
      `SELECT t::text || encode(convert_to(t::text, 'UTF8'), 'escape') AS text FROM ${table} t WHERE application_id = $1`,
      [id],
    );
    return rows.map(({ text }) => text).join('\n');
  });
  return (await Promise.all(texts)).join('\n');
}
/** What the person wrote, as the store can still open it. */
const writtenBy = async (id: number) => {
  const shown = await json('conversation', 'show', `${id}`, '--reveal', '--reason', 'test');
  return shown.inputs.filter(({ source }: { source: string }) => source === 'person');
};

describe('D44: an account connected in the chat', () => {
  it('is checked as the income, and link and session are sealed', async () => {
    const person = await atLink();
    const text = await lastText(person);
    const { href, searchParams } = new URL(/https:\S+$/.exec(text)![0]);
    assert.equal(searchParams.get('access_token'), 'access.token');
    assert.equal(await person.place(), 'checking service');
    const stored = await storedText(person.id);
    for (const secret of ['access.token', searchParams.get('external_id')!, href])
      assert.ok(!stored.includes(secret) && !stored.includes(Buffer.from(secret).toString('hex')));
    const [row] = await steps(person.id);
    assert.match(vault.open(row.session, stepIdentity(toApplicationId(person.id))).toString(), /person/);

    await person.write('listo');
    assert.equal(await person.place(), 'checking service');
    assert.deepEqual(await checked(person.id), {
      outcome: 'confirmed',
      reason: 'confirmed',
      method: 'provider',
    });
    assert.deepEqual(await steps(person.id), []);
    assert.deepEqual(await person.events(), ['conversation.started', 'income.verified confirmed']);
  });

  it('gets another link as long as nothing is connected, and then an operator', async () => {
    const person = await atLink();
    api.answers = answersOf(NOT_YET);
    const first = await lastText(person);
    for (let count = 0; count < 4; count += 1) {
      await person.write('listo');
      assert.match(await lastText(person), /Todavía no pudimos.*\n\nhttps:/s);
    }
    const external = (text: string) => new URL(/https:\S+$/.exec(text)![0]).searchParams.get('external_id');
    assert.equal(external(await lastText(person)), external(first));
    await person.write('listo');
    assert.equal(await person.place(), 'checking operator');
    assert.equal((await person.row()).state.handedOver, 'source');
    api.answers = answersOf();
    await run('conversation', 'give-back', `${person.id}`);
    await chat.settle();
    assert.equal((await checked(person.id)).reason, 'confirmed');
  });

  it('of somebody else, or of nobody who is named, goes to an operator', async () => {
    const cases = [
      [{ ...OWNER, display_name: 'Luis Torres Ríos' }, 'another_holder'],
      [{ id: OWNER.id, link: OWNER.link }, 'holder_not_found'],
    ] as const;
    for (const [owner, reason] of cases) {
      const person = await atLink();
      api.answers = answersOf({ 'GET owners': { status: 200, body: page(owner) } });
      await person.write('listo');
      assert.deepEqual(
        [(await checked(person.id)).reason, await person.place()],
        [reason, 'checking operator'],
      );
    }
  });

  it('takes the code of the bank, which the provider alone gets, and keeps none of it', async () => {
    const person = await atLink();
    api.answers = answersOf(ASKS_CODE);
    await person.write('listo');
    assert.match(await lastText(person), /Tu banco te envió un código/);
    await person.write('mi código es 918273');
    assert.equal((api.requests.at(-1)!.body as { token: string }).token, '918273');
    assert.equal((await checked(person.id)).reason, 'confirmed');
    const written = await writtenBy(person.id);
    assert.ok(!JSON.stringify(written).includes('918273'));
    assert.equal(written.at(-1).kind, 'handed_on');
    assert.ok(!(await storedText(person.id)).includes('918273'));
  });

  it('asks for a code again that the bank refused, and the refused one is not kept either', async () => {
    const person = await atLink();
    api.answers = answersOf({ ...ASKS_CODE, 'PATCH incomes': { status: 400, body: {} } });
    await person.write('listo');
    await person.write('111111');
    assert.match(await lastText(person), /Todavía no pudimos.*Tu banco te envió un código/s);
    assert.ok(!JSON.stringify(await writtenBy(person.id)).includes('111111'));
    api.answers = answersOf();
    await person.write('222222');
    assert.equal((await checked(person.id)).reason, 'confirmed');
  });

  it('waits for a provider that is away, and the code is forgotten when the provider is given up', async () => {
    const person = await atLink();
    api.answers = answersOf(ASKS_CODE);
    await person.write('listo');
    api.answers = answersOf({ 'PATCH incomes': { status: 503, body: '' } });
    await person.write('333333');
    const { rows } = await database.query(
      'SELECT work, reason FROM conversation_work WHERE application_id = $1',
      [person.id],
    );
    assert.deepEqual(rows, [{ work: 'answer_source', reason: 'provider' }]);
    await database.query(
      'UPDATE conversation_work SET tries = 10, due_at = now() WHERE application_id = $1',
      [person.id],
    );
    await chat.settle();
    assert.equal((await person.row()).state.handedOver, 'failure');
    assert.ok(!JSON.stringify(await writtenBy(person.id)).includes('333333'));
  });

  it('a code is forgotten also where the person opts out in the turn of the code, and no provider gets it', async () => {
    const person = await atLink();
    api.answers = answersOf(ASKS_CODE);
    await person.write('listo');
    const asked = api.requests.length;
    await chat.hear(await person.textEvent('mi código es 445566'), await person.textEvent('BAJA'));
    await chat.settle();
    assert.equal(await person.place(), 'closed service');
    assert.equal(api.requests.length, asked);
    assert.ok(!JSON.stringify(await writtenBy(person.id)).includes('445566'));
    const { rowCount } = await database.query('SELECT FROM conversation_work WHERE application_id = $1', [
      person.id,
    ]);
    assert.equal(rowCount, 0);
  });

  it('comes to the same end where a process dies after the provider’s answer', async () => {
    const person = await atLink();
    const dying = await conversationsOf(store, key, {
      performer: goodPerformer({
        checkIncome: async (order) => {
          await real.checkIncome(order);
          throw new Error('the process died');
        },
      }),
    });
    api.answers = answersOf(ASKS_CODE);
    await dying.hear(await person.textEvent('listo'));
    await dying.settle();
    await database.query('UPDATE conversation_work SET due_at = now() WHERE application_id = $1', [
      person.id,
    ]);
    await chat.settle();
    assert.match(await lastText(person), /Tu banco te envió un código/);
    assert.equal((await person.replies()).filter(({ text }) => /Tu banco/.test(text)).length, 1);
  });

  it('is erased with its applicant, also what a check stores that was under way', async () => {
    const person = await atLink();
    assert.equal((await steps(person.id)).length, 1);
    await json('subject', 'erase', '--phone', person.phone, '--close', '--yes', '--reason', 'test');
    assert.deepEqual(await steps(person.id), []);
    api.answers = answersOf(NOT_YET);
    await real.checkIncome({ applicationId: toApplicationId(person.id) } as never);
    assert.deepEqual(await steps(person.id), []);
    api.answers = answersOf();
    await database.query(
      "INSERT INTO income_steps (application_id, session, elapsed_ms) SELECT $1, $2, elapsed_ms() - ms_of(interval '31 days')",
      [person.id, vault.seal('{}', stepIdentity(toApplicationId(person.id)))],
    );
    await forgetRows(runtime, INCOME_STEPS);
    assert.deepEqual(await steps(person.id), []);
  });
});
