/** The rows of a file of a view, and saved views (docs/operators.md, "Views"; docs/audit.md). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import { machineClock } from '../../src/ground/base/clock.ts';
import { savedViewRoutes } from '../../src/subjects/desk/routes/saved-views.ts';
import { viewFileRoute } from '../../src/subjects/desk/routes/view-files.ts';
import { FileRows, type FileRowsReply, SavedViews } from '../../src/subjects/desk/routes/view-forms.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, MEXICAN } from '../support/applicant.ts';
import { startTestConsole } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Uno', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const register = await registrarOf(store);
const context = { database: runtime, vault, clock: machineClock };
const desk = await startTestConsole(store, [viewFileRoute(context), ...savedViewRoutes(context)]);
const viewer = await (await desk.enrolled('vera', 'viewer')).signIn();
const other = await (await desk.enrolled('otto', 'admin')).signIn();

const REASON = 'ticket 4711';
const VIEW = { view: 'waiting_signature', reason: REASON } as const;
const ask = (body: object) => viewer.ask('POST', '/api/applications/rows', body);
async function rowsOf(body: object): Promise<FileRowsReply> {
  const { status, body: reply } = await ask(body);
  assert.equal(status, 200, JSON.stringify(reply));
  assert.ok(Value.Check(FileRows, reply), JSON.stringify([...Value.Errors(FileRows, reply)]));
  return reply;
}
const acts = async () =>
  (await json('audit', 'list')).filter(({ act }: { act: string }) => act === 'view file');

describe('the rows of a file', () => {
  it('are all that the view and its filters match, each once, without personal data, and one act', async () => {
    const ids: number[] = [];
    for (let n = 0; n < 11; n += 1)
      ids.push(
        ...(await register(
          key,
          Array.from({ length: 100 }, () => applicant({ phone: null })),
        )),
      );
    const [peso] = await register(key, [applicant({ ...MEXICAN, phone: null })]);
    const before = (await acts()).length;
    const found: number[] = [];
    let pages = 0;
    for (let place = {}; ; pages += 1) {
      const { applications, rows, next, is_cut } = await rowsOf({ ...VIEW, currency: 'COP', ...place });
      found.push(...applications.map(({ id }) => id));
      assert.deepEqual([rows, is_cut], [found.length, false]);
      assert.doesNotMatch(JSON.stringify(applications), /Gómez|1020304050|Bogot/);
      if (next === null) break;
      place = { cursor: next, rows };
    }
    assert.ok(pages >= 2);
    assert.deepEqual(found, ids.toReversed());
    assert.deepEqual(
      (await rowsOf({ ...VIEW, currency: 'MXN' })).applications.map(({ id }) => id),
      [peso],
    );
    const made = await acts();
    assert.equal(made.length, before + 2);
    assert.deepEqual(
      made.slice(0, 2).map(({ target, reason }: { target: string; reason: string }) => [target, reason]),
      ['MXN', 'COP'].map((currency) => [`view=waiting_signature order=newest currency=${currency}`, REASON]),
    );
  });

  it('need a reason, and a cursor with the rows, filters and order that it came with', async () => {
    const { next, rows } = await rowsOf(VIEW);
    assert.ok(next !== null);
    for (const body of [
      { ...VIEW, cursor: next },
      { ...VIEW, cursor: next, rows: rows - 1 },
      { ...VIEW, rows },
      { ...VIEW, cursor: next, rows, currency: 'COP' },
      { ...VIEW, view: 'decided', cursor: next, rows },
      { ...VIEW, reason: 'x' },
      { ...VIEW, reason: 'two\nlines' },
      { view: 'waiting_signature' },
      { ...VIEW, order: 'oldest' },
    ]) {
      const count = (await acts()).length;
      assert.equal((await ask(body)).status, 400, JSON.stringify(body));
      assert.equal((await acts()).length, count);
    }
  });
});

describe('saved views', () => {
  const save = (
    by: typeof viewer,
    name: string,
    query: object = { view: 'to_pay', partner: 7, order: 'newest' },
  ) => by.ask('POST', '/api/saved-views', { name, query });
  const namesOf = async (by: typeof viewer) => {
    const { body } = await by.ask('GET', '/api/saved-views');
    assert.ok(Value.Check(SavedViews, body));
    return body.views.map(({ name }: { name: string }) => name);
  };

  it("are an operator's own: saved again under the same name, opened, and deleted by nobody else", async () => {
    const { body: first } = await save(viewer, ' Uno ');
    const { body: again } = await save(viewer, 'Uno', { view: 'decided', currency: 'COP' });
    assert.deepEqual(again, { id: first.id, name: 'Uno', query: { view: 'decided', currency: 'COP' } });
    await save(viewer, 'Dos');
    assert.deepEqual(await namesOf(viewer), ['Dos', 'Uno']);
    assert.deepEqual(await namesOf(other), []);
    assert.equal((await other.ask('DELETE', `/api/saved-views/${first.id}`)).status, 404);
    for (const id of ['0', 'x', '999999999999999']) {
      assert.equal((await viewer.ask('DELETE', `/api/saved-views/${id}`)).status, 404, id);
    }
    assert.equal((await viewer.ask('DELETE', `/api/saved-views/${first.id}`)).status, 200);
    assert.deepEqual(await namesOf(viewer), ['Dos']);
  });

  it('are 20 at most, also where many are saved at the same moment, and have readable names and filters', async () => {
    const answers = await Promise.all(Array.from({ length: 25 }, (_, n) => save(other, `View ${n}`)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 20);
    assert.equal((await namesOf(other)).length, 20);
    const [name] = await namesOf(other);
    assert.equal((await save(other, name!)).status, 200);
    for (const wrong of ['', ' ', 'a\nb', 'fi\u202ene', 'fi\u200bne', 'x'.repeat(61)])
      assert.equal((await save(viewer, wrong)).status, 400, wrong);
    for (const query of [
      {},
      { view: 'x' },
      { view: 'to_pay', q: '3005550101' },
      { view: 'to_pay', from: 'x' },
    ])
      assert.equal((await save(viewer, 'Mal', query)).status, 400, JSON.stringify(query));
    const { rows } = await database.query(
      'SELECT max(c)::integer AS most FROM (SELECT count(*) AS c FROM saved_views GROUP BY operator_id) AS g',
    );
    assert.equal(rows[0].most, 20);
  });
});
