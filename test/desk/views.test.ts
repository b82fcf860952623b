/** The views beside the review queue (docs/operators.md, "Views"; D39, D46, D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import { VIEW_ORDERS, VIEWS, type View } from '../../src/domain/application/views.ts';
import { ViewPage, type ViewPageReply } from '../../src/subjects/desk/routes/view-forms.ts';
import { viewRoute } from '../../src/subjects/desk/routes/views.ts';
import { countView, readViewPage, type TimedView } from '../../src/subjects/desk/sql/views.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW, MEXICAN, REJECTED } from '../support/applicant.ts';
import { startTestConsole } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';
import { planOf } from '../support/plan.ts';

const store = await testDatabase();
const { database, runtime } = store;
const { json } = commandLine(store);
const partners = [
  await json('partner', 'add', '--name', 'Uno', '--country', 'CO'),
  await json('partner', 'add', '--name', 'Dos', '--country', 'CO'),
];
const keys: number[] = [];
for (const { id } of partners) keys.push((await json('key', 'issue', '--partner', `${id}`)).id);
const register = await registrarOf(store);
const desk = await startTestConsole(store, [viewRoute({ database: runtime })]);
const viewer = await (await desk.enrolled('vera', 'viewer')).signIn();

const ask = (view: string, query = '') => viewer.ask('GET', `/api/applications?view=${view}${query}`);
async function page(view: View, query = ''): Promise<ViewPageReply> {
  const { status, body } = await ask(view, query);
  assert.equal(status, 200, JSON.stringify(body));
  assert.ok(Value.Check(ViewPage, body), JSON.stringify([...Value.Errors(ViewPage, body)]));
  return body;
}
const idsOf = ({ applications }: ViewPageReply) => applications.map(({ id }) => id);
async function pages(view: View, query = ''): Promise<number[]> {
  const ids: number[] = [];
  for (let cursor = ''; ; ) {
    const one = await page(view, query + cursor);
    ids.push(...idsOf(one));
    if (one.next === null) return ids;
    cursor = `&cursor=${one.next}`;
  }
}
/** Many with one phone would be duplicates. */
const registered = (changes: Parameters<typeof applicant>[0][], key = keys[0]!) =>
  register(
    key,
    changes.map((one) => applicant({ phone: null, ...one })),
  );
const hours = (n: number) => `now() + ${n} * interval '1 hour'`;
const sign = (id: number, signed: string, until: string) =>
  database.query(`INSERT INTO application_states (batch_id, application_id, status, conversation_at, signed_at, withdrawable_until)
    VALUES (batch_of(${id}), ${id}, 'pending_signature', now(), ${signed}, ${until})`);
const setStatus = (id: number, status: string) =>
  database.query('UPDATE application_states SET status = $2 WHERE application_id = $1', [id, status]);
const converse = (id: number, waitsSince: string) =>
  database.query(`INSERT INTO conversations (application_id, partner_id, phone_index, held_by, status, turn, waits_since)
    VALUES (${id}, 1, 7, 'operator', 'pending_signature', 1, ${waitsSince})`);

describe('the views beside the queue', () => {
  const made = (async () => {
    const approved = await registered(Array.from({ length: 8 }, () => ({})));
    const [unsigned, within, ended, atOnce, paid, talking, silent, dos] = approved as number[];
    await sign(within!, hours(-2), hours(22));
    await sign(ended!, hours(-30), hours(-6));
    await sign(atOnce!, hours(-3), 'NULL');
    await sign(paid!, hours(-50), hours(-30));
    await setStatus(paid!, 'disbursed');
    await converse(talking!, hours(-1));
    await converse(silent!, 'NULL');
    const [review, approvedLate, rejectedLate, waits] = await registered([
      IN_REVIEW,
      IN_REVIEW,
      IN_REVIEW,
      IN_REVIEW,
    ]);
    const [refused] = await registered([REJECTED]);
    await json('application', 'approve', `${approvedLate}`, '--reason', 'fine');
    await json('application', 'reject', `${rejectedLate}`, '--reason', 'no');
    await database.query(`INSERT INTO open_pends VALUES (${waits}, 1, now(), ${hours(5)}, 0)`);
    await database.query(
      `INSERT INTO cases (kind, application_id, partner_id, due_at, window_until, seal_id, content)
       VALUES ('reconsideration', ${refused}, 1, ${hours(9)}, now(), gen_random_uuid(), ''),
         ('data', ${review}, 1, ${hours(9)}, now(), gen_random_uuid(), '')`,
    );
    return {
      unsigned,
      within,
      ended,
      atOnce,
      talking,
      silent,
      dos,
      approvedLate,
      rejectedLate,
      waits,
      refused,
    };
  })();

  it('D46: each has what belongs to it, in its order, and nothing else', async () => {
    const m = await made;
    const expected: Readonly<Record<View, unknown[]>> = {
      // The longest payable first.
      to_pay: [m.ended, m.atOnce],
      signed: [m.within],
      // The newest first; also what was approved after a review.
      waiting_signature: [m.approvedLate, m.dos, m.silent, m.talking, m.unsigned],
      waiting_person: [m.talking],
      pended: [m.waits],
      review_asked: [m.refused],
      // The newest decision first.
      decided: [m.rejectedLate, m.approvedLate],
    };
    for (const view of VIEWS) {
      const one = await page(view);
      assert.deepEqual([view, idsOf(one)], [view, expected[view]]);
      assert.equal(one.count, view === 'waiting_signature' ? null : expected[view].length, view);
      assert.doesNotMatch(JSON.stringify(one), /Gómez|1020304050|Bogot/);
    }
  });

  it('a page ends where the next one begins, in every view', async () => {
    await made;
    const extra = await registered(Array.from({ length: 9 }, () => ({})));
    // Times that are equal.
    for (const id of extra.slice(0, 5)) await sign(id, "'2026-01-01Z'", 'NULL');
    for (const view of VIEWS) {
      const all = idsOf(await page(view));
      for (const limit of [1, 2, 3]) assert.deepEqual(await pages(view, `&limit=${limit}`), all, view);
    }
  });

  it('has the opposite order too, but for the walk over all applications, and a cursor is of one order', async () => {
    await made;
    for (const view of VIEWS) {
      const own = await page(view);
      const other = ['decided', 'waiting_signature'].includes(view) ? 'oldest' : 'newest';
      if (view === 'waiting_signature') {
        const { status, body } = await ask(view, `&order=${other}`);
        assert.deepEqual([status, body.error], [400, 'query: waiting_signature has the order newest alone']);
        continue;
      }
      for (const limit of [1, 2, 100])
        assert.deepEqual(await pages(view, `&order=${other}&limit=${limit}`), idsOf(own).toReversed(), view);
      const { next } = await page(view, '&limit=1');
      if (next !== null)
        assert.equal((await ask(view, `&order=${other}&limit=1&cursor=${next}`)).status, 400, view);
    }
  });

  it('filters by the country of the partner', async () => {
    const { ended, atOnce } = await made;
    const all = idsOf(await page('to_pay'));
    assert.ok(all.includes(ended!) && all.includes(atOnce!));
    assert.deepEqual(await pages('to_pay', '&country=CO'), all);
    assert.deepEqual(await pages('to_pay', '&country=MX'), []);
    assert.equal((await page('to_pay', '&country=CO')).count, null);
    assert.equal((await ask('to_pay', '&country=co')).status, 400);
  });

  it('a changed cursor and one of another view get 400, and so do days that are none', async () => {
    await made;
    const { next } = await page('to_pay', '&limit=1');
    for (const query of [
      `&cursor=${next}x`,
      '&cursor=x',
      '&from=2026-02-31',
      '&from=x',
      '&to=0000-01-01',
      '&currency=co',
    ])
      assert.equal((await ask('to_pay', query)).status, 400, query);
    for (const view of VIEWS.filter((one) => one !== 'to_pay'))
      assert.equal((await ask(view, `&cursor=${next}`)).status, 400, view);
    for (const view of ['', 'all', 'to_pay&view=pended']) assert.equal((await ask(view)).status, 400, view);
    assert.equal((await viewer.ask('GET', '/api/applications')).status, 400);
  });

  it('filters by partner, currency and days; what a filter cannot count is not counted', async () => {
    await made;
    const [peso] = await registered([{ ...MEXICAN, phone: null }]);
    const [other] = await registered([{}], keys[1]!);
    for (const id of [peso!, other!]) await sign(id, "'2026-03-05 23:59:59Z'", 'NULL');
    for (const view of ['to_pay', 'waiting_signature'] as const) {
      if (view === 'waiting_signature')
        await database.query('DELETE FROM application_states WHERE application_id = ANY ($1)', [
          [peso, other],
        ]);
      assert.deepEqual(await pages(view, `&partner=${partners[1].id}`), [other], view);
      assert.deepEqual(await pages(view, '&currency=MXN&limit=1'), [peso], view);
      assert.equal((await page(view, '&currency=MXN')).count, null);
    }
    for (const id of [peso!, other!]) await sign(id, "'2026-03-05 23:59:59Z'", 'NULL');
    const days = (from: string, to: string) => page('to_pay', `&from=${from}&to=${to}`);
    assert.deepEqual((await days('2026-03-05', '2026-03-05')).count, 2);
    assert.deepEqual((await days('2026-03-06', '2026-03-09')).count, 0);
    assert.deepEqual(idsOf(await days('2026-03-01', '2026-03-04')), []);
    assert.deepEqual(idsOf(await page('waiting_signature', '&to=2020-01-01')), []);
  });

  it('a filter that fits few of many ends with short pages, and finds each', async () => {
    const rare = (await registered([{ ...MEXICAN, phone: null }]))[0]!;
    for (let n = 0; n < 35; n += 1) await registered(Array.from({ length: 100 }, () => REJECTED));
    const first = await page('waiting_signature', '&currency=MXN');
    assert.deepEqual([idsOf(first), first.next === null], [[], false]);
    assert.ok((await pages('waiting_signature', '&currency=MXN')).includes(rare));
    const other = await page('waiting_signature', '&partner=999');
    assert.deepEqual([idsOf(other), other.next === null], [[], false]);
  });

  it('tells a proposal that is open', async () => {
    const { ended } = await made;
    await database.query(
      `INSERT INTO proposals (id, application_id, act, reason_code, reason, is_override, maker_id, decided_on,
         created_at, apply_at, needs_second)
       VALUES (77, $1, 'disburse', 'funds_transferred', 'x', false, 1, 0, now(), now(), 'disburse')`,
      [ended],
    );
    await database.query(
      "INSERT INTO open_proposals VALUES ($1, 77, now(), now() + interval '1 day', false)",
      [ended],
    );
    const { applications } = await page('to_pay');
    assert.deepEqual(
      applications.filter(({ proposed }) => proposed !== null).map(({ id, proposed }) => [id, proposed]),
      [[ended, 'disburse']],
    );
  });
});

const INDEXES: Readonly<Record<TimedView, string>> = {
  to_pay: 'application_states_signed',
  signed: 'application_states_signed',
  waiting_person: 'conversations_held',
  pended: 'open_pends_at',
  review_asked: 'cases_due',
  decided: 'application_events_reviews',
};
for (const [view, index] of Object.entries(INDEXES) as [TimedView, string][]) {
  it(`a page of ${view} comes from ${index}, its count from an index, and nothing is sorted whole`, async () => {
    await database.query(`
      INSERT INTO application_states (batch_id, application_id, status, signed_at, withdrawable_until)
      SELECT batch_of(n), n, 'pending_signature', now(), now() + (n - 5000) * interval '1 hour' FROM generate_series(1000000, 1009999) AS n ON CONFLICT DO NOTHING;
      INSERT INTO conversations (application_id, partner_id, phone_index, held_by, status, turn, waits_since)
      SELECT n, 1, n, 'operator', 'pending_signature', 1, now() - n * interval '1 second' FROM generate_series(1000000, 1009999) AS n ON CONFLICT DO NOTHING;
      INSERT INTO open_pends SELECT n, 1, now() - n * interval '1 second', now(), 0 FROM generate_series(1000000, 1009999) AS n ON CONFLICT DO NOTHING;
      INSERT INTO cases (kind, application_id, partner_id, due_at, window_until, seal_id, content)
      SELECT 'reconsideration', n, 1, now() - n * interval '1 second', now(), gen_random_uuid(), '' FROM generate_series(1000000, 1009999) AS n ON CONFLICT DO NOTHING;
      INSERT INTO application_events (id, application_id, at, actor, action, from_status, to_status, reason)
      SELECT n, n, now() - n * interval '1 second', 'x', 'approve', 'in_review', 'pending_signature', 'x' FROM generate_series(1000000, 1009999) AS n ON CONFLICT DO NOTHING;
      ANALYZE application_states, conversations, open_pends, cases, application_events`);
    const after = { id: 7, key: Date.now() * 1_000 - 10 ** 12 };
    const days = { from: '2000-01-01', to: '2900-01-01' };
    for (const read of VIEW_ORDERS.flatMap((order) => [
      (on: typeof database) => readViewPage(on, view, {}, { order, after: null, limit: 101 }),
      (on: typeof database) => readViewPage(on, view, days, { order, after, limit: 101 }),
    ])) {
      const plan = await planOf(database, read);
      assert.match(plan, new RegExp(`Scan (Backward )?using ${index}`), plan);
      assert.doesNotMatch(plan.replaceAll('Incremental Sort', ''), /Sort {2}/, plan);
    }
    assert.match(
      await planOf(database, (on) => countView(on, view, {})),
      /Limit\n +-> {2}Index (Only )?Scan/,
    );
  });
}
