/** The loop that makes the queue's items: nothing is lost or doubled, wherever it is killed, and it heals the rest. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import pino from 'pino';
import { toPhone } from '../../src/domain/phone/phone.ts';
import type { LoopContext } from '../../src/program/subject/subject.ts';
import { startExpansion } from '../../src/subjects/desk/expansion.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { assertInvariants } from '../support/erased.ts';
import { eventually, SLACK_MS } from '../support/eventually.ts';
import { registrarOf } from '../support/intake.ts';
import { TestClock } from '../support/test-clock.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

const store = await testDatabase();
const { database, runtime } = store;
const { json } = commandLine(store);
const partner = await json('partner', 'add', '--name', 'Uno', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner.id}`);
const register = await registrarOf(store);

let phones = 0;
const inReview = (count: number) =>
  register(
    key,
    Array.from({ length: count }, () =>
      applicant({ ...IN_REVIEW, phone: toPhone(`+57300${6_000_000 + ++phones}`) }),
    ),
  );
const items = async (): Promise<number[]> =>
  (await database.query('SELECT application_id FROM review_items ORDER BY application_id')).rows.map(
    ({ application_id }) => Number(application_id),
  );
const expand = async () =>
  (await runtime.query('SELECT batches FROM expand_reviews(0, 100, 24)')).rows[0].batches;
const heal = async () =>
  (await runtime.query('SELECT removed, lacking FROM heal_review_items(0, 1000)')).rows[0];
const emptied = () => database.query('DELETE FROM review_items; UPDATE review_queue SET is_expanded = false');
const approve = (id: number) =>
  json('application', 'approve', `${id}`, '--reason', 'good', '--reason-code', 'income_verified');

const failures: unknown[] = [];
const startLoopHere = (clock: TestClock) => {
  const loop = startExpansion({
    clock,
    database: runtime,
    log: pino({ level: 'silent' }),
    failed: (_work: string, error: unknown) => failures.push(error),
    setting: () => 24,
  } as unknown as LoopContext);
  after(() => loop.stop());
  return loop;
};

describe('the expansion of the review queue (D48)', () => {
  it('of a killed session is undone, and the next one does it: nothing is lost or doubled', async () => {
    const ids = await inReview(150);
    const session = await runtime.connect();
    const pid = (await session.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
    session.on('error', () => {});
    await session.query('BEGIN');
    assert.equal((await session.query('SELECT batches FROM expand_reviews(0, 1, 24)')).rows[0].batches, 1);
    assert.equal(await expand(), 1, 'another session passes over the batch that is taken');
    assert.equal((await items()).length, 50);
    await database.query('SELECT pg_terminate_backend($1::integer)', [pid]);
    session.release(true);
    await eventually('the batch of the killed session', async () => (await expand()) === 1);
    assert.deepEqual(await items(), ids);
    assert.equal(await expand(), 0);
  });

  it('and a review of the same application wait for each other: no item stays', async () => {
    const [id] = await inReview(1);
    const session = await runtime.connect();
    await session.query('BEGIN');
    await session.query('SELECT expand_reviews(0, 100, 24)');
    const approved = approve(id!);
    await eventually('the review that waits', async () => (await waitingSessions(database)).length > 0);
    await session.query('COMMIT');
    session.release();
    await approved;
    assert.ok(!(await items()).includes(id!));
    const [other] = await inReview(1);
    await approve(other!);
    assert.equal(await expand(), 0, 'a batch that is reviewed before has no items');
    assert.deepEqual(await heal(), { removed: 0, lacking: 0 });
  });

  it('heals: lost items come back, items without an application in review go, ended claims are cleared', async () => {
    await inReview(3);
    await expand();
    const all = await items();
    await database.query('DELETE FROM review_items WHERE application_id = $1', [all[0]]);
    await database.query(
      'INSERT INTO review_items (application_id, partner_id, created_at, due_at) VALUES (12800001, 1, now(), now())',
    );
    await database.query(
      "UPDATE review_items SET claimed_by = 1, claimed_until = now() - interval '1 second' WHERE application_id = $1",
      [all[1]],
    );
    assert.deepEqual(await heal(), { removed: 1, lacking: 1 });
    assert.equal(await expand(), 1);
    assert.deepEqual(await items(), all);
    assert.deepEqual(await heal(), { removed: 0, lacking: 0 });
    const { rows } = await database.query('SELECT FROM review_items WHERE claimed_by IS NOT NULL');
    assert.equal(rows.length, 0);
    await assertInvariants(store);
  });

  it('gives an item its score, its reference amount by the policy (D29) and its due time', async () => {
    const [id, approved] = await register(key, [
      applicant({ ...IN_REVIEW, phone: toPhone(`+57300${6_000_000 + ++phones}`) }),
      applicant({}),
    ]);
    assert.equal(await expand(), 1);
    const read = 'SELECT * FROM review_items WHERE application_id = ANY ($1)';
    const [item, ...more] = (await database.query(read, [[id, approved]])).rows;
    const [stored] = (await database.query('SELECT * FROM applications_of(ARRAY[$1::bigint])', [id])).rows;
    assert.deepEqual([item.application_id, more], [`${id}`, []]);
    assert.deepEqual(
      [item.score, item.debt_amount, item.currency, item.reference_amount],
      [stored.score, stored.debt_amount, 'COP', stored.debt_amount / 4000],
    );
    assert.equal(Number(item.due_at) - Number(item.created_at), 24 * 3_600_000);
    await approve(id!);
    assert.equal((await database.query(read, [[id]])).rowCount, 0);
  });

  it('loses the item of an erased person with the rejection', async () => {
    const [id] = await inReview(1);
    await expand();
    await json(
      'subject',
      'erase',
      '--phone',
      `+57300${6_000_000 + phones}`,
      '--reason',
      'asked',
      '--close',
      '--yes',
    );
    assert.ok(!(await items()).includes(id!));
    await assertInvariants(store);
  });

  it('stops the clock of a pended item, and goes on with what was left, also after a step of the clock (D39)', async () => {
    await inReview(1);
    await expand();
    const id = (await items()).at(-1);
    const state = (to: string) => runtime.query('SELECT set_item_state($1, $2)', [id, to]);
    const left = async () =>
      Number(
        (
          await database.query(
            'SELECT extract(epoch FROM due_at)::float8 - extract(epoch FROM clock_timestamp())::float8 AS left FROM review_items WHERE application_id = $1',
            [id],
          )
        ).rows[0].left,
      );
    const before = await left();
    await state('pended');
    await state('pended');
    assert.equal(await left(), Number.POSITIVE_INFINITY);
    await state('waiting');
    assert.ok(Math.abs((await left()) - before) < SLACK_MS / 1_000);
  });

  it('follows the registrations within moments, in two processes at once, and again after they were stopped', async () => {
    await emptied();
    const clocks = [new TestClock(), new TestClock()];
    const loops = clocks.map(startLoopHere);
    const look = (afterMs: number) =>
      Promise.all(
        clocks.map(async (clock) => {
          await clock.untilTimers();
          await clock.advance(afterMs);
          await clock.untilTimers();
        }),
      );
    await look(0);
    const first = await inReview(250);
    await look(299);
    const known = await items();
    assert.ok(!first.some((id) => known.includes(id)));
    await look(1);
    // The two share the batches of a look. One that the other one has locked is left to the next look.
    await look(300);
    assert.deepEqual(await items(), [...known, ...first]);
    await Promise.all(loops.map((loop) => loop.stop()));
    const meanwhile = await inReview(5);
    const clock = new TestClock();
    startLoopHere(clock);
    await clock.untilTimers();
    assert.deepEqual(await items(), [...known, ...first, ...meanwhile]);
    const later = await inReview(5);
    await clock.advance(300);
    await clock.untilTimers();
    assert.deepEqual(await items(), [...known, ...first, ...meanwhile, ...later]);
    assert.equal((await items()).length, new Set(await items()).size);
    assert.deepEqual(failures, []);
    await assertInvariants(store);
  });
});
