/** The checker of histories: what it says of batches and their answers, by small made-up histories. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkHistory } from './check.ts';
import { type Break, example, inBatch, inStore, testBreaks } from './example.ts';
import type { Batch, Call, History } from './history.ts';

const answeredWith = (call: Call, change: Partial<NonNullable<Call['answer']>>): Call => ({
  ...call,
  answer: { ...call.answer!, ...change },
});

const BREAKS: readonly Break[] = [
  [
    'two open applications of a phone at the end',
    'phones',
    (history) => {
      const applications = history.store.applications.map((one) => ({ ...one, phone: '+521' }));
      return inStore(history, { applications });
    },
  ],
  [
    'two open applications of a phone, one closed by the end',
    'phones',
    (history) => {
      const last = history.batches.length - 1;
      // The last batch has the phone of the first application, which was rejected just before.
      const [{ fromMs }] = [history.reviews[0]!];
      return inBatch(history, last, ({ calls }) => ({
        calls: [{ ...calls[0]!, fromMs: fromMs - 2, toMs: fromMs - 1 }],
      }));
    },
  ],
  [
    'a duplicate of an application that is closed',
    'phones',
    (history) => {
      const reviews = history.reviews.map((review) => ({ ...review, end: 'done' as const }));
      return inBatch({ ...history, reviews }, 3, ({ calls }) => ({
        calls: [{ ...calls[0]!, fromMs: 9_000, toMs: 9_001 }],
      }));
    },
  ],
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
      clockSteps: [{ fromMs: 1, toMs: 2 }],
    }),
  ],
  [
    'an acknowledged application that is lost',
    'acknowledged',
    (history) => inStore(history, { applications: history.store.applications.slice(1) }),
  ],
  [
    'an acknowledged application that is stored twice',
    'acknowledged',
    (history) => {
      const [first] = history.store.applications;
      return inStore(history, { applications: [...history.store.applications, { ...first!, id: 999 }] });
    },
  ],
  [
    'another score than the acknowledged one',
    'acknowledged',
    (history) => {
      const [first, ...others] = history.store.applications;
      return inStore(history, { applications: [{ ...first!, score: 1 }, ...others] });
    },
  ],
  [
    'an acknowledged review that is lost',
    'acknowledged',
    (history) => {
      const [first, ...others] = history.store.applications;
      const { moves } = first!;
      return inStore(history, {
        applications: [{ ...first!, moves: moves.slice(0, 1), status: moves[0]!.to }, ...others],
      });
    },
  ],
  ['a review by nobody', 'acknowledged', (history) => ({ ...history, reviews: history.reviews.slice(1) })],
  [
    'a refused batch that is stored',
    'refused',
    (history) =>
      inBatch(history, 0, ({ calls }) => ({
        calls: [answeredWith(calls[0]!, { status: 500, outcomes: null })],
      })),
  ],
  [
    'a refused application that is stored',
    'refused',
    (history) =>
      inBatch(history, 0, ({ calls }) => ({
        calls: calls.map((call) =>
          answeredWith(call, { outcomes: [{ kind: 'invalid' }, call.answer!.outcomes![1]!] }),
        ),
      })),
  ],
  [
    'a half of a batch without an answer',
    'refused',
    (history) => {
      const half = inStore(history, { applications: history.store.applications.slice(1) });
      return inBatch(half, 0, ({ calls }) => ({
        isAllNew: true,
        calls: calls.map((call) => ({ ...call, answer: null })),
      }));
    },
  ],
  [
    'an application that nobody sent',
    'refused',
    (history) => {
      const stray = { ...history.store.applications[0]!, id: 999, idNumber: null, phone: null };
      return inStore(history, { applications: [...history.store.applications, stray] });
    },
  ],
  [
    'a replay that differs',
    'replays',
    (history) =>
      inBatch(history, 0, ({ calls }) => ({ calls: [calls[0]!, answeredWith(calls[1]!, { digest: '{}' })] })),
  ],
  [
    'two first answers',
    'replays',
    (history) =>
      inBatch(history, 0, ({ calls }) => ({
        calls: [calls[0]!, answeredWith(calls[1]!, { isReplay: false })],
      })),
  ],
  [
    'a replay of a batch that was refused',
    'replays',
    (history) =>
      inBatch(history, 0, ({ calls }) => ({
        calls: [answeredWith(calls[0]!, { status: 500 }), calls[1]!],
      })),
  ],
];

testBreaks(['phones', 'quota', 'acknowledged', 'refused', 'replays'], BREAKS);

test('a history that keeps all rules breaks none', () => {
  assert.deepEqual(checkHistory(example()), []);
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
  assert.equal(windows([{ fromMs: 3_000, toMs: 3_001 }]), 0);
});
