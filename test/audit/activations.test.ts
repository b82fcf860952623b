/** Activations of policies and the record of acts say the same (D51; docs/audit.md, "Activations"). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { INVARIANTS } from '../../src/ground/invariants/check-store.ts';
import { noting } from '../../src/program/operations/acting.ts';
import { mismatchesOf } from '../../src/subjects/audit/rules/activations.ts';
import { ACTOR, commandLine } from '../cli/harness.ts';
import { testDatabase } from '../support/database.ts';
import { livePolicyOf } from '../support/intake.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const { run, json } = commandLine(store);
await livePolicyOf(store);
const verify = async () => JSON.parse((await run('audit', 'verify', '--json')).out);
/** The invariants of activations that do not hold. */
async function brokenInvariants(): Promise<string[]> {
  const broken = [];
  for (const { name, sql } of INVARIANTS.filter((one) => /^(live policy|activations)$/.test(one.name)))
    if (Number((await database.query(sql)).rows[0]!.broken) > 0) broken.push(name);
  return broken;
}

describe('activations and the record of acts', () => {
  it('D51: the first activation of a store has its act', async () => {
    assert.deepEqual(Object.keys(await verify()), ['ok', 'events', 'misfits', 'misfit_count']);
    assert.equal((await verify()).ok, true);
    assert.deepEqual(await brokenInvariants(), []);
  });

  it('D51: an activation that the runtime role makes by itself has no act, and is told', async () => {
    const { rows } = await runtime.query(
      `SELECT activate_policy(nextval('policy_activations_id_seq'), policy_id, activation_id, 'ventanilla', NULL,
        'the store had no policy', '{}')::float8 AS id
       FROM policy_live`,
    );
    const { ok, events, mismatches } = await verify();
    assert.equal(ok, false);
    assert.ok(events > 0, 'the chain itself is intact');
    assert.deepEqual(
      mismatches.map(({ activation, act }: Record<string, unknown>) => [activation, act]),
      [[rows[0]!.id, null]],
    );
    const shown = await run('audit', 'verify');
    assert.equal(shown.code, 1);
    assert.match(shown.out, new RegExp(`\nActivation ${rows[0]!.id} of a policy: the record has no act`));
    assert.deepEqual(await brokenInvariants(), ['activations']);
    await database.query('DELETE FROM policy_activations WHERE id = $1', [rows[0]!.id]);
    assert.deepEqual(await brokenInvariants(), ['live policy']);
    await database.query('UPDATE policy_live SET activation_id = (SELECT max(id) FROM policy_activations)');
    assert.equal((await verify()).ok, true);
  });

  it('D51: an act without its activation is told', async () => {
    const act = { act: 'policy activate', target: 'policy default-2', reason: 'nothing happened' };
    await noting({ database, vault, clock: machineClock, actor: ACTOR }, act);
    const [last] = await json('audit', 'list', '--limit', '1');
    const { ok, mismatches } = await verify();
    assert.equal(ok, false);
    assert.deepEqual(mismatches, [
      { activation: null, act: last.id, fault: 'the store has no activation of this act of the record' },
    ]);
    assert.deepEqual(await brokenInvariants(), ['activations']);
  });
});

it('D51: of equal activations the one without an act near it is told, whatever the clock did', () => {
  const at = (second: number) => new Date(second * 1000);
  const activation = (id: number, second: number, version = 'a-1') => ({
    ...{ id, version, at: at(second), by: 'ana', reason: 'x' },
  });
  const act = (id: number, second: number, target = 'policy a-1, with operator 5') => ({
    ...{ id, target, at: at(second), actor: 'ana', reason: 'x' },
  });
  const told = (activations: object[], acts: object[]) =>
    mismatchesOf(activations as never, acts as never).map((one) => [one.activation, one.act]);
  assert.deepEqual(told([activation(1, 10), activation(2, 20)], [act(7, 11), act(8, 21)]), []);
  assert.deepEqual(
    told([activation(1, 10), activation(2, 20), activation(3, 30)], [act(7, 10), act(8, 31)]),
    [[2, null]],
  );
  assert.deepEqual(
    told([activation(1, 10)], [act(7, 9)]),
    [],
    'the clock was set back within the transaction',
  );
  assert.deepEqual(told([activation(1, 10, 'a-10')], [act(7, 10)]), [
    [1, null],
    [null, 7],
  ]);
  assert.deepEqual(told([], [act(7, 10, 'nothing')]), [[null, 7]]);
});
