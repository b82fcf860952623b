/** Drift is told where the applications have changed, and hardly ever where they have not (D51). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DebtAge, NumDebts } from '../../src/domain/application/fields.ts';
import { documentOf } from '../../src/domain/scorecard/content.ts';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';
import type { DecisionFacts } from '../../src/domain/scorecard/scorecard.ts';
import {
  COMPARED,
  Distribution,
  driftOf,
  psi,
  thresholdOf,
  WATCHED,
} from '../../src/subjects/evaluation/rules/drift.ts';
import { countDecisions } from '../../src/subjects/evaluation/service.ts';
import { addPolicy } from '../../src/subjects/policies/sql/policies.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { lastBatchNumber } from '../support/batch-numbers.ts';
import { BUILT_IN_CARD } from '../support/built-in-card.ts';
import { sessionsOf, testDatabase } from '../support/database.ts';
import { Dying } from '../support/dying.ts';
import { registrarOf } from '../support/intake.ts';
import { shifted } from '../support/shifted.ts';

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
  await store.database.query(
    `UPDATE batches SET created_at = ${shifted('created_at', "interval '-20 days'")}`,
  );
  await store.database.query(`UPDATE policy_activations SET at = ${shifted('at', "interval '-30 days'")}`);
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

describe('drift as the upkeep watches it', () => {
  /** The counts of some applications, as a list of bins. */
  const countsOf = (size: number, next: () => number) => sample(size, next).counts;
  const sumOf = (days: readonly (readonly number[])[]) => {
    const sum = new Distribution(BUILT_IN_CARD);
    for (const counts of days) sum.addCounts(counts);
    return sum;
  };

  it('D51: of 1,000 weeks of one distribution, looked at each day, at most one is told as drift', () => {
    for (const [aDay, seed] of [
      [143, 41],
      [15, 42],
    ] as const) {
      const next = numbers(seed);
      const baseline = sample(5_000, next);
      const days: number[][] = [];
      const told = new Set<number>();
      for (let day = 0; day < 7_000; day += 1) {
        days.push(countsOf(aDay, next));
        if (days.length > 7) days.shift();
        if (driftOf(baseline, sumOf(days), WATCHED).some(({ alert }) => alert)) told.add(Math.floor(day / 7));
      }
      assert.ok(told.size <= 1, `${aDay} a day: ${told.size} weeks`);
    }
  });

  it('D51: of 300 baselines that grow, looked at again and again, at most one is told as drift', () => {
    const next = numbers(43);
    let told = 0;
    for (let n = 0; n < 300; n += 1) {
      const [baseline, now] = [sample(0, next), sample(500, next)];
      let isTold = false;
      while (baseline.applications < 5_000 && !isTold) {
        const more = countsOf(100, next);
        baseline.addCounts(more);
        now.addCounts(more);
        isTold = driftOf(baseline, now, WATCHED).some(({ alert }) => alert);
      }
      if (isTold) told += 1;
    }
    assert.ok(told <= 1, `${told} baselines`);
  });

  it('D51: a shift of a week is told', () => {
    const next = numbers(44);
    const found = driftOf(sample(5_000, next), sample(1_000, next, 0.6), WATCHED);
    assert.ok(found.some(({ characteristic, alert }) => characteristic === 'debt_age' && alert));
  });

  /** A store with two partners, and what counts and reads there. */
  const prepared = async () => {
    const store = await testDatabase();
    const { run, json } = commandLine(store);
    const keys: number[] = [];
    for (const name of ['Acme', 'Bolt']) {
      const { id } = await json('partner', 'add', '--name', name, '--country', 'CO');
      keys.push((await json('key', 'issue', '--partner', `${id}`)).id);
    }
    const register = await registrarOf(store);
    const next = numbers(45);
    const send = (key: number, count: number, share?: number) =>
      register(
        keys[key]!,
        Array.from({ length: count }, () => applicant({ ...drawn(next, share), phone: null })),
      );
    const context = { database: sessionsOf(store), vault: store.vault, clock: store.clock };
    const count = (database = context.database) =>
      countDecisions({ ...context, database }, (work, error) => assert.fail(`${work}: ${error}`));
    /** Counts all, and computes the indexes whenever it was. */
    const watch = async () => {
      for (;;) {
        await store.database.query('UPDATE policy_drift SET computed_at = NULL');
        await count();
        const { rows } = await store.database.query('SELECT next_batch::integer AS next FROM policy_drift');
        if (rows[0].next > (await lastBatchNumber(store.database))) return;
      }
    };
    const indexes = async (partner: number) => {
      const { rows } = await store.database.query(
        'SELECT characteristic, psi FROM policy_psi WHERE partner_id = $1',
        [partner],
      );
      return new Map(rows.map(({ characteristic, psi }) => [characteristic, psi]));
    };
    /** What `policy drift` says. */
    const drift = async () => {
      const said: { characteristic: string; psi: number | null }[] = JSON.parse(
        (await run('policy', 'drift', '--json')).out,
      );
      return new Map(
        said.filter(({ psi }) => psi !== null).map(({ characteristic, psi }) => [characteristic, psi]),
      );
    };
    return { store, run, json, send, count, watch, indexes, drift, context };
  };

  it('D51: its indexes equal those of policy drift, however it was counted; large partners have their own', async () => {
    const { store, run, send, count, watch, indexes, drift, context } = await prepared();
    await watch();
    assert.deepEqual(await indexes(0), new Map(), 'an empty store has none');
    await send(0, 90);
    await watch();
    assert.deepEqual(await indexes(0), new Map(), 'too few');
    // The baseline ends within the batch of 100 that begins at 4,990.
    await send(1, 4_900);
    await watch();
    await send(0, 1_210);
    await store.database.query(
      `UPDATE batches SET created_at = ${shifted('created_at', "interval '-9 days'")}
      WHERE id IN (SELECT id FROM batches ORDER BY id LIMIT 45)`,
    );
    await store.database.query(`UPDATE policy_activations SET at = ${shifted('at', "interval '-10 days'")}`);
    // The days of the batches have changed: it is counted anew, beside what comes in.
    await store.database.query('UPDATE policy_drift SET activation_id = NULL');
    await Promise.all([count(), count(), send(0, 400, 0.7)]);
    await Promise.all([count(), count(), count()]);
    await watch();
    const expected = await drift();
    assert.equal(expected.size, 5);
    assert.deepEqual(await indexes(0), expected);
    const { rows } = await store.database.query(
      `SELECT partner_id, sum(applications)::integer AS applications FROM policy_drift_counts WHERE day = '-infinity'
      GROUP BY 1 ORDER BY 1`,
    );
    assert.deepEqual(
      rows.map(({ applications }) => applications),
      [5_000, 1_700, 4_900],
    );
    assert.equal((await indexes(1)).size, 5, 'it has 1,000 in these days');
    // Each further turn equals it too, and nobody counts twice.
    await send(0, 130);
    const dying = new Dying(({ text }) =>
      text.includes('INSERT INTO policy_drift_counts') ? 'after' : null,
    );
    dying.arm();
    await count(dying.over(context.database)).catch(() => {});
    await Promise.all([count(), count()]);
    await watch();
    assert.deepEqual(await indexes(0), await drift());
    // Status and the metrics read what is stored.
    const status = JSON.parse((await run('status', '--json')).out);
    assert.equal(
      status.policy_drift.filter(({ partner }: { partner: null | string }) => partner === null).length,
      5,
    );
  });

  it('D51: an activation begins a new baseline, and days that are past are forgotten', async () => {
    const { store, run, json, send, watch, indexes, drift } = await prepared();
    await send(0, 300);
    await watch();
    assert.equal((await indexes(0)).size, 5);
    const other = { ...documentOf(DEFAULT_POLICY), version: 'other-1', title: 'the same' };
    await addPolicy(store.database, other, { by: 'test', accepted: [] });
    await json('policy', 'activate', 'other-1', '--reason', 'x', '--yes');
    assert.deepEqual(
      JSON.parse((await run('status', '--json')).out).policy_drift,
      [],
      'those of the policy before tell nothing',
    );
    await watch();
    assert.deepEqual(await indexes(0), new Map());
    const register = await registrarOf(store);
    const next = numbers(46);
    const { rows: keys } = await store.database.query('SELECT min(id) AS id FROM api_keys');
    await register(
      keys[0].id,
      Array.from({ length: 150 }, () => applicant({ ...drawn(next), phone: null })),
    );
    await watch();
    // The window has the applications of before as well.
    const { rows } = await store.database.query(
      'SELECT applications::integer FROM policy_drift_counts WHERE partner_id = 0 ORDER BY day',
    );
    assert.deepEqual(
      rows.map(({ applications }) => applications),
      [150, 450],
    );
    assert.deepEqual(await indexes(0), await drift());
    await store.database.query("UPDATE policy_drift_counts SET day = day - 8 WHERE day > '-infinity'");
    await register(keys[0].id, [applicant({ ...drawn(next), phone: null })]);
    await watch();
    const left = await store.database.query(
      "SELECT applications::integer FROM policy_drift_counts WHERE partner_id = 0 AND day > '-infinity'",
    );
    assert.deepEqual(left.rows, [{ applications: 1 }]);
  });
});
