/** Drift is told where the applications have changed, and hardly ever where they have not (D51). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DebtAge, NumDebts } from '../../src/domain/application/fields.ts';
import type { DecisionFacts } from '../../src/domain/scorecard/scorecard.ts';
import {
  COMPARED,
  Distribution,
  driftOf,
  psi,
  thresholdOf,
} from '../../src/subjects/evaluation/rules/drift.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { BUILT_IN_CARD } from '../support/built-in-card.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';

/** Numbers between 0 and 1, the same in each run (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** An application; `share` of them have debts of more than two years. */
function drawn(next: () => number, share = 0.25): DecisionFacts {
  const rest = (['lt6', '6a12', '1a2'] as const)[Math.floor(next() * 3)]!;
  return {
    income: 200_000 + next() * 2_000_000,
    debt_amount: 6_000_000,
    currency: 'COP',
    num_debts: String(1 + Math.floor(next() * 3)) as NumDebts,
    debt_age: (next() < share ? 'gt2' : rest) as DebtAge,
    prior_history: next() < 0.5 ? 'yes' : 'no',
  };
}

function sample(size: number, next: () => number, share?: number): Distribution {
  const distribution = new Distribution(BUILT_IN_CARD);
  for (let n = 0; n < size; n += 1) distribution.add(drawn(next, share));
  return distribution;
}

describe('the index', () => {
  it('D51: equal shares have none, and an empty bin makes no infinity', () => {
    assert.ok(psi([1000, 2000, 3000], [1000, 2000, 3000]) < 1e-12);
    assert.ok(psi([100, 0], [50, 50]) > 1 && Number.isFinite(psi([100, 0], [50, 50])));
    // By hand: shares 0.5 and 0.5 against 0.8 and 0.2 give 0.3 ln 1.6 - 0.3 ln 0.4 = 0.4159.
    assert.ok(Math.abs(psi([500_000, 500_000], [800_000, 200_000]) - 0.4159) < 1e-3);
  });

  it('D51: small samples have to pass more', () => {
    assert.equal(thresholdOf(4, 100_000, 100_000), 0.1);
    assert.equal(thresholdOf(4, 100, 100), 16.266 * 0.02);
  });

  it('D51: of 1,000 weeks of one distribution at most one is told as drift', () => {
    const next = numbers(34);
    const baseline = sample(5_000, next);
    let told = 0;
    for (let week = 0; week < 1_000; week += 1)
      if (driftOf(baseline, sample(week % 2 === 0 ? 1_000 : 100, next)).some(({ alert }) => alert)) told += 1;
    assert.ok(told <= 1, `${told} weeks`);
  });

  it('D51: a shift is told, of the characteristic that has shifted', () => {
    const next = numbers(35);
    const found = driftOf(sample(5_000, next), sample(1_000, next, 0.6));
    const alerts = found.filter(({ alert }) => alert).map(({ characteristic }) => characteristic);
    assert.ok(alerts.includes('debt_age') && !alerts.includes('num_debts'), alerts.join());
  });

  it('D51: a sample of fewer than 100 says nothing', () => {
    const next = numbers(36);
    const found = driftOf(sample(5_000, next), sample(99, next, 1));
    for (const { psi: index, alert } of found) assert.deepEqual([index, alert], [null, false]);
  });
});

it('D51: policy drift compares the last days with the first applications after the activation', async () => {
  const store = await testDatabase();
  const { run, json } = commandLine(store);
  const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
  const register = await registrarOf(store);
  const next = numbers(37);
  const send = (count: number, share?: number) =>
    register(
      key,
      Array.from({ length: count }, () => applicant({ ...drawn(next, share), phone: null })),
    );
  await send(600);
  await store.database.query("UPDATE batches SET created_at = created_at - interval '20 days'");
  await store.database.query("UPDATE policy_activations SET at = at - interval '30 days'");
  const drifting = await run('policy', 'drift', '--json');
  assert.equal(drifting.code, 0, 'nobody applied in the last week');
  await send(300, 0.9);
  const rows = JSON.parse((await run('policy', 'drift', '--json')).out);
  assert.deepEqual(
    rows.map(({ characteristic }: { characteristic: string }) => characteristic),
    [...COMPARED],
  );
  // The baseline has all 900, because fewer than 5,000 applied since the activation.
  const [, age] = rows;
  assert.ok(age.alert && age.psi > age.threshold, JSON.stringify(age));
  const said = await run('policy', 'drift', '--window', '30');
  assert.match(said.out, /^default-2: 900 applications of the last 30 days against 900\n/);
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  const chosen = await run('policy', 'drift', '--baseline', `${day(21)}..${day(19)}`);
  assert.equal(chosen.code, 1);
  assert.match(chosen.out, /300 applications of the last 7 days against 600\n/);
  assert.match(chosen.out, /debt_age +\d\.\d{3} +0\.100 +drifted/);
  assert.match((await run('policy', 'drift', '--window', '0')).err, /1 to 366 days/);
  assert.match((await run('policy', 'drift', '--baseline', 'yesterday')).err, /2026-11-01\.\.2026-11-07/);
});
