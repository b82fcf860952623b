/** The loop that applies proposals: on time, beside others, and whatever the database's clock does (D39, D48). */
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { LoopContext } from '../../src/program/subject/subject.ts';
import { leapWatch, startApplying } from '../../src/subjects/desk/applying.ts';
import { UNDO_SECONDS } from '../../src/subjects/desk/settings.ts';
import { proposeOne } from '../../src/subjects/desk/uses/propose-one.ts';
import { testDatabase } from '../support/database.ts';
import { eventually, SLACK_MS } from '../support/eventually.ts';
import { stepClock } from '../support/faked-clock.ts';
import { proposalDesk } from '../support/proposals.ts';
import { runJob } from '../support/upkeep.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const desk = await proposalDesk(store);
const ana = await desk.operator('ana');
const DECISION = {
  act: 'approve',
  reasonCode: 'unspecified',
  reason: 'fine',
  isOverride: false,
  lines: [],
} as const;

const failures: unknown[] = [];
const start = () => {
  const context = {
    database: runtime,
    vault,
    clock: machineClock,
    log: { error: () => {} },
    failed: (_work: string, e: unknown) => failures.push(e),
    setting: () => 0,
  };
  const loop = startApplying(context as unknown as LoopContext);
  after(() => loop.stop());
  return loop;
};
const propose = (id: number, undoSeconds: number) =>
  proposeOne(
    { database: runtime, vault, undoSeconds, dueHours: 24, terms: async () => null },
    { ...DECISION, makerId: ana.id },
    { id: id as never, lastEvent: '0' },
    null,
  );
const times = async (ids: readonly number[]) =>
  (
    await database.query<{ state: string; late_ms: number | null; left_ms: number }>(
      `SELECT state, extract(epoch FROM ended_at - apply_at)::float8 * 1000 AS late_ms,
         extract(epoch FROM apply_at - now())::float8 * 1000 AS left_ms
       FROM proposals WHERE application_id = ANY ($1) ORDER BY id`,
      [ids],
    )
  ).rows;
const allApplied = (ids: readonly number[]) =>
  eventually('all applied', async () => (await times(ids)).every(({ state }) => state === 'applied'));

it('applies each when its time is over: not before, and soon after', async () => {
  const ids = await desk.register(20);
  for (const id of ids) await propose(id, 1);
  const loop = start();
  await allApplied(ids);
  for (const { late_ms } of await times(ids)) assert.ok(late_ms! >= 0 && late_ms! < SLACK_MS, `${late_ms}`);
  await loop.stop();
});

it('two processes whose connections are cut again and again apply each once', async () => {
  const ids = await desk.register(60);
  for (const id of ids) await propose(id, 0);
  const loops = [start(), start()];
  let cuts = 0;
  const cutting = eventually('all applied', async () => {
    const { rowCount } = await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%proposals%' AND state <> 'idle' LIMIT 1`,
    );
    cuts += rowCount ?? 0;
    return (await times(ids)).every(({ state }) => state === 'applied');
  });
  await cutting;
  for (const loop of loops) await loop.stop();
  const { rows } = await database.query(
    `SELECT (SELECT count(*)::integer FROM application_events WHERE application_id = ANY ($1)) AS reviews,
       (SELECT count(*)::integer FROM operator_events WHERE application_id = ANY ($1)) AS acts,
       (SELECT count(*)::integer FROM partner_events WHERE application_id = ANY ($1)) AS events`,
    [ids],
  );
  assert.deepEqual(rows, [{ reviews: 60, acts: 60, events: 60 }]);
  assert.ok(cuts > 0, 'nothing was cut');
});

it('a leap of the clock takes nobody’s time to undo, and none is held up by a clock that goes back', async () => {
  const clock = await stepClock(database);
  const [id] = await desk.register();
  await eventually('sessions with the new clock', () =>
    propose(id!, 500).then(
      () => true,
      () => false,
    ),
  );
  const loop = start();
  const begunMs = loop.lastTurnMs();
  await eventually('a look at the clock', () => loop.lastTurnMs() > begunMs);
  const hourMs = 3_600_000;
  // By what is stored, because a session of the test may have kept the right clock.
  const undoMs = async () =>
    (
      await database.query<{ ms: number }>(
        `SELECT extract(epoch FROM apply_at - created_at)::float8 * 1000 AS ms FROM proposals
           WHERE application_id = $1 AND state = 'proposed'`,
        [id],
      )
    ).rows[0]!.ms;
  await clock.set(database, hourMs);
  await eventually('the leap', async () => (await undoMs()) > hourMs);
  assert.ok((await undoMs()) < hourMs + 510_000);
  await clock.set(database, 0);
  await eventually('the way back', async () => (await undoMs()) < 510_000);
  assert.ok((await undoMs()) > 300_000);
  await loop.stop();
});

it('a leap is what the clock goes on more than the stopwatch', () => {
  const watch = leapWatch();
  const at = (clock: number, askedMs: number, answeredMs = askedMs) =>
    watch(new Date(clock), { askedMs, answeredMs })?.ms ?? null;
  assert.equal(at(10_000, 0), null);
  assert.equal(at(10_250, 250), null);
  assert.equal(at(20_250, 500), 9_750);
  assert.equal(at(20_500, 750), null);
  assert.equal(at(1_000, 1_000), null);
  assert.equal(at(90_000, 90_000), null);
  // An answer that took three seconds, with the clock read at its end.
  assert.equal(at(93_250, 90_250, 93_250), null);
  assert.equal(at(93_500, 93_500), null);
  assert.equal(at(106_500, 93_750), 12_750);
});

it('ended proposals and keys are deleted after 100 elapsed days, and open ones never (D39)', async () => {
  const [old, recent, open] = await desk.register(3);
  for (const id of [old, recent]) {
    await desk.proposed(ana.visitor, id!, undefined, { 'Idempotency-Key': `${id}` });
    await desk.applyAll();
  }
  await desk.proposed(ana.visitor, open!);
  const ago = 'elapsed_ms() - 100 * 86400000::bigint';
  await database.query(`UPDATE proposals SET ended_ms = ${ago} WHERE application_id = $1`, [old]);
  await database.query(
    `UPDATE proposals SET ended_ms = ${ago} + 60000, ended_at = '2001-01-01' WHERE application_id = $1`,
    [recent],
  );
  await database.query(`UPDATE desk_requests SET stored_ms = ${ago} WHERE request_key = $1`, [`${old}`]);
  await runJob(runtime, 'forget proposals that ended');
  const { rows } = await database.query<{ id: string }>(
    'SELECT application_id AS id FROM proposals WHERE application_id = ANY ($1) ORDER BY id',
    [[old, recent, open]],
  );
  assert.deepEqual(
    rows.map(({ id }) => Number(id)),
    [recent, open],
  );
  assert.deepEqual((await database.query('SELECT request_key FROM desk_requests')).rows, [
    { request_key: `${recent}` },
  ]);
});

it('UNDO_SECONDS is 10 to 600', () => {
  const read = (text?: string) => UNDO_SECONDS.read(text, { dataDir: '/', ownDatabase: false });
  assert.deepEqual([read(), read('10'), read('600')], [10, 10, 600]);
  for (const wrong of ['9', '601', '-1', '10.5', 'ten', '1e2'])
    assert.throws(() => read(wrong), /from 10 to 600/);
});
