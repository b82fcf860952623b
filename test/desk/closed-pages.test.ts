/** A claim is used by pages: a closed page gives back what no other one uses, and claims nothing any more (D48). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, it } from 'node:test';
import { forgetRows } from '../../src/ground/postgres/forget.ts';
import { pendRoutes } from '../../src/subjects/desk/routes/pend.ts';
import { queueRoutes } from '../../src/subjects/desk/routes/queue.ts';
import { LEFT_PAGES } from '../../src/subjects/desk/sql/tables.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { proposalDesk } from '../support/proposals.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

const store = await testDatabase();
const { database } = store;
const desk = await proposalDesk(store, {
  more: (context) => [
    ...queueRoutes({ ...context, dueHours: 24, terms: async () => null }),
    ...pendRoutes({ ...context, dueHours: 24, terms: async () => null }),
  ],
});
const ana = await desk.operator('ana');
const bob = await desk.operator('bob');

const asPage = (page: string) => ({ 'Operator-Page': page });
const claim = (id: number, page: string) =>
  ana.visitor.ask('POST', `/api/applications/${id}/claim`, {}, asPage(page));
const claimNext = (page: string, headers = {}) =>
  ana.visitor.ask('POST', '/api/review-queue/claim-next', {}, { ...asPage(page), ...headers });
const leave = (page: string, { visitor } = ana) =>
  visitor.ask('POST', '/api/review-queue/leave', {}, asPage(page));
const release = (id: number, page: string) =>
  ana.visitor.ask('POST', `/api/applications/${id}/release`, {}, asPage(page));
const held = async () =>
  (
    await database.query<{ id: number }>(
      'SELECT application_id::integer AS id FROM review_items WHERE is_claimed(claimed_until, now()) ORDER BY id',
    )
  ).rows.map(({ id }) => id);
const pend = async (id: number) => {
  const body = { missing: ['explanation'], message: null, hours: 1 };
  const headers = { 'If-Match': `"${await desk.lastEvent(id)}"` };
  assert.equal((await ana.visitor.ask('POST', `/api/applications/${id}/pend`, body, headers)).status, 200);
};

describe('a page', () => {
  beforeEach(() =>
    database.query('DELETE FROM review_items; DELETE FROM review_queue; DELETE FROM left_pages'),
  );

  it('gives back all that it alone uses when it is closed, and nothing of another operator', async () => {
    const [first, second, third, fourth] = await desk.register(4);
    const [page, other] = [randomUUID(), randomUUID()];
    await claim(first!, page);
    assert.equal((await claimNext(page)).body.id, second);
    await claim(third!, page);
    await claim(third!, other);
    await bob.visitor.ask('POST', `/api/applications/${fourth}/claim`, {}, asPage(page));
    assert.equal((await leave(page)).status, 200);
    assert.deepEqual(await held(), [third, fourth]);
    await leave(other);
    assert.deepEqual(await held(), [fourth]);
    await leave(page, bob);
    assert.deepEqual(await held(), []);
  });

  it('takes away from no other page what it gives back, and renews it for both', async () => {
    const [id] = await desk.register();
    const [page, other] = [randomUUID(), randomUUID()];
    for (const one of [page, other, page]) await claim(id!, one);
    await release(id!, page);
    assert.deepEqual(await held(), [id]);
    await release(id!, other);
    assert.deepEqual(await held(), []);
  });

  it('does not keep what another page used until its claim ended', async () => {
    const [id] = await desk.register();
    const [crashed, page] = [randomUUID(), randomUUID()];
    await claim(id!, crashed);
    await database.query("UPDATE review_items SET claimed_until = now() - interval '1 second'");
    await claim(id!, page);
    await leave(page);
    assert.deepEqual(await held(), []);
  });

  it('claims nothing after it was closed; what its operator does then counts', async () => {
    const [id, proposed, pended] = await desk.register(3);
    const page = randomUUID();
    const { id: proposal } = await desk.proposed(ana.visitor, proposed!);
    await pend(pended!);
    await leave(page);
    const { status, body } = await claim(id!, page);
    assert.deepEqual([status, body.claim.by.id], [200, ana.id]);
    assert.deepEqual((await claimNext(page)).body, { id: null, claim: null });
    assert.deepEqual((await claimNext(page, { 'Idempotency-Key': 'late' })).body, { id: null, claim: null });
    const late = [`/api/proposals/${proposal}/undo`, `/api/applications/${pended}/resume`];
    for (const path of late)
      assert.equal((await ana.visitor.ask('POST', path, {}, asPage(page))).status, 200, path);
    assert.deepEqual(await held(), []);
    const { rows } = await database.query('SELECT DISTINCT state FROM review_items');
    assert.deepEqual(rows, [{ state: 'waiting' }]);
    // Nor does it take away what another page of the operator uses.
    await claim(id!, randomUUID());
    assert.equal((await claim(id!, page)).status, 200);
    assert.deepEqual(await held(), [id]);
  });

  it('that is closed while it claims gives that back too', async () => {
    const [id] = await desk.register();
    const page = randomUUID();
    const session = await database.connect();
    await session.query('BEGIN');
    await session.query('SELECT take_claim_for($1, $2, 120, $3)', [id, ana.id, page]);
    const left = leave(page);
    await eventually(
      'the page waits for its claim',
      async () => (await waitingSessions(database)).length > 0,
    );
    await session.query('COMMIT');
    session.release();
    assert.equal((await left).status, 200);
    assert.deepEqual(await held(), []);
  });

  it('has an id in the form of a UUID, and names it when it is closed', async () => {
    const [id] = await desk.register();
    assert.equal((await claim(id!, 'one')).status, 400);
    assert.equal((await ana.visitor.ask('POST', '/api/review-queue/leave', {})).status, 400);
  });

  it('makes no claim long, however many there are of an operator', async () => {
    const [id] = await desk.register();
    for (let n = 0; n < 12; n += 1) await claim(id!, randomUUID());
    const { rows } = await database.query('SELECT cardinality(claimed_for) AS count FROM review_items');
    assert.deepEqual(rows, [{ count: 10 }]);
  });

  it('is remembered with the last hundred of its operator alone, however many one closes', async () => {
    const many = `INSERT INTO left_pages (operator_id, page, left_at)
      SELECT $1, gen_random_uuid(), now() + n * interval '1 second' FROM generate_series(-300, 1) AS n`;
    for (const { id } of [ana, bob]) await database.query(many, [id]);
    const page = randomUUID();
    assert.equal((await leave(page)).status, 200);
    const { rows } = await database.query(
      `SELECT count(*)::integer AS count, count(*) FILTER (WHERE page = $1)::integer AS own FROM left_pages
       GROUP BY operator_id ORDER BY operator_id`,
      [page],
    );
    assert.deepEqual(rows, [
      { count: 100, own: 1 },
      { count: 302, own: 0 },
    ]);
  });

  it('takes its lock before that of an application, also where a decision is undone: no two wait for each other', async () => {
    const [id] = await desk.register();
    const page = randomUUID();
    const { id: proposal } = await desk.proposed(ana.visitor, id!);
    const session = await database.connect();
    await session.query('BEGIN');
    // As a claim of the page does, before it locks the application.
    await session.query('SELECT page_has_left($1, $2)', [ana.id, page]);
    const undone = ana.visitor.ask('POST', `/api/proposals/${proposal}/undo`, {}, asPage(page));
    await eventually('the undo waits', async () => (await waitingSessions(database)).length > 0);
    const lock = 'SELECT FROM review_items WHERE application_id = $1 FOR NO KEY UPDATE NOWAIT';
    const isFree = await session.query(lock, [id]).then(
      () => true,
      () => false,
    );
    await session.query('ROLLBACK');
    session.release();
    assert.equal((await undone).status, 200);
    assert.equal(isFree, true);
  });

  it('is forgotten an hour after it was closed, and where the clock was ahead (D39)', async () => {
    for (const shift of ['-2 hours', '2 hours', '-10 minutes']) {
      const page = randomUUID();
      await leave(page);
      await database.query('UPDATE left_pages SET left_at = now() + $2::interval WHERE page = $1', [
        page,
        shift,
      ]);
    }
    await forgetRows(store.runtime, LEFT_PAGES);
    const { rows } = await database.query(
      "SELECT FROM left_pages WHERE left_at NOT BETWEEN now() - interval '1 hour' AND now()",
    );
    assert.deepEqual(rows, []);
    assert.ok((await database.query('SELECT FROM left_pages')).rowCount! > 0);
  });
});
