/** The checker of histories: what it says of batches and their answers, by small made-up histories. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOpen } from '../../src/domain/application/lifecycle.ts';
import { checkHistory } from './check.ts';
import { type Break, example, inBatch, inStore, testBreaks } from './example.ts';
import type { Call } from './history.ts';

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
    'two open applications of a phone, of a partner whose batches nobody noted',
    'phones',
    (history) => {
      const { phone } = history.store.applications.find(({ status }) => isOpen(status))!;
      const stray = { ...history.store.applications[0]!, id: 999, partnerId: 3, idNumber: null, phone };
      const flood = { id: 3, cap: null, hasEndpoint: false, isNoted: false };
      return {
        ...inStore(history, {
          applications: [...history.store.applications, { ...stray, moves: [], status: 'in_review' }],
        }),
        partners: [...history.partners, flood],
      };
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
    'a valid application that is told as invalid',
    'refused',
    (history) =>
      inBatch(history, 3, ({ calls }) => ({
        calls: [answeredWith(calls[0]!, { outcomes: [{ kind: 'invalid' }] })],
      })),
  ],
  [
    'an invalid application that is told as a duplicate',
    'refused',
    (history) =>
      inBatch(history, 3, ({ applications }) => ({
        applications: applications.map((one) => ({ ...one, decision: null })),
      })),
  ],
  [
    'another decision than the data lead to, told and stored',
    'refused',
    (history) =>
      inBatch(history, 0, ({ applications: [first, ...others] }) => ({
        applications: [{ ...first!, decision: 'approved' as const }, ...others],
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
  ...[400, 404, 409, 422].map(
    (status): Break => [
      `a batch that is answered with ${status} when it comes again`,
      'replays',
      (history) =>
        inBatch(history, 0, ({ calls }) => ({
          calls: [calls[0]!, answeredWith(calls[1]!, { status, isReplay: false, outcomes: null })],
        })),
    ],
  ),
  [
    'a batch that is registered after it was answered with 400',
    'replays',
    (history) =>
      inBatch(history, 0, ({ calls }) => ({
        calls: [answeredWith(calls[0]!, { status: 400, digest: '{}', outcomes: null }), ...calls],
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

testBreaks(['phones', 'acknowledged', 'refused', 'replays'], BREAKS);

test('a history that keeps all rules breaks none', () => {
  assert.deepEqual(checkHistory(example()), []);
});
