/** The checker of histories, as properties over made-up runs of a service that keeps every rule. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkHistory, type Rule } from './check.ts';
import type { History } from './history.ts';
import { type Fate, Model } from './model.ts';

const RUNS = 200;
const FATES: readonly Fate[] = ['answered', 'answered', 'lost', 'refused'];

const applicant = fc.record({
  phone: fc.integer({ min: 1, max: 12 }),
  decision: fc.constantFrom('approved', 'in_review', 'rejected', null),
  optin: fc.boolean(),
} as const);
const fate = fc.constantFrom(...FATES);
const which = fc.nat(50);
const action = fc.constantFrom('approve', 'reject', 'disburse');
const operator = fc.integer({ min: 1, max: 3 });
/** What an operator of the desk does. */
const deskStep: fc.Arbitrary<(model: Model) => void> = fc.oneof(
  fc.tuple(which, operator).map(
    (args) =>
      ({ desk }: Model) =>
        desk.claim(...args),
  ),
  fc.tuple(which, operator).map(
    (args) =>
      ({ desk }: Model) =>
        desk.release(...args),
  ),
  fc.tuple(which, operator, action).map(
    (args) =>
      ({ desk }: Model) =>
        desk.propose(...args),
  ),
  which.map(
    (place) =>
      ({ desk }: Model) =>
        desk.undo(place),
  ),
  fc.tuple(which, operator, fc.constantFrom('confirm', 'decline')).map(
    (args) =>
      ({ desk }: Model) =>
        desk.answer(...args),
  ),
  fc.constant(({ desk }: Model) => desk.wait()),
);
const step: fc.Arbitrary<(model: Model) => void> = fc.oneof(
  fc
    .tuple(fc.integer({ min: 0, max: 1 }), fc.array(applicant, { minLength: 1, maxLength: 5 }), fate)
    .map((args) => (model: Model) => model.submit(...args)),
  which.map((place) => (model: Model) => model.resend(place)),
  which.map((place) => (model: Model) => model.optOut(place)),
  fc.constantFrom(-2, 0, 2, 40).map((hours) => (model: Model) => model.stepClock(hours * 3_600_000)),
  fc.constant((model: Model) => model.readQuota(1)),
  fc.tuple(which, action, fate).map((args) => (model: Model) => model.review(...args)),
  { arbitrary: deskStep, weight: 3 },
);
/** Runs with something in them: the first application is approved, and then disbursed. */
const history = fc.array(step, { maxLength: 40 }).map((steps): History => {
  const model = new Model([null, 6]);
  model.submit(0, [{ phone: 99, decision: 'in_review', optin: true }], 'answered');
  model.review(0, 'approve', 'answered');
  model.review(0, 'disburse', 'answered');
  for (const one of steps) one(model);
  return model.history();
});

test('a service that keeps every rule breaks none, whatever its clients do', () => {
  fc.assert(
    fc.property(history, (one) => {
      assert.deepEqual(checkHistory(one), []);
    }),
    { numRuns: RUNS },
  );
});

/** What takes one thing out of the store or doubles it, at any place, and the rule that must see it. */
const LOSSES: readonly (readonly [string, Rule, (history: History, place: number) => History | null])[] = [
  [
    'an acknowledged application',
    'acknowledged',
    (one, place) => {
      const told = one.batches.flatMap(({ calls }) =>
        calls.flatMap(({ answer }) =>
          (answer?.outcomes ?? []).flatMap((outcome) => (outcome.kind === 'registered' ? [outcome.id] : [])),
        ),
      );
      const id = told[place % told.length];
      const applications = one.store.applications.filter((application) => application.id !== id);
      return { ...one, store: { ...one.store, applications } };
    },
  ],
  [
    'a message',
    'messages',
    (one, place) => {
      const messages = one.store.messages.filter((_, index, { length }) => index !== place % length);
      return { ...one, store: { ...one.store, messages } };
    },
  ],
  [
    'the only send of a message',
    'sends',
    (one, place) => ({ ...one, sends: one.sends.filter((_, index, { length }) => index !== place % length) }),
  ],
  [
    'an event',
    'events',
    (one, place) => {
      const events = one.store.events.filter((_, index, { length }) => index !== place % length);
      return { ...one, store: { ...one.store, events } };
    },
  ],
  [
    'an event of the feed',
    'events',
    (one, place) => {
      const feeds = one.feeds.map((feed) => ({
        ...feed,
        events: feed.events.filter((_, index, { length }) => index !== place % length),
      }));
      return { ...one, feeds };
    },
  ],
];

for (const [what, rule, lose] of LOSSES) {
  test(`the loss of ${what} is always seen`, () => {
    fc.assert(
      fc.property(history, fc.nat(), (one, place) => {
        const without = lose(one, place);
        fc.pre(without !== null);
        assert.ok(checkHistory(without).some((violation) => violation.rule === rule));
      }),
      { numRuns: RUNS },
    );
  });
}

test('a second send of any message is always seen', () => {
  fc.assert(
    fc.property(history, fc.nat(), (one, place) => {
      const again = one.sends[place % one.sends.length]!;
      const violations = checkHistory({ ...one, sends: [...one.sends, again] });
      assert.ok(violations.some(({ rule }) => rule === 'sends'));
    }),
    { numRuns: RUNS },
  );
});
