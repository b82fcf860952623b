/** What happens to a proposal at the same moment: one of two wins, and nothing is half (D48). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { ALL_AGAINST, proposalDesk } from '../support/proposals.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

const store = await testDatabase();
const { database } = store;
const desk = await proposalDesk(store);
const ana = await desk.operator('ana');
const bob = await desk.operator('bob');
const cleo = await desk.operator('cleo');

/** The number of reviews in the history, events for the partner and rows of the record: each 1 or each 0. */
const traces = async (id: number) =>
  (
    await database.query<{ reviews: number; events: number; acts: number }>(
      `SELECT (SELECT count(*)::integer FROM application_events WHERE application_id = $1) AS reviews,
         (SELECT count(*)::integer FROM partner_events WHERE application_id = $1) AS events,
         (SELECT count(*)::integer FROM operator_events WHERE application_id = $1 AND act LIKE 'application %') AS acts`,
      [id],
    )
  ).rows[0]!;

/** In statements of the one that begins later. */
const HEAD_START = 2;

it('of undo and apply at the same moment exactly one wins, round after round', async () => {
  const rounds = 60;
  const ids = await desk.register(rounds);
  const wins = { undone: 0, applied: 0 };
  // Which one would win depends on the machine: whoever lost begins earlier in the next round.
  let headStart = 0;
  for (const id of ids) {
    const { id: proposal } = await desk.proposed(ana.visitor, id);
    await desk.makeDue();
    const [undone, end] = await Promise.all([
      after(-headStart, () => desk.act(ana.visitor, proposal, 'undo')),
      after(headStart, () => desk.applyOne()),
    ]);
    // An applier passes over what the other one has locked.
    const last = end ?? (await desk.applyOne());
    const { state } = await desk.proposal(ana.visitor, id);
    const isUndone = undone.status === 200;
    assert.equal(state, isUndone ? 'undone' : 'applied');
    assert.equal(last, isUndone ? null : 'applied');
    if (!isUndone) assert.equal(undone.body.state, 'applied');
    const count = isUndone ? 0 : 1;
    assert.deepEqual(await traces(id), { reviews: count, events: count, acts: count });
    assert.equal(await desk.statusOf(id), isUndone ? 'in_review' : 'pending_signature');
    wins[isUndone ? 'undone' : 'applied'] += 1;
    headStart += isUndone ? -HEAD_START : HEAD_START;
  }
  assert.ok(wins.undone > 0 && wins.applied > 0, `both happen: ${JSON.stringify(wins)}`);
});

it('of two proposals for one application at the same moment one is taken', async () => {
  const ids = await desk.register(20);
  for (const id of ids) {
    const answers = await Promise.all(
      [ana, bob, cleo].map(({ visitor }, n) =>
        desk.propose(visitor, id, { act: n === 1 ? 'reject' : 'approve', reason: 'x' }),
      ),
    );
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409, 409]);
  }
  assert.equal((await desk.applyAll()).length, ids.length);
  for (const id of ids) assert.deepEqual(await traces(id), { reviews: 1, events: 1, acts: 1 });
});

const alone = (id: number) => desk.propose(ana.visitor, id);
const ofMany = (id: number) =>
  ana.visitor.ask('POST', '/api/proposals/bulk', {
    ...{ act: 'approve', reason: 'fine', applications: [{ id, last_event: '0' }], seen: ALL_AGAINST },
  });
for (const [name, send] of Object.entries({ alone, 'of many': ofMany })) {
  it(`what happened while a decision waited is no part of what it stands on: ${name}`, async () => {
    const [id] = await desk.register();
    let answer: ReturnType<typeof alone> | null = null;
    await inTransaction(database, async (session) => {
      await session.query('SELECT FROM review_items WHERE application_id = $1 FOR UPDATE', [id]);
      answer = send(id!);
      await eventually('the decision that waits', async () => (await waitingSessions(database)).length > 0);
      await session.query(
        `INSERT INTO application_events (application_id, actor, action, from_status, to_status, reason)
       VALUES ($1, 'x', 'interested', 'in_review', 'in_review', 'x')`,
        [id],
      );
    });
    const { status, body } = await answer!;
    assert.deepEqual(
      [status, body.results?.[0].result],
      send === alone ? [412, undefined] : [200, 'changed'],
    );
    const items = await database.query('SELECT state FROM review_items WHERE application_id = $1', [id]);
    assert.deepEqual(items.rows, [{ state: 'waiting' }], 'it waits for reviewers as before');
    const { rows } = await database.query(
      'SELECT FROM proposals WHERE application_id = $1 UNION ALL SELECT FROM open_proposals WHERE application_id = $1',
      [id],
    );
    assert.deepEqual(rows, []);
  });
}

it('several processes at once apply each proposal once', async () => {
  const ids = await desk.register(40);
  for (const id of ids) await desk.proposed(ana.visitor, id);
  await desk.makeDue();
  const applier = async () => {
    let count = 0;
    for (let nothing = 0; nothing < 3; ) {
      if ((await desk.applyOne()) === 'applied') count += 1;
      else nothing += 1;
    }
    return count;
  };
  const counts = await Promise.all([applier(), applier(), applier(), applier()]);
  assert.equal(
    counts.reduce((sum, one) => sum + one, 0),
    ids.length,
  );
  for (const id of ids) assert.deepEqual(await traces(id), { reviews: 1, events: 1, acts: 1 });
});

it('an Idempotency-Key counts once, also at the same moment, and not for another request', async () => {
  const [id, other] = await desk.register(2);
  const headers = { 'Idempotency-Key': 'k-1' };
  const body = { act: 'approve', reason: 'fine' };
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => desk.propose(ana.visitor, id!, body, headers)),
  );
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  assert.equal(new Set(answers.map((answer) => answer.body.id)).size, 1);
  assert.equal((await desk.propose(ana.visitor, id!, { ...body, reason: 'other' }, headers)).status, 400);
  assert.equal((await desk.propose(ana.visitor, other!, body, headers)).status, 400);
  // The key is the operator's own.
  assert.equal((await desk.propose(bob.visitor, other!, body, headers)).status, 200);
  await desk.applyAll();
  const replay = await desk.propose(ana.visitor, id!, body, { ...headers, 'If-Match': '"0"' });
  assert.deepEqual([replay.status, replay.body.id, replay.body.state], [200, answers[0]!.body.id, 'applied']);
  // A request that was refused keeps no key.
  const [third] = await desk.register();
  const key = { 'Idempotency-Key': 'k-2' };
  assert.equal((await desk.propose(ana.visitor, third!, body, { ...key, 'If-Match': '"77"' })).status, 412);
  assert.equal((await desk.propose(ana.visitor, third!, body, key)).status, 200);
  await desk.applyAll();
});

it('of confirm, decline and undo at the same moment the proposal has one end', async () => {
  const ids = await desk.register(15, { debt_amount: 1_000_000 });
  const dora = await desk.operator('dora', 'reviewer', null);
  for (const id of ids) {
    const { id: proposal } = await desk.proposed(dora.visitor, id);
    const [confirmed, declined, undone] = await Promise.all([
      desk.act(bob.visitor, proposal, 'confirm'),
      desk.act(cleo.visitor, proposal, 'decline', { reason: 'no' }),
      desk.act(dora.visitor, proposal, 'undo'),
    ]);
    const isConfirmed = confirmed.status === 200;
    const { state, second } = await desk.proposal(ana.visitor, id);
    if (undone.status === 200) assert.equal(state, 'undone');
    else if (declined.status === 200) assert.deepEqual([state, second.id], ['declined', cleo.id]);
    else assert.fail('the maker may undo what is only confirmed');
    if (isConfirmed) assert.notEqual(declined.status, 200);
    assert.deepEqual(await desk.applyAll(), []);
    assert.equal(await desk.statusOf(id), 'in_review');
  }
});

async function after<T>(statements: number, work: () => Promise<T>): Promise<T> {
  for (let one = 0; one < statements; one += 1) await database.query('SELECT');
  return work();
}
