/** The list behind a number of the business has as many applications as the number says (docs/business.md). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import { Behind, type BehindReply, businessRoutes } from '../../src/subjects/business/routes/business.ts';
import { LISTED, type Listed } from '../../src/subjects/business/rules/behind.ts';
import type { ReportRow } from '../../src/subjects/business/rules/report-row.ts';
import { readEventRange } from '../../src/subjects/business/sql/behind.ts';
import { IN_REVIEW, MEXICAN, REJECTED } from '../support/applicant.ts';
import { startTestConsole } from '../support/console.ts';
import { businessStore } from './support.ts';

const { store, json, partners, send, happened, offered, count, report } = await businessStore();
const { income, debt_amount, currency } = MEXICAN;
const IN_MEXICO = { income, debt_amount, currency };

const first = await send(0, [{}, {}, IN_REVIEW, IN_REVIEW, IN_REVIEW, REJECTED, IN_MEXICO]);
const second = await send(1, [{}, IN_REVIEW, REJECTED, REJECTED]);
await json('application', 'approve', `${first[2]}`, '--reason', 'enough');
await json('application', 'reject', `${first[3]}`, '--reason', 'not enough');
await json('application', 'reject', `${second[1]}`, '--reason', 'not enough');
await happened('conversation.started', 0, [first[0]!, first[1]!, first[6]!]);
await happened('documents.received', 0, [first[0]!]);
await happened('conversation.started', 1, [second[0]!]);
for (const id of [first[0]!, first[6]!, second[0]!, first[0]!, first[1]!]) await offered(id);
await happened('contract.signed', 0, [first[0]!, first[6]!]);
await happened('contract.withdrawn', 0, [first[6]!]);
await json('application', 'disburse', `${first[1]}`, '--reason', 'paid', '--override', '--second', 'luz');
await count();

const console_ = await startTestConsole(store, businessRoutes(store));
const admin = await (await console_.enrolled('ana', 'admin')).signIn();
const rows: readonly ReportRow[] = await report('--by', 'month');
const [{ period }] = rows as [ReportRow];
const get = async (query: string) =>
  (await admin.ask('GET', `/api/business/applications?by=month&period=${period}${query}`)).body;

async function listed(query: string): Promise<BehindReply['applications']> {
  const all: BehindReply['applications'] = [];
  for (let cursor = ''; ; ) {
    const page = await get(`${query}&limit=2${cursor}`);
    assert.ok(Value.Check(Behind, page), JSON.stringify(page));
    all.push(...page.applications);
    if (page.next === null) return all;
    cursor = `&cursor=${page.next}`;
  }
}
const counted = (number: Listed, fits: (row: ReportRow) => boolean = () => true) =>
  rows.filter(fits).reduce((sum, row) => sum + row[number], 0);

describe('the list behind a number', () => {
  for (const number of LISTED) {
    it(`D41: ${number}: as many as the report counts, each once, also narrowed`, async () => {
      const all = await listed(`&number=${number}`);
      assert.ok(counted(number) > 0, 'the test has some of each number');
      assert.equal(all.length, counted(number));
      assert.equal(new Set(all.map(({ application_id: id }) => id)).size, all.length);
      for (const [query, fits] of [
        [`&partner=${partners[1]}`, (row) => row.partner_id === partners[1]],
        ['&currency=MXN', (row) => row.currency === 'MXN'],
        ['&country=MX', (row) => row.country === 'MX'],
      ] as const satisfies readonly (readonly [string, (row: ReportRow) => boolean])[])
        assert.equal((await listed(`&number=${number}${query}`)).length, counted(number, fits), query);
    });
  }

  it('D39: has nothing of the periods beside it', async () => {
    for (const number of LISTED) {
      const before = await admin.ask(
        'GET',
        `/api/business/applications?number=${number}&by=day&period=2026-01-05`,
      );
      assert.deepEqual([before.body.applications, before.body.next], [[], null], number);
    }
  });

  it('D46: each application is behind the first offer of it alone, newest first, and offers from before are not counted', async () => {
    const all = await listed('&number=offered');
    assert.deepEqual(
      all.map(({ application_id: id }) => id),
      [first[1], second[0], first[6], first[0]],
    );
    assert.equal((await get('&number=offered')).is_cut, false);
    const old = `/api/business/applications?number=offered&by=day&period=2026-01-05`;
    assert.equal((await admin.ask('GET', old)).body.is_cut, true);
    await store.database.query('UPDATE business_place SET offers_since = clock_timestamp()');
    assert.deepEqual(await listed('&number=offered'), []);
  });

  it('D41: finds the events of days by halving, with ten thousand of them; says where some are deleted', async () => {
    await store.database.query(`INSERT INTO partners (name, country) VALUES ('Halved', 'CO')`);
    const { rows: made } = await store.database.query("SELECT id FROM partners WHERE name = 'Halved'");
    const partner = made[0].id;
    await store.database.query(
      `INSERT INTO partner_event_totals (partner_id, last, forgotten) VALUES ($1, 12000, 2000)`,
      [partner],
    );
    await store.database.query(
      `INSERT INTO partner_events (partner_id, number, stored_ms, application_id, type, at)
      SELECT $1, n, n, $2, 'conversation.started', '2026-02-01T00:00:00Z'::timestamptz + n * interval '10 minutes'
      FROM generate_series(2001, 12000) AS n`,
      [partner, first[0]],
    );
    const range = (from: string, after: string) =>
      readEventRange(store.database, partner, { period: from, after });
    // 144 events a day; an hour is added on each side.
    assert.deepEqual(await range('2026-03-01', '2026-03-02'), {
      ...{ low: 28 * 144 - 6, high: 29 * 144 + 6, isCut: false },
    });
    assert.equal((await range('2026-02-01', '2026-02-16'))?.isCut, true);
    assert.deepEqual(await range('2030-01-01', '2030-01-02'), { low: 12_001, high: 12_001, isCut: false });
    assert.equal(
      await readEventRange(store.database, 99_999, { period: '2026-03-01', after: '2026-03-02' }),
      null,
    );
  });

  it('D48: is for admins, and names what is wrong', async () => {
    const viewer = await (await console_.enrolled('vera', 'viewer')).signIn();
    assert.equal((await viewer.ask('GET', '/api/business/applications?number=signed')).status, 403);
    for (const [query, told] of [
      ['&number=refused', /number/],
      ['&number=offered&cursor=0.5', /cursor/],
      ['&number=signed&cursor=2147483648.5', /cursor/],
      ['&number=registered&cursor=1.5', /cursor/],
      ['&number=signed&cursor=0.5', /cursor/],
      ['&number=signed&cursor=x', /cursor/],
      ['&number=signed&limit=101', /limit/],
      ['', /number/],
    ] as const)
      assert.match((await get(query)).error, told, query);
  });
});
