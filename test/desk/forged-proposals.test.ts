/**
 * Who writes the database and has no secret decides on nothing under the name of an operator (D48, SECURITY.md): a
 * proposal that the service has not written is not applied, goes back, and stands in the record.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { moveByLeap } from '../../src/subjects/desk/sql/proposal-times.ts';
import { testDatabase } from '../support/database.ts';
import { ALL_AGAINST, proposalDesk } from '../support/proposals.ts';

const store = await testDatabase();
const { runtime } = store;
const desk = await proposalDesk(store);
const ana = await desk.operator('ana');
const bob = await desk.operator('bob');
const cleo = await desk.operator('cleo', 'reviewer', null);
const attack = (sql: string, values: unknown[] = []) => runtime.query(sql, values);
const returns = async () =>
  (await desk.json('audit', 'list')).filter(({ act }: { act: string }) => act === 'proposal return');

const DUE = "UPDATE open_proposals SET due_at = now() - interval '1 second' WHERE application_id = $1";

/** The loop looks at it now, and nothing is applied. */
async function isHeldBack(application: number): Promise<void> {
  const before = (await returns()).length;
  await attack(DUE, [application]);
  assert.equal(await desk.applyOne(), 'returned');
  assert.equal(await desk.statusOf(application), 'in_review');
  const [newest, ...others] = await returns();
  assert.equal(others.length, before);
  assert.deepEqual([newest.by, newest.application_id], ['ventanilla', application]);
  assert.match(newest.reason, /changed in the database by somebody without the keys/);
  assert.deepEqual(desk.failures, []);
}

describe('a proposal in the table', () => {
  it('that somebody puts in under the names of two operators approves nothing', async () => {
    const [id] = await desk.register();
    await attack(
      `WITH made AS (
         INSERT INTO proposals (application_id, act, reason_code, reason, is_override, maker_id, decided_on, created_at,
           apply_at, needs_second, second_id, confirmed_at)
         SELECT $1, 'approve', 'unspecified', 'fine', false, $2, coalesce(max(e.id), 0), now(), now(), 'authority', $3, now()
         FROM application_events e WHERE e.application_id = $1 RETURNING id
       )
       INSERT INTO open_proposals (application_id, proposal_id, stamped_at, due_at, is_of_many)
       SELECT $1, id, now(), now(), false FROM made`,
      [id, ana.id, bob.id],
    );
    await isHeldBack(id!);
  });

  for (const [what, change] of [
    ['act', "act = 'approve', reason_code = 'unspecified'"],
    ['code of the reason', "reason_code = 'other'"],
    ['maker', 'maker_id = $2'],
    ['need of a second operator', 'needs_second = NULL, maker_id = maker_id + 0 * $2'],
    ['confirmation', 'second_id = $2, confirmed_at = now()'],
  ] as const) {
    it(`whose ${what} somebody changes is not applied`, async () => {
      const [id] = await desk.register();
      const { id: proposal } = await desk.proposed(cleo.visitor, id!, {
        ...(what === 'act' ? { act: 'reject', reason_code: 'documents_invalid' } : { act: 'approve' }),
        reason: 'fine',
      });
      if (what !== 'confirmation' && what !== 'need of a second operator')
        assert.equal((await desk.act(bob.visitor, proposal, 'confirm')).status, 200);
      await desk.makeDue();
      await attack(
        `UPDATE proposals SET ${change.includes('$2') ? change : `${change}, maker_id = maker_id + 0 * $2`} WHERE id = $1`,
        [proposal, ana.id],
      );
      await isHeldBack(id!);
    });
  }

  it('that its maker took back is not opened again, nor one of many', async () => {
    const [one, two] = await desk.register(2);
    const { id: proposal } = await desk.proposed(ana.visitor, one!);
    assert.equal((await desk.act(ana.visitor, proposal, 'undo')).status, 200);
    const key = { 'Idempotency-Key': 'many' };
    const applications = [{ id: two, last_event: await desk.lastEvent(two!) }];
    const bulk = (path: string, body: object) =>
      ana.visitor.ask('POST', `/api/proposals/bulk${path}`, body, key);
    assert.equal(
      (await bulk('', { act: 'approve', reason: 'fine', applications, seen: ALL_AGAINST })).body.proposed,
      1,
    );
    assert.deepEqual((await bulk('/undo', {})).body.undone, [two]);
    for (const id of [one!, two!]) {
      await attack(
        `WITH again AS (
           UPDATE proposals SET state = 'proposed', ended_at = NULL, ended_ms = NULL, apply_at = now()
           WHERE application_id = $1 AND state = 'undone' RETURNING id
         )
         INSERT INTO open_proposals (application_id, proposal_id, stamped_at, due_at, is_of_many)
         SELECT $1, id, now(), now(), false FROM again`,
        [id],
      );
      await isHeldBack(id);
    }
  });

  it('that somebody makes due before its maker could undo it is not applied', async () => {
    const [one, two] = await desk.register(2);
    for (const id of [one!, two!]) await desk.proposed(ana.visitor, id);
    await attack("UPDATE proposals SET apply_at = now() - interval '1 second' WHERE application_id = $1", [
      two,
    ]);
    for (const id of [one!, two!]) await isHeldBack(id);
  });

  it('of a form that the service does not write stops no other one', async () => {
    const [one, two] = await desk.register(2);
    const { id: proposal } = await desk.proposed(ana.visitor, one!);
    await desk.proposed(ana.visitor, two!);
    for (const change of ["decided_signed_at = 'infinity'", "apply_at = '-infinity'"])
      await assert.rejects(attack(`UPDATE proposals SET ${change} WHERE id = $1`, [proposal]), {
        code: '23514',
      });
    for (const change of ["stamped_at = 'infinity'", "due_at = 'infinity'"])
      await assert.rejects(attack(`UPDATE open_proposals SET ${change} WHERE proposal_id = $1`, [proposal]), {
        code: '23514',
      });
    // The last time that a row may have: a leap of the clock moves it no further, and moves the others.
    await attack(
      `WITH due AS (UPDATE open_proposals SET stamped_at = now(), due_at = '9999-12-31Z' WHERE proposal_id = $1)
       UPDATE proposals SET apply_at = '9999-12-31Z' WHERE id = $1`,
      [proposal],
    );
    await moveByLeap(runtime, store.vault, new Date(Date.now() + 60_000), 5_000);
    await attack('UPDATE proposals SET decided_on = 9223372036854775807 WHERE id = $1', [proposal]);
    await attack(DUE, [one]);
    assert.deepEqual((await desk.applyAll()).sort(), ['applied', 'returned']);
    assert.equal(await desk.statusOf(two!), 'pending_signature');
  });

  it('is applied where the service wrote it and its confirmation', async () => {
    const [id] = await desk.register();
    const { id: proposal } = await desk.proposed(cleo.visitor, id!);
    assert.equal((await desk.act(bob.visitor, proposal, 'confirm')).status, 200);
    assert.deepEqual(await desk.applyAll(), ['applied']);
    assert.equal(await desk.statusOf(id!), 'pending_signature');
  });
});
