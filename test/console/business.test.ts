/** What the page of the business makes of counts, periods and its address (docs/business.md, "The page"). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

// By a name that no check of types follows: the page has types of its own.
const { amountsOf, changeOf, everyPeriod, filtersOf, funnelOf, periodsUpTo, rateOf, sumsOf } = await import(
  new URL('../../console/src/business/sums.ts', import.meta.url).href
);

const rows = [
  {
    ...{ currency: 'COP', registered: 100, approved: 40, in_review: 30, rejected: 30, review_approved: 10 },
    ...{ review_rejected: 20, started: 45, documents: 30, offered: 20, signed: 25, disbursed: 5 },
    amount_disbursed: '5000000',
  },
  { ...{ currency: 'COP', registered: 10, approved: 10, amount_disbursed: '10' } },
  { ...{ currency: 'USD', registered: 0, amount_disbursed: '0.50' } },
].map((row) => ({
  ...Object.fromEntries(
    ['approved', 'in_review', 'rejected', 'review_approved', 'review_rejected', 'started', 'documents']
      .concat(['offered', 'signed', 'disbursed', 'withdrawn', 'refused', 'overridden'])
      .concat(['duplicate', 'over_quota', 'invalid'])
      .map((name) => [name, 0]),
  ),
  ...row,
}));

describe('the sums of a period', () => {
  it('the approval rate is that of all final decisions, and of none where nothing was decided', () => {
    assert.equal(rateOf(sumsOf(rows)), 60 / 110);
    assert.equal(rateOf(sumsOf([])), null);
  });

  it('the funnel says who left before each step, and nobody where a step has more than the one before', () => {
    assert.deepEqual(
      funnelOf(sumsOf(rows)).map(({ step, count, lost }: Record<string, unknown>) => [step, count, lost]),
      [
        ['registered', 110, 0],
        ['approved', 60, 50],
        ['started', 45, 15],
        ['documents', 30, 15],
        ['offered', 20, 10],
        ['signed', 25, 0],
        ['disbursed', 5, 20],
      ],
    );
  });

  it('a change is a share of what was before; amounts stay apart by currency', () => {
    assert.equal(changeOf(150, 100), 0.5);
    assert.equal(changeOf(5, 0), null);
    assert.deepEqual(
      [...amountsOf(rows, 'amount_disbursed')],
      [
        ['COP', 5_000_010],
        ['USD', 0.5],
      ],
    );
  });
});

describe('periods', () => {
  it('begin with the one that goes on; weeks begin on Monday, months on their first day, in UTC', () => {
    const sunday = Date.parse('2026-03-01T23:59:59Z');
    assert.deepEqual(periodsUpTo('day', sunday).slice(0, 2), ['2026-03-01', '2026-02-28']);
    assert.deepEqual(periodsUpTo('week', sunday).slice(0, 2), ['2026-02-23', '2026-02-16']);
    assert.deepEqual(periodsUpTo('week', sunday + 1_000)[0], '2026-03-02');
    assert.deepEqual(periodsUpTo('month', Date.parse('2026-03-31T12:00:00Z')).slice(0, 3), [
      ...['2026-03-01', '2026-02-01', '2026-01-01'],
    ]);
  });

  it('follow each other without gaps', () => {
    assert.deepEqual(everyPeriod('day', '2026-02-27', '2026-03-01'), [
      ...['2026-02-27', '2026-02-28', '2026-03-01'],
    ]);
    assert.deepEqual(everyPeriod('week', '2026-02-23', '2026-03-02'), ['2026-02-23', '2026-03-02']);
    assert.deepEqual(everyPeriod('month', '2025-12-01', '2026-02-01'), [
      ...['2025-12-01', '2026-01-01', '2026-02-01'],
    ]);
    assert.deepEqual(everyPeriod('day', '2026-03-01', '2026-03-01'), ['2026-03-01']);
  });
});

it('an address gives the route no value that it refuses', () => {
  const of = (search: string) => filtersOf(new URLSearchParams(search));
  assert.deepEqual(of(''), { by: 'week' });
  assert.deepEqual(of('by=year&period=x&partner=0&country=xx&currency=EURO&other=1'), { by: 'week' });
  const all = { by: 'day', period: '2026-03-01', partner: '7', country: 'CO', currency: 'USD' };
  assert.deepEqual(of(`${new URLSearchParams(all)}`), all);
});
