/** D44 on a real store: documents become an observed income, and the evidence stays. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApplicationId } from '../../src/domain/application/ids.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { openIncome } from '../../src/subjects/income/open.ts';
import { evidenceIdentity, incomeCheckOf } from '../../src/subjects/income/sql/income-checks.ts';
import { checkIncome } from '../../src/subjects/income/uses/check-income.ts';
import { statementPdf } from '../../src/subjects/simulator/made-up-files.ts';
import type { Statement } from '../../src/subjects/simulator/statement-rows.ts';
import { REVEAL } from '../cli/harness.ts';
import { pdfOf } from '../documents/files.ts';
import { ANA, documentStage, newestMonths } from '../documents/support.ts';

const stage = await documentStage();
const { apply, sent, receive, database, runtime, vault, json, run } = stage;
const context = openIncome(
  ({ read, variable: _ }) => read(undefined, { dataDir: stage.dataDir, ownDatabase: true }),
  {
    database: runtime,
    vault,
    clock: machineClock,
  },
);
const { today, months } = await newestMonths(database);
const statement = (amount: number, changes: Partial<Statement> = {}) =>
  statementPdf({
    layout: 'rodar-co-1',
    ...ANA,
    issued: today,
    months: Object.fromEntries(months.map((month) => [month, amount])),
    ...changes,
  });
const check = async (id: ApplicationId) => {
  const result = await checkIncome(context, id);
  assert.ok('outcome' in result);
  return result;
};
const DECLARED = 3_200_000;
const show = (id: ApplicationId, ...more: string[]) => json('income', 'show', `${id}`, ...more);

describe('income accept', () => {
  const why = ['--reason', 'two months of an illness', '--as', 'ana'];

  it('confirms the income as it was observed, from the next check of the same facts on, and is recorded', async () => {
    const id = await apply();
    await receive(sent(id, statement(DECLARED * 0.5)));
    assert.deepEqual(await check(id), { outcome: 'operator', reason: 'far_below' });
    assert.deepEqual(await json('income', 'accept', `${id}`, ...why), {
      application_id: id,
      accepted: 'far_below',
    });
    assert.deepEqual(await check(id), { outcome: 'confirmed', reason: 'accepted_by_operator' });
    const shown = await show(id);
    assert.deepEqual([shown.outcome, shown.reason, shown.accepted_by], ['operator', 'far_below', 'ana']);
    const [last] = await json('audit', 'list', '--limit', '1');
    assert.deepEqual(
      [last.act, last.by, last.application_id, last.reason],
      ['income accept', 'ana', id, 'two months of an illness'],
    );
    const again = await run('income', 'accept', `${id}`, ...why);
    assert.match(again.err, /accepted already/);
    // Other facts are another check, which nobody has accepted.
    await receive(sent(id, statement(DECLARED * 0.2, { layout: 'rodar-co-1' })));
    assert.equal((await check(id)).outcome, 'operator');
  });

  it('is refused where there is no check, where it is confirmed, and without a reason', async () => {
    const id = await apply();
    assert.match((await run('income', 'accept', `${id}`, ...why)).err, /was not checked yet/);
    await receive(sent(id, statement(DECLARED)));
    await check(id);
    assert.match((await run('income', 'accept', `${id}`, ...why)).err, /is confirmed already/);
    assert.match((await run('income', 'accept', `${id}`)).err, /--reason/);
  });
});

describe('income show', () => {
  it('shows the check, and the amounts of its months only with a reason, which is recorded', async () => {
    const id = await apply();
    await receive(sent(id, statement(DECLARED * 0.95)));
    await check(id);
    const shown = await show(id);
    assert.deepEqual(
      [shown.outcome, shown.method, shown.declared, shown.observed, shown.months],
      ['confirmed', 'documents', '3200000.00', '3040000.00', 3],
    );
    const [{ source, months: masked }] = shown.statements;
    assert.equal(source, 'rodar-co-1');
    assert.deepEqual(
      masked,
      months.map((month) => ({ month, amount: '***' })),
    );
    const [{ months: revealed }] = (await show(id, ...REVEAL)).statements;
    assert.deepEqual(
      revealed,
      months.map((month) => ({ month, amount: '3040000.00' })),
    );
    const [last] = await json('audit', 'list', '--limit', '1');
    assert.deepEqual([last.act, last.application_id], ['income show --reveal', id]);
  });

  it('says where nothing was checked, and keeps the numbers after an erasure', async () => {
    const id = await apply();
    assert.match((await run('income', 'show', `${id}`)).err, /was not checked yet/);
    await check(id);
    await database.query('UPDATE income_checks SET evidence = NULL WHERE application_id = $1', [id]);
    assert.deepEqual([(await show(id)).reason, (await show(id)).statements], ['no_documents', null]);
  });
});

describe('D44: the income of an application', () => {
  it('is confirmed by its statement, with the evidence sealed', async () => {
    const id = await apply();
    await receive(sent(id, statement(DECLARED * 0.95)));
    assert.deepEqual(await check(id), { outcome: 'confirmed', reason: 'confirmed' });
    const stored = await incomeCheckOf(runtime, id);
    assert.deepEqual(
      [
        stored?.method,
        stored?.declared,
        stored?.observed,
        stored?.months,
        stored?.layouts,
        stored?.policyVersion,
      ],
      ['documents', DECLARED * 100, Math.round(DECLARED * 95), 3, ['rodar-co-1'], 'default-2'],
    );
    assert.match(stored?.reader ?? '', /unpdf/);
    const evidence = vault.open(stored!.evidence!, evidenceIdentity(id, stored!.digest));
    assert.deepEqual(
      JSON.parse(evidence.toString()).months.map((one: { month: string }) => one.month),
      months,
    );
  });

  it('is scored again with what was observed, and the first score stays', async () => {
    const id = await apply();
    const before = await json('application', 'show', `${id}`);
    await receive(sent(id, statement(DECLARED * 0.8)));
    assert.deepEqual(await check(id), { outcome: 'adjusted', reason: 'same_decision' });
    const stored = await incomeCheckOf(runtime, id);
    assert.deepEqual([stored?.newDecision, typeof stored?.newScore], ['approved', 'number']);
    const after = await json('application', 'show', `${id}`);
    assert.deepEqual(
      [after.score, after.decision, after.income],
      [before.score, before.decision, before.income],
    );
  });

  it('goes to an operator without documents, while one waits, and far below', async () => {
    const id = await apply();
    assert.equal((await check(id)).reason, 'no_documents');
    await receive(sent(id, pdfOf([[['Otra empresa, otro documento']]])));
    assert.equal((await check(id)).reason, 'documents_waiting');
    const low = await apply();
    await receive(sent(low, statement(DECLARED * 0.5)));
    assert.deepEqual(await check(low), { outcome: 'operator', reason: 'far_below' });
    assert.equal((await check(999_999_936 as ApplicationId)).reason, 'unreadable_application');
  });

  it('is what an operator stated of a document that nobody could read', async () => {
    const id = await apply();
    const { documentId } = await receive(sent(id, pdfOf([[['Otra empresa, otro documento']]])));
    const stated = months.flatMap((month) => ['--month', `${month}=${DECLARED}`]);
    await json('document', 'accept', `${documentId}`, '--reason', 'by hand', '--currency', 'cop', ...stated);
    assert.deepEqual(await check(id), { outcome: 'confirmed', reason: 'confirmed' });
    assert.equal((await incomeCheckOf(runtime, id))?.method, 'operator');
  });

  it('of a rejected document counts for nothing, and statements of debts are no income', async () => {
    const id = await apply();
    const { documentId } = await receive(sent(id, statement(DECLARED)));
    await json('document', 'reject', `${documentId}`, '--reason', 'forged');
    await receive(sent(id, statement(DECLARED - 1), { purpose: 'debts' }));
    assert.equal((await check(id)).reason, 'no_documents');
  });

  it('checked again with the same facts is the same check; with others it is another one', async () => {
    const id = await apply();
    await check(id);
    await Promise.all([check(id), check(id)]);
    const count = async () =>
      Number(
        (await database.query('SELECT count(*) FROM income_checks WHERE application_id = $1', [id])).rows[0]
          .count,
      );
    assert.equal(await count(), 1);
    await receive(sent(id, statement(DECLARED)));
    await check(id);
    assert.equal(await count(), 2);
    assert.equal((await incomeCheckOf(runtime, id))?.reason, 'confirmed');
  });
});
