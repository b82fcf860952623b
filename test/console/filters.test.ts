/** The filters of the queue in the address of the console's page. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import Value from 'typebox/value';
import {
  bandOf,
  CLAIMS,
  countFilters,
  type Filters,
  filtersOf,
  ORDERS,
  STATES,
  searchOf,
  withFilter,
} from '../../console/src/api/filters.ts';
import { ClaimNext, QUEUE_ORDERS, QUEUE_STATES } from '../../src/subjects/desk/routes/queue-forms.ts';

const filters = fc.record(
  {
    state: fc.constantFrom(...STATES),
    claim: fc.constantFrom(...CLAIMS),
    order: fc.constantFrom(...ORDERS),
    partner: fc.integer({ min: 1, max: 1e9 }),
    score_from: fc.integer({ min: 0, max: 100 }),
    score_to: fc.integer({ min: 0, max: 100 }),
    amount_from: fc.integer({ min: 0, max: 1e9 }),
    amount_to: fc.integer({ min: 0, max: 1e9 }),
    age_from: fc.integer({ min: 0, max: 87_600 }),
    due_within: fc.integer({ min: 0, max: 87_600 }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Filters>;

describe('the filters in the address (D48)', () => {
  it('are counted for the button of a narrow window: a band once, the order not at all', () => {
    assert.equal(countFilters({}), 0);
    assert.equal(countFilters({ order: 'amount' }), 0);
    assert.equal(countFilters({ score_from: 50, score_to: 59, state: 'waiting', order: 'score' }), 2);
    assert.equal(countFilters({ score_from: 50, amount_from: 1, amount_to: 2 }), 3);
  });

  it('come back as they were written', () => {
    fc.assert(fc.property(filters, (some) => assert.deepEqual(filtersOf(searchOf(some)), { ...some })));
  });

  it('are always ones that the service accepts, whatever the address says', () => {
    const names = [
      'state',
      'claim',
      'order',
      'partner',
      'score_from',
      'amount_to',
      'age_from',
      'due_within',
      'x',
    ];
    const values = fc.oneof(
      fc.string(),
      fc.double().map(String),
      fc.constantFrom('0', '-1', '101', '1e9', ' 1'),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...names), values)), (parts) => {
        const search = String(new URLSearchParams(parts));
        assert.ok(Value.Check(ClaimNext, filtersOf(search)), search);
      }),
    );
  });

  it('know the orders and states of the service', () => {
    assert.deepEqual([...ORDERS], [...QUEUE_ORDERS]);
    assert.deepEqual([...STATES], [...QUEUE_STATES]);
  });

  it('lose one that is taken away', () => {
    assert.deepEqual(withFilter({ partner: 3, score_from: 50 }, { partner: undefined }), { score_from: 50 });
  });

  it('put every score into one band', () => {
    for (let score = 0; score <= 100; score += 1) {
      const [from, to] = bandOf(score);
      assert.ok(from <= score && score <= to, String(score));
    }
  });
});
