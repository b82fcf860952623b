/** A small history that keeps all rules, and what the tests of the checker do to break one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkHistory, RULES, type Rule } from './check.ts';
import type { Batch, History, Store } from './history.ts';
import { Model } from './model.ts';

/** Two partners, the second with a cap of 2; one application is approved and one disbursed; one answer was lost. */
export function example(): History {
  const model = new Model([null, 2]);
  const anybody = { decision: 'approved', optin: true } as const;
  model.submit(
    0,
    [
      { phone: 1, decision: 'in_review', optin: true },
      { phone: 2, ...anybody },
    ],
    'answered',
  );
  model.submit(
    1,
    [
      { phone: 3, decision: 'rejected', optin: false },
      { phone: 4, ...anybody },
    ],
    'lost',
  );
  model.submit(1, [{ phone: 5, ...anybody }], 'refused');
  model.submit(0, [{ phone: 2, ...anybody }], 'answered');
  model.resend(1);
  model.readQuota(1);
  model.resend(0);
  model.submit(1, [{ phone: 6, ...anybody }], 'answered');
  model.review(0, 'approve', 'answered');
  model.review(1, 'disburse', 'lost');
  model.review(0, 'reject', 'answered');
  model.submit(0, [{ phone: 1, ...anybody }], 'answered');
  return model.history();
}

/** The history with these parts of its store replaced. */
export const inStore = (history: History, change: Partial<Store>): History => ({
  ...history,
  store: { ...history.store, ...change },
});

/** The history with a part of one batch replaced. */
export const inBatch = (
  history: History,
  place: number,
  change: (batch: Batch) => Partial<Batch>,
): History => ({
  ...history,
  batches: history.batches.map((batch, index) => (index === place ? { ...batch, ...change(batch) } : batch)),
});

/** How a rule is broken, the rule, and the history. More rules may be broken by it. */
export type Break = readonly [string, Rule, (history: History) => History];

/** Tests that each break of a history is seen, and that each of the rules has one. */
export function testBreaks(rules: readonly Rule[], breaks: readonly Break[], whole = example): void {
  for (const [how, rule, change] of breaks) {
    test(`the rule "${RULES[rule]}" is broken by ${how}`, () => {
      const violations = checkHistory(change(whole()));
      assert.ok(
        violations.some((one) => one.rule === rule),
        JSON.stringify(violations, null, 2),
      );
    });
  }
  test(`each of ${rules.join(', ')} is broken by one of these histories`, () => {
    assert.deepEqual(new Set(breaks.map(([, rule]) => rule)), new Set(rules));
  });
}
