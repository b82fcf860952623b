/** The checker of histories: what it says of the desk, by small made-up histories. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkHistory } from './check.ts';
import { type Break, inStore, testBreaks } from './example.ts';
import type { DeskAct, History, Move, StoredProposal } from './history.ts';
import { Model } from './model.ts';

const [ANA, BEA, CARLOS] = [1, 2, 3];
const [APPROVED, UNDONE, PAID, DECLINED, RETURNED] = [1, 2, 3, 4, 5];

/** Five proposals that end in the five ways, a claim that keeps others away, and one that is given back. */
function desk(): History {
  const model = new Model([null]);
  const applicant = (phone: number) => ({ phone, decision: 'in_review', optin: false }) as const;
  model.submit(0, [1, 2, 3, 4].map(applicant), 'answered');
  const { desk: its } = model;
  its.propose(0, ANA, 'approve');
  its.wait();
  its.propose(1, ANA, 'approve');
  its.undo(UNDONE - 1);
  its.propose(0, BEA, 'disburse');
  its.answer(PAID - 1, BEA, 'confirm');
  its.answer(PAID - 1, CARLOS, 'confirm');
  its.wait();
  its.undo(APPROVED - 1);
  its.propose(1, CARLOS, 'reject');
  its.answer(DECLINED - 1, ANA, 'decline');
  its.propose(2, ANA, 'reject');
  model.review(2, 'approve', 'answered');
  its.wait();
  its.claim(3, ANA);
  its.claim(3, BEA);
  its.propose(3, BEA, 'approve');
  its.release(3, ANA);
  its.claim(3, BEA);
  return model.history();
}

const withActs = (history: History, change: (act: DeskAct, place: number) => DeskAct | null): History => ({
  ...history,
  deskActs: history.deskActs.flatMap((act, place) => change(act, place) ?? []),
});
const without = (history: History, act: DeskAct['act'], proposalId: number): History =>
  withActs(history, (one) => (one.act === act && one.proposalId === proposalId ? null : one));
const withProposal = (history: History, id: number, change: Partial<StoredProposal>): History =>
  inStore(history, {
    proposals: history.store.proposals.map((one) => (one.id === id ? { ...one, ...change } : one)),
  });
const withMoves = (history: History, change: (moves: readonly Move[]) => readonly Move[]): History =>
  inStore(history, {
    applications: history.store.applications.map((one) => ({ ...one, moves: change(one.moves) })),
  });
const withUndo = (history: History, change: Partial<DeskAct>): History =>
  withActs(history, (one) => (one.end === 'late' ? { ...one, ...change } : one));

const BREAKS: readonly Break[] = [
  [
    'a proposal that is lost',
    'proposals',
    (history) => inStore(history, { proposals: history.store.proposals.slice(1) }),
  ],
  [
    'another action than was proposed',
    'proposals',
    (one) => withProposal(one, APPROVED, { action: 'reject' }),
  ],
  ['a proposal of nobody', 'proposals', (history) => without(history, 'propose', APPROVED)],
  [
    'a proposal that is open for ever',
    'proposals',
    (history) => withProposal(history, DECLINED, { state: 'proposed', recorded: [] }),
  ],
  ['a proposal that nobody undid', 'proposals', (history) => without(history, 'undo', UNDONE)],
  ['a proposal that nobody declined', 'proposals', (history) => without(history, 'decline', DECLINED)],
  [
    'a proposal that is returned without need',
    'proposals',
    (history) => withProposal(history, RETURNED, { returnedFor: 'failure' }),
  ],
  [
    'a proposal that is applied twice',
    'proposals',
    (history) => withMoves(history, (moves) => [...moves, ...moves]),
  ],
  [
    'a proposal that is recorded twice',
    'proposals',
    (history) =>
      withProposal(history, APPROVED, { recorded: ['application approve', 'application approve'] }),
  ],
  ['an applied proposal without a move', 'proposals', (history) => withMoves(history, () => [])],
  [
    'a move of an operator without a proposal',
    'proposals',
    (history) => withMoves(history, (moves) => moves.map((move) => ({ ...move, actor: 'operator 9' }))),
  ],
  [
    'a proposal that was undone and applied',
    'undone',
    (history) => withProposal(history, UNDONE, { state: 'applied' }),
  ],
  [
    'a proposal that was applied at once',
    'undone',
    (history) => {
      const { toMs: fromMs } = history.deskActs.find(({ proposalId }) => proposalId === APPROVED)!;
      return withUndo(history, { fromMs, toMs: fromMs + 1 });
    },
  ],
  ['a payment that nobody confirmed', 'secondOperators', (history) => without(history, 'confirm', PAID)],
  [
    'a decision above the authority that nobody confirmed',
    'secondOperators',
    (history) => ({ ...history, operators: [] }),
  ],
  [
    'a history without the second operator',
    'secondOperators',
    (history) => withMoves(history, (moves) => moves.map((move) => ({ ...move, second: null }))),
  ],
  [
    'a maker who confirms',
    'secondOperators',
    (history) =>
      withActs(history, (one) => (one.act === 'confirm' ? { ...one, operatorId: BEA, end: 'done' } : one)),
  ],
  [
    'a claim of what another one holds',
    'claims',
    (history) => withActs(history, (one) => (one.act === 'claim' ? { ...one, end: 'done' } : one)),
  ],
  [
    'an approval of what another one holds',
    'claims',
    (history) => withActs(history, (one) => (one.action === 'approve' ? { ...one, end: 'done' } : one)),
  ],
];

testBreaks(['proposals', 'undone', 'secondOperators', 'claims'], BREAKS, desk);

test('a desk that keeps the rules breaks none, and ends its proposals in every way', () => {
  const history = desk();
  assert.deepEqual(checkHistory(history), []);
  const states = history.store.proposals.map(({ state }) => state);
  assert.deepEqual(states, ['applied', 'undone', 'applied', 'declined', 'returned']);
  const claims = history.deskActs.filter(({ act }) => act === 'claim').map(({ end }) => end);
  assert.deepEqual(claims, ['done', 'refused', 'done']);
});

test('what only seems early or held twice is no break: the clock stepped meanwhile (D39)', () => {
  const history = desk();
  const { fromMs, toMs } = history.deskActs.find(({ proposalId }) => proposalId === APPROVED)!;
  const early = withUndo(history, { fromMs: toMs, toMs: toMs + 1 });
  assert.equal(checkHistory(early).length, 1);
  const clockSteps = [{ fromMs, toMs, aheadMs: 3_000 }];
  assert.deepEqual(checkHistory({ ...early, clockSteps }), []);

  const first = history.deskActs.find(({ act }) => act === 'claim')!;
  const twice = withActs(history, (one) => (one.act === 'claim' ? { ...one, end: 'done' } : one));
  assert.equal(checkHistory(twice).length, 1);
  const step = { fromMs: first.toMs, toMs: first.toMs, aheadMs: 40 * 3_600_000 };
  assert.deepEqual(checkHistory({ ...twice, clockSteps: [step] }), []);
});
