/** How many statements a decision takes: each one is a round trip to the database. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { testDatabase } from '../support/database.ts';
import { hearingStatements } from '../support/heard-statements.ts';
import { ALL_AGAINST, proposalDesk } from '../support/proposals.ts';

const store = await testDatabase();
const { database, take } = hearingStatements(store.runtime);
const desk = await proposalDesk({ ...store, runtime: database });
const ana = await desk.operator('ana');

/** The statements of a request that is answered with 200. */
async function statementsOf(request: () => ReturnType<typeof desk.propose>): Promise<string[]> {
  take();
  const { status, body } = await request();
  assert.equal(status, 200, JSON.stringify(body));
  return take();
}

it('a proposal takes five statements at most', async () => {
  const [first, second] = await desk.register(2);
  const approval = await statementsOf(() => desk.propose(ana.visitor, first!));
  assert.ok(approval.length <= 5, approval.join('\n'));
  const headers = { 'Idempotency-Key': 'once' };
  const decide = () => desk.propose(ana.visitor, second!, { act: 'reject', reason: 'x' }, headers);
  const keyed = await statementsOf(decide);
  assert.ok(keyed.length <= 5, keyed.join('\n'));
  const repeated = await statementsOf(decide);
  assert.ok(repeated.length <= 5, repeated.join('\n'));
  await desk.applyAll();
  const payment = await statementsOf(() =>
    desk.propose(ana.visitor, first!, { act: 'disburse', reason: 'x' }),
  );
  assert.ok(payment.length <= 5, payment.join('\n'));
});

it('a decision on many takes as many statements for a thousand as for one', async () => {
  const ids = await desk.register(1_001);
  const decide = (some: readonly number[]) =>
    statementsOf(() =>
      ana.visitor.ask('POST', '/api/proposals/bulk', {
        ...{ act: 'approve', reason: 'fine', seen: ALL_AGAINST },
        applications: some.map((id) => ({ id, last_event: '0' })),
      }),
    );
  const one = await decide(ids.slice(0, 1));
  const thousand = await decide(ids.slice(1));
  assert.deepEqual(thousand, one);
  assert.ok(one.length <= 8, one.join('\n'));
});
