/**
 * One version a batch, and none that begins after an activation has the one before (D51): batches of three services,
 * which know nothing of each other, while the policy is activated again and again.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { documentOf } from '../../src/domain/scorecard/content.ts';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';
import { activatePolicy, addPolicy, readLive } from '../../src/subjects/policies/sql/policies.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { intakeOf } from '../support/intake.ts';

const store = await testDatabase();
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);

const ACTIVATIONS = 200;
const SERVICES = 3;
/** Its score of 84 is approved from 70 on, and in review from 90 on. */
const borderline = applicant({
  ...{ phone: null, income: 1e9, debt_amount: 1_000 },
  ...{ num_debts: '3', debt_age: 'lt6', prior_history: 'yes' },
});
const BATCH = Array.from({ length: 5 }, () => borderline);
const DECISIONS = ['approved', 'in_review'] as const;

/** What happened, in this process's order: `began` and `ended` count the activations that were over by then. */
interface Batch {
  readonly began: number;
  readonly ended: number;
  readonly decisions: ReadonlySet<string>;
}

it('D51: no batch has two versions, and none that begins after an activation has an older one', async () => {
  const services = await Promise.all(Array.from({ length: SERVICES }, () => intakeOf(store)));
  const strict = {
    ...documentOf(DEFAULT_POLICY),
    version: 'strict-1',
    decision: { approved: 90, in_review: 30 },
  };
  const { policy } = await addPolicy(store.database, strict, { by: 'test', accepted: [] });
  const ids = [(await readLive(store.database))!.id, policy.id];
  // Activation n makes the version n % 2 live. `started` is at most one ahead of `over`.
  let [started, over] = [0, 0];
  const batches: Batch[] = [];
  const load = services.map(async (ingest) => {
    while (over < ACTIVATIONS) {
      const began = over;
      const { outcomes } = await ingest(key as number, BATCH);
      const decisions = new Set(outcomes.map((one) => (one.kind === 'registered' ? one.decision : one.kind)));
      batches.push({ began, ended: started, decisions });
    }
  });
  while (over < ACTIVATIONS) {
    started += 1;
    const { activationId: after } = (await readLive(store.database))!;
    const policyId = ids[started % 2]!;
    const terms = { by: 'test', second: null, reason: 'x', accepted: [], backtest: null };
    assert.ok(await activatePolicy(store.database, { policyId, after, ...terms }));
    over = started;
    const seen = batches.length;
    while (batches.length < seen + 2) await new Promise(setImmediate);
  }
  await Promise.all(load);
  let exact = 0;
  for (const { began, ended, decisions } of batches) {
    assert.equal(decisions.size, 1, 'one version decides a batch');
    const [decision] = decisions;
    const allowed = new Set(Array.from({ length: ended - began + 1 }, (_, n) => DECISIONS[(began + n) % 2]));
    assert.ok(allowed.has(decision as (typeof DECISIONS)[number]), `${decision} after ${began} activations`);
    if (allowed.size === 1) exact += 1;
  }
  assert.ok(
    batches.length > ACTIVATIONS && exact > 0,
    `${batches.length} batches, ${exact} within one version`,
  );
});
