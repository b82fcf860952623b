/** One decision on many applications: each has its own result (D48). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import Value from 'typebox/value';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { Bulk } from '../../src/subjects/desk/routes/proposal-forms.ts';
import { makeSelection } from '../../src/subjects/desk/sql/queue.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { ALL_AGAINST, proposalDesk } from '../support/proposals.ts';
import { remac } from '../support/remac.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

const store = await testDatabase();
const { database, runtime } = store;
const desk = await proposalDesk(store);
const ana = await desk.operator('ana', 'reviewer', 500_000_000n);
const bob = await desk.operator('bob');
const APPROVAL = { act: 'approve', reason: 'all fine', seen: ALL_AGAINST } as const;

const bulk = (body: object, headers: Record<string, string> = {}) =>
  ana.visitor.ask('POST', '/api/proposals/bulk', body, headers);
const named = (ids: readonly number[]) => ids.map((id) => ({ id, last_event: '0' }));
/** Waits until so many sessions wait for a lock. */
const waitingCount = (count: number) =>
  eventually(`${count} waiting sessions`, async () => (await waitingSessions(database)).length === count);
const SELECTION = '0198f0a0-0000-7000-8000-000000000001';

it('tells for each application what became of it, and proposes the others', async () => {
  const [fine, changed, claimed, open, illegal, pended, above] = await desk.register(7, {
    debt_amount: 5_000_000,
  });
  const [big] = await desk.register(1, { debt_amount: 5_000_001 });
  await database.query(
    "INSERT INTO application_events (application_id, actor, action, from_status, to_status, reason) VALUES ($1, 'x', 'interested', 'in_review', 'in_review', 'x')",
    [changed],
  );
  await database.query('SELECT take_claim($1, $2, 120)', [claimed, bob.id]);
  await desk.proposed(bob.visitor, open!);
  await desk.json('application', 'approve', `${illegal}`, '--reason', 'x');
  await database.query("SELECT set_item_state($1, 'pended')", [pended]);
  const applications = [
    ...named([fine!, changed!, claimed!, open!]),
    { id: illegal!, last_event: await desk.lastEvent(illegal!) },
    ...named([pended!, above!, big!, 777_777_777, fine!]),
  ];
  const { status, body } = await bulk({ ...APPROVAL, applications });
  assert.equal(status, 200, JSON.stringify(body));
  assert.ok(Value.Check(Bulk, body));
  assert.deepEqual(
    body.results.map(({ id, result }) => [id, result]),
    [
      ...[
        [fine, 'proposed'],
        [changed, 'changed'],
        [claimed, 'claimed'],
        [open, 'already_proposed'],
      ],
      ...[
        [illegal, 'illegal'],
        [pended, 'illegal'],
        [above, 'proposed'],
        [big, 'proposed'],
      ],
      [777_777_777, 'unknown'],
    ],
  );
  assert.equal(body.proposed, 3);
  assert.equal((await desk.proposal(bob.visitor, big!)).needs_second, 'authority');
  assert.equal((await desk.proposal(bob.visitor, above!)).needs_second, null);
  await desk.applyAll();
  assert.equal(await desk.statusOf(fine!), 'pending_signature');
  assert.equal(await desk.statusOf(big!), 'in_review');
});

it('names applications by numbers that an address can have, and refuses others by the field', async () => {
  const [fine] = await desk.register();
  const { status, body } = await bulk({ ...APPROVAL, applications: named([fine!, 1_000_000_000_000_000]) });
  assert.equal(status, 400);
  assert.match(body.error, /applications/);
  assert.equal((await desk.proposal(ana.visitor, fine!)) ?? null, null);
});

it('names the applications in one of two ways, and takes no payment', async () => {
  const [id] = await desk.register();
  for (const body of [
    APPROVAL,
    { ...APPROVAL, applications: named([id!]), selection: SELECTION },
    { act: 'disburse', reason: 'x', applications: named([id!]) },
    { ...APPROVAL, reason_code: 'suspected_fraud', applications: named([id!]) },
  ]) {
    assert.equal((await bulk(body)).status, 400, JSON.stringify(body));
  }
  for (const selection of [SELECTION, 'no id']) {
    assert.equal((await bulk({ ...APPROVAL, selection })).status, 404, selection);
  }
});

it('proposes 10,000 of a selection, and once where the request comes again', async () => {
  const count = 10_000;
  await database.query('DELETE FROM review_items');
  const ids = await desk.register(count, { debt_amount: 4_000_000 });
  const selected = await makeSelection(runtime, { state: 'waiting' }, ana.id, SELECTION);
  assert.equal(selected?.count, count);
  const headers = { 'Idempotency-Key': 'all' };
  const { status, body } = await bulk({ ...APPROVAL, selection: SELECTION }, headers);
  assert.equal(status, 200, JSON.stringify(body).slice(0, 300));
  assert.equal(body.proposed, count);
  const again = await bulk({ ...APPROVAL, selection: SELECTION }, headers);
  assert.deepEqual(again.body, body);
  const { rows } = await database.query(
    'SELECT count(*)::integer AS open, count(DISTINCT application_id)::integer AS applications FROM proposals WHERE application_id = ANY ($1)',
    [ids],
  );
  assert.deepEqual(rows, [{ open: count, applications: count }]);
  // A single decision does not wait for them.
  const [single] = await desk.register();
  await desk.proposed(bob.visitor, single!);
  await desk.makeDue();
  assert.equal(await desk.applyOne(), 'applied');
  assert.equal(await desk.statusOf(single!), 'pending_signature');
  // One of the many is applied before its undo comes. The others are taken back by one request.
  assert.equal(await desk.applyOne(), 'applied');
  const undone = await ana.visitor.ask('POST', '/api/proposals/bulk/undo', {}, headers);
  assert.equal(undone.status, 200, JSON.stringify(undone.body).slice(0, 300));
  assert.equal(undone.body.undone.length, count - 1);
  const ends = await database.query(
    `SELECT p.state, i.state AS item, i.claimed_by, count(*)::integer
       FROM proposals p LEFT JOIN review_items i USING (application_id)
       WHERE p.application_id = ANY ($1) GROUP BY p.state, i.state, i.claimed_by ORDER BY p.state`,
    [ids],
  );
  assert.deepEqual(ends.rows, [
    { state: 'applied', item: null, claimed_by: null, count: 1 },
    { state: 'undone', item: 'waiting', claimed_by: null, count: count - 1 },
  ]);
  const open = 'SELECT FROM open_proposals WHERE application_id = ANY ($1)';
  assert.equal((await database.query(open, [ids])).rowCount, 0);
});

it('comes back to its maker one by one, each with its own reason, and the others are applied', async () => {
  await database.query('DELETE FROM open_proposals; DELETE FROM proposals; DELETE FROM review_items');
  const [fine, rejected, changed] = await desk.register(3, { debt_amount: 5_000_000 });
  const [gone] = await desk.register(1, { debt_amount: 5_000_000 });
  const ids = [fine!, rejected!, changed!, gone!];
  assert.equal((await bulk({ ...APPROVAL, applications: named(ids) })).body.proposed, ids.length);
  await desk.json('application', 'reject', `${rejected}`, '--reason', 'x', '--as', 'carla');
  await database.query(
    "INSERT INTO application_events (application_id, actor, action, from_status, to_status, reason) VALUES ($1, 'carla', 'free_phone', 'in_review', 'in_review', 'x')",
    [changed],
  );
  for (const table of ['batches WHERE id', 'review_queue WHERE batch_id'])
    await database.query(`DELETE FROM ${table} = batch_of($1)`, [gone]);
  assert.deepEqual((await desk.applyAll()).toSorted(), ['applied', 'returned', 'returned', 'returned']);
  assert.equal(await desk.statusOf(fine!), 'pending_signature');
  const { proposals } = (await ana.visitor.ask('GET', '/api/proposals?list=came_back')).body;
  assert.deepEqual(
    new Map(
      proposals.map((one: { application_id: number; returned_for: string }) => [
        one.application_id,
        one.returned_for,
      ]),
    ),
    new Map([
      [gone, 'deleted'],
      [changed, 'changed'],
      [rejected, 'changed'],
    ]),
  );
  const { rows } = await database.query(
    'SELECT application_id::integer AS id, state FROM review_items WHERE application_id = ANY ($1)',
    [[fine, rejected, changed]],
  );
  assert.deepEqual(rows, [{ id: changed, state: 'waiting' }], 'what is still in review waits again');
});

it('comes back as a whole where its maker may not decide any more', async () => {
  const dora = await desk.operator('dora', 'reviewer');
  const ids = await desk.register(3, { debt_amount: 5_000_000 });
  const body = { ...APPROVAL, applications: named(ids) };
  assert.equal((await dora.visitor.ask('POST', '/api/proposals/bulk', body)).body.proposed, 3);
  await database.query('UPDATE operators SET disabled_at = now() WHERE id = $1', [dora.id]);
  await remac(store);
  assert.deepEqual(await desk.applyAll(), ['returned', 'returned', 'returned']);
  for (const id of ids) {
    const { state, returned_for } = await desk.proposal(ana.visitor, id);
    assert.deepEqual([state, returned_for, await desk.statusOf(id)], ['returned', 'maker', 'in_review']);
  }
});

it('is undone as a whole by its maker and its key, but for what is applied already (D48)', async () => {
  await database.query('DELETE FROM open_proposals; DELETE FROM proposals');
  const ids = await desk.register(4, { debt_amount: 5_000_000 });
  const key = { 'Idempotency-Key': 'all of these' };
  assert.equal((await bulk({ ...APPROVAL, applications: named(ids) }, key)).body.proposed, 4);
  await desk.makeDue();
  assert.equal(await desk.applyOne(), 'applied');
  const undo = (visitor = ana.visitor, headers: Record<string, string> = key) =>
    visitor.ask('POST', '/api/proposals/bulk/undo', {}, headers);
  assert.equal((await undo(ana.visitor, {})).status, 400);
  assert.deepEqual((await undo(bob.visitor)).body, { undone: [] }, 'a key is an operator’s own');
  const answers = await Promise.all([undo(), undo()]);
  assert.deepEqual(await desk.applyAll(), []);
  const statuses = await Promise.all(ids.map((id) => desk.statusOf(id)));
  assert.deepEqual(statuses.toSorted(), ['in_review', 'in_review', 'in_review', 'pending_signature']);
  const undone = ids.filter((_, n) => statuses[n] === 'in_review');
  for (const { status, body } of [...answers, await undo()])
    assert.deepEqual([status, body], [200, { undone }], 'a repetition gets the same answer');
  const { rows } = await database.query(
    'SELECT DISTINCT state, claimed_by FROM review_items WHERE application_id = ANY ($1)',
    [ids],
  );
  assert.deepEqual(rows, [{ state: 'waiting', claimed_by: null }]);
  assert.equal((await database.query('SELECT FROM open_proposals')).rowCount, 0);
});

it('is undone while it is still under way (D48)', async () => {
  const ids = await desk.register(3, { debt_amount: 5_000_000 });
  const key = { 'Idempotency-Key': 'under way' };
  const answers = await inTransaction(database, async (session) => {
    await session.query('SELECT FROM review_items WHERE application_id = $1 FOR UPDATE', [ids[1]]);
    const sent = [bulk({ ...APPROVAL, applications: named(ids) }, key)];
    await waitingCount(1);
    sent.push(ana.visitor.ask('POST', '/api/proposals/bulk/undo', {}, key));
    await waitingCount(2);
    return { sent };
  });
  const [decided, undone] = await Promise.all(answers.sent);
  assert.equal(decided!.body.proposed, 3);
  assert.deepEqual([undone!.status, undone!.body], [200, { undone: ids }]);
  assert.deepEqual(await desk.applyAll(), []);
});

it('proposes nothing where its undo came first', async () => {
  const ids = await desk.register(2, { debt_amount: 5_000_000 });
  const key = { 'Idempotency-Key': 'too late' };
  const undo = () => ana.visitor.ask('POST', '/api/proposals/bulk/undo', {}, key);
  for (const { status, body } of [await undo(), await undo()])
    assert.deepEqual([status, body], [200, { undone: [] }]);
  const late = await bulk({ ...APPROVAL, applications: named(ids) }, key);
  assert.equal(late.status, 400);
  assert.match(late.body.error, /undone/);
  for (const id of ids) assert.equal(await desk.proposal(ana.visitor, id), null);
  assert.deepEqual((await undo()).body, { undone: [] });
});
