/** Which check of an income counts while the clock steps (D39, D44). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { DEFAULT_INCOME_RULES } from '../../src/domain/scorecard/scorecard.ts';
import {
  addIncomeCheck,
  type IncomeCheck,
  incomeCheckOf,
} from '../../src/subjects/income/sql/income-checks.ts';
import { testDatabase } from '../support/database.ts';
import { shifted } from '../support/shifted.ts';

const { database } = await testDatabase();

const check = (digit: string, observed: number): IncomeCheck => ({
  digest: digit.repeat(64),
  ...{ method: 'operator', outcome: 'operator', reason: 'too_few_months', currency: 'COP' },
  ...{ declared: 100, observed, months: 1, confidence: 1, layouts: [], reader: 'test' },
  ...{ policyVersion: null, rules: DEFAULT_INCOME_RULES, again: null, evidence: null },
});

/**
 * Steps the clock back by moving the stored times ahead: the time of a check is a default of its column, which no clock
 * of a test reaches.
 */
const stepBack = (hours: number) =>
  database.query(`UPDATE income_checks SET checked_at = ${shifted('checked_at', '$1::interval')}`, [
    `${hours} hours`,
  ]);

test('D39, D44: the last check counts, also after a step of the clock back, and also where it came before', async () => {
  const id = toApplicationId('128');
  const observedAfter = async (one: IncomeCheck) => {
    await addIncomeCheck(database, id, one);
    return (await incomeCheckOf(database, id))?.observed;
  };
  assert.equal(await observedAfter(check('a', 1)), 1);
  await stepBack(2);
  assert.equal(await observedAfter(check('b', 2)), 2);
  await stepBack(1);
  assert.equal(await observedAfter(check('a', 1)), 1);
});
