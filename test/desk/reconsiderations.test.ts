/** The queue of reconsiderations at the console (D50; docs/reconsiderations.md, "The queue"). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import { machineClock } from '../../src/ground/base/clock.ts';
import { sealedRows } from '../../src/seal/sealed-rows.ts';
import { applicationRoutes } from '../../src/subjects/desk/routes/application.ts';
import { AnsweredCase, Reconsiderations } from '../../src/subjects/desk/routes/reconsideration-forms.ts';
import { reconsiderationRoutes } from '../../src/subjects/desk/routes/reconsiderations.ts';
import { reconsiderationService } from '../../src/subjects/reconsiderations/service.ts';
import { CASES } from '../../src/subjects/reconsiderations/sql/tables.ts';
import { commandLine } from '../cli/harness.ts';
import { startTestConsole, type Visitor } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { refusedOf } from '../support/refused.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const { refusedAt, writes, casesOf, textsOf } = await refusedOf(store, key);
const routesOf = { database: runtime, vault, clock: machineClock, terms: async () => null };
const desk = await startTestConsole(store, [
  ...applicationRoutes(routesOf),
  ...reconsiderationRoutes(routesOf),
]);
const viewer = await (await desk.enrolled('vera', 'viewer')).signIn();
const reviewer = await (await desk.enrolled('ruth', 'reviewer')).signIn();
const other = await (await desk.enrolled('omar', 'reviewer')).signIn();

// biome-ignore lint/suspicious/noExplicitAny: each test says what it expects
const list = async (query = ''): Promise<any> =>
  (await viewer.ask('GET', `/api/reconsiderations${query}`)).body;
const answer = (visitor: Visitor, id: number, outcome: string, text: unknown) =>
  visitor.ask('POST', `/api/reconsiderations/${id}/answer`, { outcome, text });
async function asked(words = 'quiero que una persona lo revise') {
  const ana = await refusedAt();
  await writes(ana, words);
  const [one] = await casesOf(ana);
  return { ana, id: one!.id };
}

describe('D50: the queue of reconsiderations', () => {
  it('lists open cases by their terms in pages, without what the person wrote', async () => {
    for (let n = 0; n < 3; n += 1) await asked(`quiero que una persona lo revise, mi secreto es ${n}`);
    const all = await list();
    assert.ok(Value.Check(Reconsiderations, all), JSON.stringify([...Value.Errors(Reconsiderations, all)]));
    assert.ok(!JSON.stringify(all).includes('secreto'));
    const dues = all.reconsiderations.map(({ due_at: due, id }: { due_at: string; id: number }) => [due, id]);
    assert.deepEqual(dues, dues.toSorted());
    const pages: unknown[] = [];
    let cursor = '';
    do {
      const page = await list(`?limit=1${cursor}`);
      pages.push(...page.reconsiderations);
      cursor = page.next === null ? '' : `&cursor=${page.next}`;
    } while (cursor !== '');
    assert.deepEqual(pages, all.reconsiderations);
    const first = all.reconsiderations[0]!;
    assert.deepEqual(
      [first.kind, first.state, first.reasons[0]?.code, first.reasons[0]?.words.pt, first.chat_is_open],
      [
        'reconsideration',
        'open',
        'capacity_below_1_5',
        'A renda é menos de 1,5 vez a parcela estimada',
        true,
      ],
    );
    assert.deepEqual((await list('?kind=data')).reconsiderations, []);
    assert.equal((await viewer.ask('GET', '/api/reconsiderations?cursor=x')).status, 400);
  });

  it('a reviewer answers once; the act is recorded, the history has it, and the status stays', async () => {
    const { ana, id } = await asked();
    const { status, body } = await answer(reviewer, id, 'apply_again', 'Con un extracto de tres meses');
    assert.equal(status, 200);
    assert.ok(Value.Check(AnsweredCase, body), JSON.stringify([...Value.Errors(AnsweredCase, body)]));
    assert.deepEqual(
      [
        body.unreached,
        body.reconsideration.outcome,
        body.reconsideration.answered_by,
        body.reconsideration.told,
      ],
      [null, 'apply_again', 'ruth', 'queued'],
    );
    assert.equal((await answer(reviewer, id, 'apply_again', 'Con un extracto de tres meses')).status, 200);
    const late = await answer(other, id, 'confirmed', 'No');
    assert.deepEqual([late.status, late.body.code], [409, 'not_open']);
    assert.equal((await textsOf(ana)).filter((text) => text.includes('Con un extracto')).length, 1);
    const acts = await json('audit', 'list', '--application', `${ana.id}`);
    assert.deepEqual(
      acts.map(({ act }: { act: string }) => act),
      ['reconsideration answer'],
    );
    const { history, status: now } = await json('application', 'show', `${ana.id}`);
    assert.equal(now, 'rejected');
    assert.deepEqual(
      history.slice(1).map(({ action, reason }: { action: string; reason: string }) => [action, reason]),
      [
        ['review_asked', 'chat'],
        ['review_answered', 'apply_again'],
      ],
    );
    assert.ok((await list('?state=answered')).reconsiderations.some((one: { id: number }) => one.id === id));
  });

  it('of two reviewers at once one answers', async () => {
    const { id } = await asked();
    const [one, two] = await Promise.all([
      answer(reviewer, id, 'confirmed', 'Sigue igual'),
      answer(other, id, 'apply_again', 'Puede volver'),
    ]);
    assert.deepEqual([one.status, two.status].toSorted(), [200, 409]);
  });

  it('refuses what fits no case, and a viewer', async () => {
    const { id } = await asked();
    assert.equal((await answer(viewer, id, 'confirmed', 'x')).status, 403);
    assert.equal((await answer(reviewer, id, 'answered', 'x')).status, 400);
    assert.equal((await answer(reviewer, id, 'confirmed', '   ')).status, 400);
    assert.equal((await answer(reviewer, id, 'confirmed', 'a\u202eb')).status, 400);
    assert.equal((await answer(reviewer, id, 'confirmed', 'x'.repeat(501))).status, 400);
    assert.equal((await answer(reviewer, 999_999, 'confirmed', 'x')).status, 404);
    assert.equal((await viewer.ask('POST', '/api/reconsiderations/x/answer', {})).status, 403);
  });

  it('what the person wrote comes with the reveal, and is stored sealed', async () => {
    const { ana } = await asked('quiero una revisión porque ya pagué');
    await writes(ana, 'tengo el comprobante');
    const { body } = await reviewer.ask('POST', `/api/applications/${ana.id}/reveal`, {
      reason: 'ticket 4711',
    });
    assert.deepEqual(
      body.asked.map(({ words }: { words: { text: string }[] }) => words.map(({ text }) => text)),
      [['quiero una revisión porque ya pagué', 'tengo el comprobante']],
    );
    const { rows } = await database.query<{ content: Buffer }>('SELECT content FROM cases');
    assert.ok(rows.every(({ content }) => !content.includes('comprobante')));
    assert.ok(sealedRows(CASES));
  });

  it('goes with its application, and two elapsed years after the answer', async () => {
    const { ana } = await asked();
    const [job] = reconsiderationService().upkeep ?? [];
    await job?.run({ database } as never);
    assert.equal((await casesOf(ana)).length, 1);
    await database.query(
      'UPDATE cases SET application_id = application_id + 1000000 WHERE application_id = $1',
      [ana.id],
    );
    await job?.run({ database } as never);
    assert.equal((await casesOf({ id: ana.id + 1_000_000 })).length, 0);
  });
});
