/** What `ventanilla report` and `GET /api/business` show and refuse (docs/business.md). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { secondsOf } from '../../src/domain/application/waits.ts';
import { mayActAs, ROLES } from '../../src/domain/operator/authority.ts';
import { businessRoutes } from '../../src/subjects/business/routes/business.ts';
import { csvLine } from '../../src/subjects/business/rules/report-row.ts';
import { readReport } from '../../src/subjects/business/sql/report.ts';
import { MEMBERS } from '../../src/subjects/business/uses/report.ts';
import { readStoreFacts } from '../../src/subjects/monitoring/sql/store-facts.ts';
import { commandLine } from '../cli/harness.ts';
import { IN_REVIEW, REJECTED } from '../support/applicant.ts';
import { startTestConsole } from '../support/console.ts';
import { planOf } from '../support/plan.ts';
import { businessStore } from './support.ts';

const { store, run, partners, send, happened, count, report } = await businessStore();
const [id] = await send(0, [{}, IN_REVIEW, REJECTED, { currency: 'USD', debt_amount: 1_000.5 }]);
await send(1, [{ currency: 'MXN', debt_amount: 22_000, income: 25_000 }]);
await happened('contract.signed', 0, [id!]);
await count();
// 2026-03-01 is a Sunday: of the week that began in February, and of a month of its own.
const old = (day: string, registered: number) =>
  store.database.query(
    `INSERT INTO business_days (day, partner_id, currency, registered, approved, amount_registered)
    VALUES ($1, $2, 'COP', $3, $3, 100)`,
    [day, partners[0], registered],
  );
await old('2026-02-28', 1);
await old('2026-03-01', 6);
await old('2026-03-02', 8);

const FIRST = [
  ...[
    'period',
    'partner_id',
    'country',
    'currency',
    'registered',
    'refused',
    'approved',
    'in_review',
    'rejected',
  ],
  ...['started', 'offered', 'signed', 'withdrawn', 'disbursed', 'amount_registered', 'amount_disbursed'],
];

describe('the report', () => {
  it('D30: has a row a period, partner and currency, with the members in their order', async () => {
    const rows = await report('--since', '2026-06-01');
    assert.deepEqual(
      rows.map((row) => [
        row.partner_id,
        row.country,
        row.currency,
        row.registered,
        row.signed,
        row.amount_registered,
      ]),
      [
        [1, 'CO', 'COP', 3, 1, '18000000'],
        [1, 'CO', 'USD', 1, 0, '1000.50'],
        [2, 'MX', 'MXN', 1, 0, '22000.00'],
      ],
    );
    assert.deepEqual([rows[0]!.approved, rows[0]!.in_review, rows[0]!.rejected], [1, 1, 1]);
    assert.deepEqual(Object.keys(rows[0]!), MEMBERS);
    assert.deepEqual(MEMBERS.slice(0, FIRST.length), FIRST);
  });

  it('D39: days, ISO weeks and months are those of UTC, and the period of --since is whole', async () => {
    const periods = async (by: string, since: string) =>
      (await report('--by', by, '--since', since, '--partner', '1'))
        .filter(({ period }) => period < '2026-06-01')
        .map(({ period, registered, amount_registered: amount }) => `${period} ${registered} ${amount}`);
    assert.deepEqual(await periods('day', '2026-03-01'), ['2026-03-01 6 100', '2026-03-02 8 100']);
    assert.deepEqual(await periods('week', '2026-03-01'), ['2026-02-23 7 200', '2026-03-02 8 100']);
    assert.deepEqual(await periods('week', '2026-03-02'), ['2026-03-02 8 100']);
    assert.deepEqual(await periods('month', '2026-03-31'), ['2026-03-01 14 200']);
    assert.deepEqual(await periods('month', '2026-02-28'), ['2026-02-01 1 100', '2026-03-01 14 200']);
    assert.equal((await report('--partner', '99', '--since', '2020-01-01')).length, 0);
    assert.ok(
      (await report()).every(({ period }) => period > '2026-06-01'),
      'the last 30 days without --since',
    );
  });

  it('D34: CSV has the same rows, and no spreadsheet computes a cell', async () => {
    const { out } = await run('report', '--since', '2026-06-01', '--csv');
    const [head, first, ...others] = out.trimEnd().split(/\r?\n/);
    assert.equal(head, MEMBERS.join(','));
    const [row] = await report('--since', '2026-06-01');
    assert.equal(first, MEMBERS.map((name) => row![name]).join(','));
    assert.equal(others.length, 2);
    assert.equal(csvLine(['=1+1', '+1', '-1', '@x', 'a,"b"', 5, -5]), `'=1+1,'+1,'-1,'@x,"a,""b""",5,-5\n`);
    assert.match((await run('report', '--since', '2026-06-01')).out, /PERIOD.*REGISTERED.*\n.*COP/s);
    assert.match((await run('report', '--partner', '99')).out, /Nothing is counted in this time/);
  });

  it('D34: names a wrong option', async () => {
    for (const [options, told] of [
      [['--by', 'year'], /must be one of: day, week, month/],
      [['--since', '2026-02-30'], /must be a day: YYYY-MM-DD/],
      [['--since', 'yesterday'], /must be a day/],
      [['--partner', '0'], /whole number from 1 on/],
      [['--csv', '--json'], /--csv and --json exclude each other/],
      [['--recount', '--csv'], /--recount has no --csv/],
      [['--recount', '--waits'], /--recount and --waits exclude each other/],
    ] as const) {
      const { code, err } = await run('report', ...options);
      assert.ok(code !== 0 && told.test(err), `${options.join(' ')}: ${code} ${err}`);
    }
  });

  it('D30: reads the counts by their key, and no table of applications', async () => {
    const asked = { by: 'day', since: '2026-06-01', partnerId: null } as const;
    const plan = await planOf(store.database, (database) =>
      readReport(database, asked, null, 10).catch(() => {}),
    );
    assert.match(plan, /Index Scan using business_days_pkey on business_days b\n.*Index Cond: \(day >= /s);
    assert.doesNotMatch(plan, /batches|application_states|partner_events/);
  });
});

describe('GET /api/business', async () => {
  const console_ = await startTestConsole(store, businessRoutes(store));
  const admin = await (await console_.enrolled('ana', 'admin')).signIn();
  const get = (query: string) => admin.ask('GET', `/api/business${query}`);

  it('D48: is for admins', async () => {
    for (const role of ROLES) {
      const visitor = await (await console_.enrolled(`${role}.one`, role)).signIn();
      const { status } = await visitor.ask('GET', '/api/business');
      assert.equal(status, mayActAs(role, 'admin') ? 200 : 403, role);
    }
    assert.equal((await console_.visitor().ask('GET', '/api/business')).status, 401);
  });

  it('D30: gives the rows of the report, whole and by page', async () => {
    for (const [query, options] of [
      ['', []],
      ['?by=week&since=2026-01-01', ['--by', 'week', '--since', '2026-01-01']],
      ['?by=month&since=2026-01-01&partner=2', ['--by', 'month', '--since', '2026-01-01', '--partner', '2']],
    ] as const) {
      const rows = await report(...options);
      assert.deepEqual((await get(query)).body.rows, rows);
      const paged = [];
      for (let next = ''; ; ) {
        const cursor = next === '' ? '' : `&cursor=${next}`;
        const { status, body } = await get(`${query === '' ? '?' : `${query}&`}limit=1${cursor}`);
        assert.equal(status, 200);
        paged.push(...body.rows);
        if (body.next === null) break;
        next = body.next;
      }
      assert.deepEqual(paged, rows);
    }
  });

  it('D48: refuses what is no period, day, partner, cursor or limit, by name', async () => {
    for (const [query, told] of [
      ['by=year', /by/],
      ['since=2026-02-30', /since must be a day of the calendar/],
      ['since=1', /since/],
      ['partner=0', /partner/],
      ['partner=x', /partner/],
      ['partner=99999999999', /partner/],
      ['cursor=x', /cursor must be the next of the page before/],
      ['cursor=2026-02-30.1.COP', /cursor/],
      ['limit=0', /limit/],
      ['limit=1001', /limit/],
      ['other=1', /other|must not/],
    ] as const) {
      const { status, body } = await get(`?${query}`);
      assert.ok(status === 400 && told.test(body.error), `${query}: ${status} ${body.error}`);
    }
    assert.deepEqual((await get('?partner=99')).body.rows, []);
    assert.deepEqual((await get('?since=9999-12-31')).body.rows, []);
  });
});

describe('GET /api/business/period', async () => {
  const console_ = await startTestConsole(store, businessRoutes(store));
  const admin = await (await console_.enrolled('eva', 'admin')).signIn();
  const get = (query: string) => admin.ask('GET', `/api/business/period${query}`);

  it('D48: is for admins', async () => {
    for (const role of ROLES) {
      const visitor = await (await console_.enrolled(`${role}.two`, role)).signIn();
      const { status } = await visitor.ask('GET', '/api/business/period');
      assert.equal(status, mayActAs(role, 'admin') ? 200 : 403, role);
    }
    assert.equal((await console_.visitor().ask('GET', '/api/business/period')).status, 401);
  });

  it('D30: has the rows of the report for the period and for the one before, and the decisions that led to it', async () => {
    for (const [by, day] of [
      ['day', '2026-03-02'],
      ['week', '2026-03-04'],
      ['month', '2026-03-31'],
    ] as const) {
      const { status, body } = await get(`?by=${by}&period=${day}`);
      assert.equal(status, 200, JSON.stringify(body));
      const rows = await report('--by', by, '--since', body.before);
      assert.deepEqual(
        body.rows,
        rows.filter(({ period }) => period === body.period),
      );
      assert.deepEqual(
        body.rows_before,
        rows.filter(({ period }) => period === body.before),
      );
      assert.equal(body.rows.length + body.rows_before.length, 2);
      assert.deepEqual(
        body.series,
        (await report('--by', by, '--since', body.series_since))
          .filter(({ period }) => period <= body.period)
          .map(({ period, approved, in_review, rejected }) => ({ period, approved, in_review, rejected })),
      );
      assert.equal(body.is_over, true);
    }
  });

  it('D39: shows the newest period that is over, and says which one goes on', async () => {
    const last = (await get('')).body;
    assert.deepEqual([last.by, last.is_over, new Date(last.period).getUTCDay()], ['week', true, 1]);
    const running = (await get(`?by=month&period=${new Date().toISOString().slice(0, 10)}`)).body;
    assert.deepEqual([running.is_over, running.rows.length], [false, 3]);
  });

  it('D18: is narrowed by partner, country and currency; partners have their use and the largest cap', async () => {
    const today = new Date().toISOString().slice(0, 10);
    for (const [query, currencies] of [
      ['&partner=1', ['COP', 'USD']],
      ['&country=MX', ['MXN']],
      ['&currency=USD', ['USD']],
      ['&country=MX&currency=USD', []],
    ] as const) {
      const { body } = await get(`?by=month&period=${today}${query}`);
      assert.deepEqual(
        body.rows.map((row: { currency: string }) => row.currency),
        currencies,
      );
    }
    const { json } = commandLine(store);
    await json('key', 'issue', '--partner', `${partners[1]}`, '--daily-cap', '50');
    const capped = async () =>
      (await get('')).body.partners.map((one: Record<string, unknown>) => [
        one.name,
        one.used_24h,
        one.daily_cap,
      ]);
    assert.deepEqual(await capped(), [
      ['Acme', 4, null],
      ['Bolt', 1, null],
    ]);
    const [key] = (await json('key', 'list')).filter(
      ({ daily_cap: cap, partner }: { daily_cap: number | null; partner: { name: string } }) =>
        cap === null && partner.name === 'Bolt',
    );
    await json('key', 'revoke', `${key.id}`);
    assert.deepEqual((await capped())[1], ['Bolt', 1, 50]);
    await json('partner', 'close', `${partners[1]}`);
    const { body } = await get(`?by=month&period=${today}`);
    assert.deepEqual(
      body.partners.map((one: Record<string, unknown>) => [one.name, one.is_open]),
      [
        ['Acme', true],
        ['Bolt', false],
      ],
      'a closed partner with counts has a name',
    );
    await json('partner', 'reopen', `${partners[1]}`);
  });

  it('D39: the median of times is that of the bucket in which half of them are reached', async () => {
    await store.database.query(
      `INSERT INTO business_waits (day, per, partner_id, step, bucket, times)
      VALUES ('2026-03-02', 'day', 1, 'sign', 10, 3), ('2026-03-03', 'day', 2, 'sign', 20, 2),
        ('2026-03-03', 'day', 1, 'sign', 30, 1), ('2026-03-03', 'day', 1, 'review', 0, 1),
        ('2026-03-01', 'month', 1, 'sign', 40, 9)`,
    );
    const median = async (query: string) => (await get(`?by=week&period=2026-03-02${query}`)).body.waits;
    const sign = (times: number, bucket: number) => ({
      step: 'sign',
      times,
      median_seconds: secondsOf(bucket),
    });
    const review = { step: 'review', times: 1, median_seconds: 1 };
    assert.deepEqual(await median(''), [review, sign(6, 10)]);
    assert.deepEqual(await median('&partner=2'), [sign(2, 20)]);
    assert.deepEqual(await median('&country=MX'), [sign(2, 20)]);
    const rows = async (...options: string[]) =>
      (await report('--waits', '--since', '2026-03-02', ...options)).map((row) =>
        Object.values(row).join(' '),
      );
    assert.deepEqual(await rows('--by', 'week'), [
      '2026-03-02 1 CO review 1 1',
      `2026-03-02 1 CO sign 4 ${secondsOf(10)}`,
      `2026-03-02 2 MX sign 2 ${secondsOf(20)}`,
    ]);
    assert.deepEqual(await rows('--partner', '1'), [
      `2026-03-02 1 CO sign 3 ${secondsOf(10)}`,
      '2026-03-03 1 CO review 1 1',
      `2026-03-03 1 CO sign 1 ${secondsOf(30)}`,
    ]);
    assert.deepEqual((await get('?by=month&period=2026-03-02')).body.waits, [sign(9, 40)], 'of its own row');
    assert.deepEqual(await rows('--by', 'month'), [`2026-03-01 1 CO sign 9 ${secondsOf(40)}`]);
    const { out } = await run('report', '--waits', '--since', '2026-03-02', '--by', 'month', '--csv');
    assert.equal(out.split('\n')[0], 'period,partner_id,country,step,times,median_seconds');
  });

  it('D48: refuses what is no period, day, partner, country or currency, by name', async () => {
    for (const [query, told] of [
      ['by=year', /by/],
      ['period=2026-02-30', /period must be a day of the calendar/],
      ['partner=0', /partner/],
      ['country=xx', /country/],
      ['currency=EURO', /currency/],
      ['other=1', /other|must not/],
    ] as const) {
      const { status, body } = await get(`?${query}`);
      assert.ok(status === 400 && told.test(body.error), `${query}: ${status} ${body.error}`);
    }
  });
});

it('D41: the metrics count what became of applications, by partner; partners after the shown ones share a label', async () => {
  const factsOf = async (shown: number) =>
    (await readStoreFacts(store.database, shown)).business.map(({ partner, event, times }) => [
      partner,
      event,
      times,
    ]);
  assert.deepEqual(await factsOf(1), [
    ['1', 'approved', 2],
    ['1', 'in_review', 1],
    ['1', 'rejected', 1],
    ['1', 'signed', 1],
    ['other', 'approved', 1],
  ]);
  assert.deepEqual(
    (await factsOf(0)).map(([partner]) => partner),
    ['other', 'other', 'other', 'other'],
  );
});
