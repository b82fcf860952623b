/**
 * A process may die at any statement while it proposes or applies (D48): what was answered is not lost, and a proposal
 * is applied once and whole, whichever process goes on.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { applyNext } from '../../src/subjects/desk/uses/apply-proposals.ts';
import { proposeOne } from '../../src/subjects/desk/uses/propose-one.ts';
import { testDatabase } from '../support/database.ts';
import { Crash, type Death, Dying } from '../support/dying.ts';
import { eventually } from '../support/eventually.ts';
import { proposalDesk } from '../support/proposals.ts';
import { remac } from '../support/remac.ts';
import { shifted } from '../support/shifted.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const desk = await proposalDesk(store, { lookShare: 1 });
const ana = await desk.operator('ana');
const DECISION = {
  act: 'approve',
  reasonCode: 'unspecified',
  reason: 'fine',
  isOverride: false,
  lines: [],
} as const;

const traces = async (id: number) =>
  (
    await database.query(
      `SELECT (SELECT count(*)::integer FROM application_events WHERE application_id = $1) AS reviews,
         (SELECT count(*)::integer FROM partner_events WHERE application_id = $1) AS events,
         (SELECT count(*)::integer FROM operator_events WHERE application_id = $1) AS acts,
         (SELECT count(*)::integer FROM review_items WHERE application_id = $1) AS items,
         (SELECT count(*)::integer FROM open_proposals WHERE application_id = $1) AS open,
         (SELECT count(*)::integer FROM second_looks WHERE application_id = $1) AS looks,
         (SELECT string_agg(state, ',') FROM proposals WHERE application_id = $1) AS states`,
      [id],
    )
  ).rows[0];
const OPEN = { reviews: 0, events: 0, acts: 0, items: 1, open: 1, looks: 0, states: 'proposed' };
const DONE = { reviews: 1, events: 1, acts: 1, items: 0, open: 0, looks: 1, states: 'applied' };

/** Dies while it applies; returns the statements that took effect alone or ended a transaction, by number. */
async function applyDying(id: number, death: Death | null): Promise<readonly boolean[]> {
  const dying = new Dying(death);
  dying.arm();
  const dead = {
    database: dying.over(runtime),
    vault,
    clock: machineClock,
    lookShare: 1,
    terms: async () => null,
  };
  await applyNext(dead, () => {}).catch((error: unknown) => {
    // What died in the middle tries to put the proposal off, with a session of its own that works.
    if (!(error instanceof Crash)) throw error;
  });
  const seen = await traces(id);
  assert.ok(
    ['proposed', 'applied'].includes(seen.states),
    `half at statement ${death?.at}: ${JSON.stringify(seen)}`,
  );
  assert.deepEqual(seen, seen.states === 'applied' ? DONE : OPEN);
  return dying.effective;
}

it('a death at any statement of the application leaves it whole, and the next process finishes it', async () => {
  const [first] = await desk.register();
  await desk.proposed(ana.visitor, first!);
  await desk.makeDue();
  const statements = (await applyDying(first!, null)).length;
  assert.ok(statements >= 8, `${statements}`);
  for (let at = 1; at <= statements; at += 1) {
    for (const isAfter of [false, true]) {
      const [id] = await desk.register();
      await desk.proposed(ana.visitor, id!);
      await desk.makeDue();
      await applyDying(id!, { at, isAfter });
      // The locks of a session that died live a moment longer.
      await eventually('the next process', async () => {
        await desk.makeDue();
        await desk.applyOne();
        return (await traces(id!)).open === 0;
      });
      assert.deepEqual(await traces(id!), DONE, `at ${at}${isAfter ? ', after it' : ''}`);
    }
  }
});

it('a death at any statement of a proposal makes it once or not at all, and its repetition is one', async () => {
  const propose = (id: number, death: Death | null, key: string) => {
    const dying = new Dying(death);
    dying.arm();
    const made = proposeOne(
      { database: dying.over(runtime), vault, undoSeconds: 600, dueHours: 24, terms: async () => null },
      { ...DECISION, makerId: ana.id },
      { id: id as never, lastEvent: '0' },
      key,
    );
    return made.then(
      () => dying.effective,
      (error: unknown) => {
        if (error instanceof Crash) return dying.effective;
        throw error;
      },
    );
  };
  const [first] = await desk.register();
  const statements = (await propose(first!, null, 'first')).length;
  for (let at = 1; at <= statements; at += 1) {
    const [id] = await desk.register();
    await propose(id!, { at, isAfter: true }, `key ${at}`);
    await propose(id!, null, `key ${at}`);
    assert.deepEqual(await traces(id!), OPEN, `at ${at}`);
  }
});

it('one whose application fails does not keep others waiting, and comes back after its tries', async () => {
  const [bad, good] = await desk.register(2);
  const { id: damaged } = await desk.proposed(ana.visitor, bad!);
  await desk.proposed(ana.visitor, good!);
  // No history takes an empty reason.
  await database.query("UPDATE proposals SET reason = '' WHERE id = $1", [damaged]);
  await remac(store);
  await database.query(
    'DELETE FROM open_proposals WHERE proposal_id <> ALL (SELECT id FROM proposals WHERE application_id = ANY ($1))',
    [[bad, good]],
  );
  await desk.makeDue();
  await database.query(
    `UPDATE open_proposals SET due_at = ${shifted('due_at', "interval '-1 second'")} WHERE proposal_id = $1`,
    [damaged],
  );
  assert.deepEqual([await desk.applyOne(), await desk.applyOne()], ['put off', 'applied']);
  assert.equal(desk.failures.length, 1);
  const waits = await database.query(
    'SELECT FROM open_proposals WHERE proposal_id = $1 AND due_at >= stamped_at + $2',
    [damaged, '1 second'],
  );
  assert.equal(waits.rows.length, 1, 'the next try waits');
  for (let tries = 1; tries < 8; tries += 1) {
    await desk.makeDue();
    assert.equal(await desk.applyOne(), 'put off');
  }
  await desk.makeDue();
  assert.equal(await desk.applyOne(), 'returned');
  assert.deepEqual(await traces(good!), DONE);
  const back = await desk.proposal(ana.visitor, bad!);
  assert.equal(back.returned_for, 'failure');
  await desk.proposed(ana.visitor, bad!);
  assert.deepEqual(await desk.applyAll(), ['applied']);
});

it('a place without its proposal is removed, and holds up nobody', async () => {
  const [lost, good] = await desk.register(2);
  const { id } = await desk.proposed(ana.visitor, lost!);
  await desk.proposed(ana.visitor, good!);
  await desk.makeDue();
  await database.query("UPDATE open_proposals SET due_at = '2001-01-01Z' WHERE proposal_id = $1", [id]);
  await database.query('DELETE FROM proposals WHERE id = $1', [id]);
  assert.deepEqual([await desk.applyOne(), await desk.applyOne()], ['lost', 'applied']);
});
