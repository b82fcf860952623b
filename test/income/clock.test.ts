/** Which check of an income counts while the clock steps (D39, D44). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toApplicationId } from '../../src/applications/rules/ids.ts';
import { DEFAULT_INCOME_RULES } from '../../src/applications/rules/policy.ts';
import { addIncomeCheck, type IncomeCheck, incomeCheckOf } from '../../src/income/sql/income-checks.ts';
import { testDatabase } from '../support/database.ts';
import { fakeClock } from '../support/faked-clock.ts';

const store = await testDatabase();
const { database } = store;
const clock = await fakeClock(store);
const START = Date.parse('2026-11-21T12:00:00Z');
const HOUR_MS = 3_600_000;

const check = (digit: string, observed: number): IncomeCheck => ({
  digest: digit.repeat(64),
  ...{ method: 'operator', outcome: 'operator', reason: 'too_few_months', currency: 'COP' },
  ...{ declared: 100, observed, months: 1, confidence: 1, layouts: [], reader: 'test' },
  ...{ policyVersion: null, rules: DEFAULT_INCOME_RULES, again: null, evidence: null },
});

test('D39, D44: the last check counts, also after a step of the clock back, and also where it came before', async () => {
  const id = toApplicationId('128');
  const observedAfter = async (atMs: number, one: IncomeCheck) => {
    await clock.set(atMs);
    await addIncomeCheck(database, id, one);
    return (await incomeCheckOf(database, id))?.observed;
  };
  assert.equal(await observedAfter(START, check('a', 1)), 1);
  assert.equal(await observedAfter(START - 2 * HOUR_MS, check('b', 2)), 2);
  assert.equal(await observedAfter(START - 3 * HOUR_MS, check('a', 1)), 1);
});
