/** The checker of histories: what it says of quotas and of the database's clock, by small made-up histories. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkHistory } from './check.ts';
import { type Break, example, inBatch, inStore, testBreaks } from './example.ts';
import type { Batch, History, Outcome } from './history.ts';
import { Model } from './model.ts';

const HOUR_MS = 3_600_000;
const OVER_QUOTA: Outcome = { kind: 'over_quota' };

/** The history with the outcomes of one batch's first answer replaced. */
const told = (history: History, place: number, outcomes: readonly Outcome[]): History =>
  inBatch(history, place, ({ calls }) => ({
    calls: calls.map((call) => ({ ...call, answer: call.answer && { ...call.answer, outcomes } })),
  }));

const BREAKS: readonly Break[] = [
  [
    'a cap that is passed',
    'quota',
    (history) => ({ ...history, partners: history.partners.map((one) => ({ ...one, cap: one.cap && 1 })) }),
  ],
  [
    'a usage over the cap',
    'quota',
    (history) => ({ ...history, quota: [{ partnerId: 2, used: 3, toMs: 1 }] }),
  ],
  [
    'a usage below nothing after a step of the clock',
    'quota',
    (history) => ({
      ...history,
      quota: [{ partnerId: 2, used: -1, toMs: 99_999 }],
      clockSteps: [{ fromMs: 1, toMs: 2, aheadMs: HOUR_MS }],
    }),
  ],
  [
    'a quota that is used up below its cap',
    'quota',
    (history) => ({ ...history, partners: history.partners.map((one) => ({ ...one, cap: one.cap && 3 })) }),
  ],
  ['a quota that is used up without a cap', 'quota', (history) => told(history, 3, [OVER_QUOTA])],
  [
    'a quota that is used up by what came later',
    'quota',
    (history) => {
      // The refused batch was answered before all others.
      const last = history.batches.findLastIndex(({ partnerId }) => partnerId === 2);
      return inBatch(history, last, ({ calls }) => ({
        calls: calls.map((call) => ({ ...call, fromMs: 1, toMs: 2 })),
      }));
    },
  ],
  [
    'a quota that is used up by what is no longer in the window',
    'quota',
    (history) => ({ ...history, clockSteps: [stepBeforeLast(history, 40 * HOUR_MS)] }),
  ],
  [
    'a duplicate after the quota was used up',
    'quota',
    (history) => {
      const { outcomes } = history.batches[1]!.calls[1]!.answer!;
      const [first] = outcomes!;
      return told(history, 1, [OVER_QUOTA, first!]);
    },
  ],
];

/** A step of the clock just before the last batch of the partner with a cap, which is over its quota. */
function stepBeforeLast(history: History, aheadMs: number) {
  const { calls } = history.batches.findLast(({ partnerId }) => partnerId === 2)!;
  const { fromMs } = calls[0]!;
  return { fromMs: fromMs - 2, toMs: fromMs - 1, aheadMs };
}

testBreaks(['quota'], BREAKS);

test('a quota that is used up is no violation where the clock may still be the one before (D39)', () => {
  const history = example();
  const step = stepBeforeLast(history, 40 * HOUR_MS);
  const lostMs = history.batches[1]!.calls[0]!.toMs;
  const afterLost = { ...step, fromMs: lostMs + 1, toMs: lostMs + 2 };
  for (const [what, clockSteps] of [
    ['a small step', [{ ...step, aheadMs: 2 * HOUR_MS }]],
    ['a step back', [{ ...step, aheadMs: -2 * HOUR_MS }]],
    ['a step whose end nobody knows', [{ ...step, toMs: Number.POSITIVE_INFINITY }]],
    ['a step after a registration whose answer was lost', [afterLost]],
    ['a step during the request', [{ ...step, toMs: step.toMs + 5 }]],
    [
      'a step there and back',
      [
        { ...step, toMs: step.fromMs },
        { ...step, fromMs: step.toMs, aheadMs: 0 },
      ],
    ],
  ] as const) {
    assert.deepEqual(checkHistory({ ...history, clockSteps }), [], what);
  }
});

test('what came while the clock was ahead is in the window after the clock is back (D39)', () => {
  const model = new Model([1]);
  const anybody = { decision: 'approved', optin: true } as const;
  model.stepClock(40 * HOUR_MS);
  model.submit(0, [{ phone: 1, ...anybody }], 'answered');
  model.stepClock(0);
  model.submit(0, [{ phone: 2, ...anybody }], 'answered');
  const history = model.history();
  assert.equal(history.batches[1]!.calls[0]!.answer!.outcomes![0]!.kind, 'over_quota');
  assert.deepEqual(checkHistory(history), []);
});

test('a step of the clock begins a window of its own (D39)', () => {
  const history = example();
  // Partner 2 registered its two before the step and, by another history, as many after it.
  const copies = history.store.applications
    .filter(({ partnerId }) => partnerId === 2)
    .map((one) => ({ ...one, id: one.id + 900, idNumber: `${one.idNumber}0`, phone: `${one.phone}0` }));
  const second = history.batches[1]!;
  const later: Batch = {
    ...second,
    applications: second.applications.map((one) => ({
      ...one,
      idNumber: `${one.idNumber}0`,
      phone: `${one.phone}0`,
    })),
    calls: second.calls.map((call) => ({ ...call, fromMs: call.fromMs + 5_000, toMs: call.toMs + 5_000 })),
  };
  const twice = {
    ...inStore(history, { applications: [...history.store.applications, ...copies] }),
    batches: [...history.batches, later],
  };
  const windows = (clockSteps: History['clockSteps']) =>
    checkHistory({ ...twice, clockSteps }).filter(({ rule }) => rule === 'quota').length;
  assert.equal(windows([]), 1);
  assert.equal(windows([{ fromMs: 3_000, toMs: 3_001, aheadMs: 40 * HOUR_MS }]), 0);
});
