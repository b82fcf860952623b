/** The queue in the operator API: pages, filters, orders, claims and selections (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { forgetRows } from '../../src/ground/postgres/forget.ts';
import { deskRoutes } from '../../src/subjects/desk/routes/desk-routes.ts';
import { Application } from '../../src/subjects/desk/routes/forms.ts';
import { Queue, QueuePartners, type QueueReply } from '../../src/subjects/desk/routes/queue-forms.ts';
import { QUEUE_ORDERS } from '../../src/subjects/desk/rules/queue.ts';
import { SELECTIONS } from '../../src/subjects/desk/sql/tables.ts';
import { DEMO_TERMS } from '../../src/subjects/signing/rules/demo-terms.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { startTestConsole, type Visitor } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { fileOf } from '../support/files.ts';
import { registrarOf } from '../support/intake.ts';
import { remac } from '../support/remac.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const { json } = commandLine(store);
const partners = [
  await json('partner', 'add', '--name', 'Uno <b>', '--country', 'CO'),
  await json('partner', 'add', '--name', 'Dos', '--country', 'CO'),
];
const keys: number[] = [];
for (const { id } of partners) keys.push((await json('key', 'issue', '--partner', `${id}`)).id);
const register = await registrarOf(store);
const desk = await startTestConsole(
  store,
  deskRoutes(
    {
      database: runtime,
      vault,
      clock: machineClock,
      undoSeconds: 10,
      lookShare: 0,
      dueHours: 24,
      terms: async () => DEMO_TERMS,
    },
    () => Promise.reject(new Error('no documents')),
  ),
);
const people = { ruth: await desk.enrolled('ruth', 'reviewer'), rob: await desk.enrolled('rob', 'reviewer') };
const [ruth, rob] = [await people.ruth.signIn(), await people.rob.signIn()];
const viewer = await (await desk.enrolled('vera', 'viewer')).signIn();

let phones = 0;
/** Registers applications in review and expands them; `amounts` one each. */
async function inReview(amounts: readonly number[], key = keys[0]!): Promise<number[]> {
  const ids = await register(
    key,
    amounts.map((debt_amount) =>
      applicant({
        ...IN_REVIEW,
        // Just above the reference installment (D29).
        ...{ income: debt_amount * 0.04, debt_amount },
        phone: toPhone(`+57300${7_000_000 + ++phones}`),
      }),
    ),
  );
  await runtime.query('SELECT expand_reviews(0, 100, 24)');
  return ids;
}
const emptied = () => database.query('DELETE FROM review_items; DELETE FROM review_queue');
const list = (query = '', visitor: Visitor = viewer, headers = {}) =>
  visitor.ask('GET', `/api/review-queue${query}`, undefined, headers);
const idsOf = ({ body }: { body: { items: { id: number }[] } }) => body.items.map(({ id }) => id);
const claim = (visitor: Visitor, id: number) => visitor.ask('POST', `/api/applications/${id}/claim`, {});
const claimNext = (visitor: Visitor, body = {}) => visitor.ask('POST', '/api/review-queue/claim-next', body);

describe('the review queue', () => {
  it('has rows without personal data, in the form that the document tells', async () => {
    await emptied();
    const [id] = await inReview([4_000_000]);
    const { status, body } = await list();
    assert.equal(status, 200);
    assert.ok(Value.Check(Queue, body), JSON.stringify([...Value.Errors(Queue, body)]));
    const [item] = body.items;
    assert.equal(item?.id, id);
    assert.deepEqual(
      [body.count, body.next, item?.reference_amount, item?.partner.name],
      [1, null, 1_000, 'Uno <b>'],
    );
    assert.doesNotMatch(JSON.stringify(body), /Gómez|1020304050|Bogot/);
    const { body: application } = await viewer.ask('GET', `/api/applications/${id}`);
    assert.ok(Value.Check(Application, application));
    assert.equal(application.review?.due_at, item?.due_at);
  });

  it('says what the loan takes of the income, and how many documents have arrived', async () => {
    await emptied();
    const [first, second] = await inReview([4_000_000, 4_000_000]);
    const { addDocument, addCheck } = fileOf(store);
    for (const state of ['accepted', 'received', 'rejected', 'received']) await addDocument(first!, state);
    await addCheck(first!, 'confirmed', 150_000_00);
    const items = (await list('?order=oldest')).body.items as QueueReply['items'];
    const [one, other] = items.map((item) => item.capacity!);
    for (const item of items) {
      const page = await viewer.ask('GET', `/api/applications/${item.id}`);
      assert.deepEqual(item.capacity, page.body.capacity, 'as on the page of the application');
    }
    assert.deepEqual([one!.income, one!.income_by, other!.income_by], [150_000, 'observed', 'declared']);
    assert.equal(one!.share, Math.round((Number(one!.installment) / 150_000) * 10_000) / 10_000);
    assert.deepEqual(
      items.map(({ id, documents }) => [id, documents]),
      [
        [first, { accepted: 1, received: 2, rejected: 1 }],
        [second, { accepted: 0, received: 0, rejected: 0 }],
      ],
    );
  });

  it('leaves out what a decision is proposed on, until it is undone; else it is 304', async () => {
    await emptied();
    const [id, other] = await inReview([4_000_000, 8_000_000]);
    const before = await list();
    const known = { 'If-None-Match': before.headers.get('etag')! };
    assert.equal((await list('', viewer, known)).status, 304);
    await database.query("SELECT set_item_state($1, 'proposed')", [id]);
    const after = await list('', viewer, known);
    assert.deepEqual([idsOf(after), after.body.count], [[other], 1]);
    assert.deepEqual(idsOf(await list('?state=proposed')), [id]);
    const { body: selection } = await ruth.ask('POST', '/api/review-queue/selections', {});
    assert.equal(selection.count, 1);
    await database.query("SELECT set_item_state($1, 'waiting')", [id]);
    assert.equal((await list('', viewer, known)).status, 304);
  });

  it('names every partner to choose from, also one that has nothing in review', async () => {
    await emptied();
    await inReview([4_000_000]);
    const { status, body } = await viewer.ask('GET', '/api/review-queue/partners');
    assert.equal(status, 200);
    assert.ok(Value.Check(QueuePartners, body));
    assert.deepEqual(
      body.partners.map(({ name, currency }: { name: string; currency: string }) => [name, currency]),
      [
        ['Dos', 'COP'],
        ['Uno <b>', 'COP'],
      ],
    );
    assert.deepEqual(
      body.partners.map(({ id }: { id: number }) => id).toSorted(),
      partners.map(({ id }) => id).toSorted(),
    );
  });

  it('gives every row once over its pages, in each order, and refuses a changed cursor', async () => {
    await emptied();
    const ids = await inReview(Array.from({ length: 25 }, (_, n) => 1_000_000 * (1 + (n % 7))));
    await database.query(
      "SELECT set_item_state($1, 'pended'), set_item_state($2, 'pended')",
      ids.slice(0, 2),
    );
    for (const order of QUEUE_ORDERS) {
      const seen: number[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page = await list(`?order=${order}&limit=4${cursor && `&cursor=${cursor}`}`);
        assert.equal(page.status, 200);
        seen.push(...idsOf(page));
        cursor = page.body.next;
      }
      assert.deepEqual(
        seen.toSorted((a, b) => a - b),
        ids,
        order,
      );
      if (order === 'oldest') assert.deepEqual(seen, ids);
      if (order === 'due') assert.deepEqual(seen.slice(-2), ids.slice(0, 2), 'a stopped clock comes last');
    }
    const { next } = (await list('?order=due&limit=4')).body;
    const turned = next.slice(0, -1) + (next.endsWith('A') ? 'B' : 'A');
    for (const query of [
      `order=score&cursor=${next}`,
      `order=due&cursor=${turned}`,
      'order=due&cursor=x',
      `order=due&cursor=${Buffer.from('["due",1,1]').toString('base64url')}`,
    ]) {
      const { status, body } = await list(`?${query}`);
      assert.deepEqual([status, body.error.slice(0, 14)], [400, 'query: cursor '], query);
    }
  });

  it('is narrowed by each filter, and names the field and the rule of a wrong one', async () => {
    await emptied();
    const small = await inReview([4_000_000, 8_000_000]);
    const [other] = await inReview([40_000_000], keys[1]);
    await database.query(
      "UPDATE review_items SET score = 35, due_at = now() - interval '1 hour' WHERE application_id = $1",
      [other],
    );
    await database.query(
      "UPDATE review_items SET created_at = now() - interval '30 hours' WHERE application_id = $1",
      [small[0]],
    );
    await database.query(
      'UPDATE review_items SET score = NULL, reference_amount = NULL WHERE application_id = $1',
      [small[1]],
    );
    await database.query("SELECT set_item_state($1, 'proposed')", [small[1]]);
    await claim(rob, other!);
    for (const [query, expected] of [
      ['state=proposed', [small[1]]],
      [`partner=${partners[1].id}`, [other]],
      ['score_from=35&score_to=35', [other]],
      ['score_to=100', [small[0], other]],
      ['amount_from=1000&amount_to=1000.5', [small[0]]],
      ['amount_from=0', [small[0], other]],
      ['age_from=30', [small[0]]],
      ['due_within=0', [other]],
      ['claim=mine', [other]],
      ['claim=free', [small[0]]],
      ['claim=free&state=waiting', [small[0]]],
    ] as const) {
      const page = await list(`?order=oldest&${query}`, rob);
      assert.deepEqual([idsOf(page), page.body.count], [expected, expected.length], query);
    }
    assert.deepEqual(idsOf(await list('?claim=mine', ruth)), []);
    for (const [query, error] of [
      ['limit=101', /^query: limit must be <= 100$/],
      ['limit=many', /^query: limit must be integer$/],
      ['partner=2147483648', /^query: partner must be <= 2147483647$/],
      ['partner=1.5', /^query: partner must be integer$/],
      ['partner=', /^query: partner must be integer$/],
      ['partner=1&partner=2', /^query: partner must be integer$/],
      ['order=name', /^query: order must be equal to one of/],
      ['phone=1', /^query: phone is no field of it$/],
    ] as const) {
      const { status, body } = await list(`?${query}`);
      assert.equal(status, 400, query);
      assert.match(body.error, error);
    }
  });

  it('answers 304 until something in it changes', async () => {
    await emptied();
    const [id] = await inReview([4_000_000]);
    const tag = (await list()).headers.get('etag')!;
    assert.deepEqual((await list('', viewer, { 'If-None-Match': tag })).status, 304);
    await claim(ruth, id!);
    const after = await list('', viewer, { 'If-None-Match': tag });
    assert.deepEqual([after.status, after.body.items[0].claim.by.login], [200, 'ruth']);
  });
});

describe('a claim', () => {
  it('is of one operator: others get 409 with who holds it until when, and give back nothing of it', async () => {
    await emptied();
    const [id] = await inReview([4_000_000]);
    const before = (await database.query('SELECT now()::text AS at')).rows[0].at;
    const taken = await claim(ruth, id!);
    assert.equal(taken.status, 200);
    const refused = await claim(rob, id!);
    assert.equal(refused.status, 409);
    assert.deepEqual(refused.body.by, { id: people.ruth.id, login: 'ruth' });
    assert.equal(refused.body.until, taken.body.claim.until);
    const { rows } = await database.query(
      `SELECT claimed_until - interval '2 minutes' BETWEEN $1::timestamptz AND now() AS is_of_two_minutes
       FROM review_items`,
      [before],
    );
    assert.deepEqual(rows, [{ is_of_two_minutes: true }]);
    assert.equal((await rob.ask('POST', `/api/applications/${id}/release`, {})).status, 200);
    assert.equal((await claim(rob, id!)).status, 409);
    await ruth.ask('POST', `/api/applications/${id}/release`, {});
    assert.equal((await claim(rob, id!)).status, 200);
    assert.equal((await claim(rob, 1)).status, 404);
  });

  it('ends by the clock of the store, and one of a clock that was ahead has ended too (D39)', async () => {
    await emptied();
    const [id] = await inReview([4_000_000]);
    const set = (shift: string) =>
      database.query('UPDATE review_items SET claimed_by = $1, claimed_until = now() + $2::interval', [
        people.ruth.id,
        shift,
      ]);
    for (const shift of ['-1 second', '2 hours']) {
      await set(shift);
      assert.equal((await list('?claim=free', rob)).body.count, 1, shift);
      assert.equal((await claimNext(rob)).body.id, id, shift);
      await set(shift);
      assert.equal((await claim(rob, id!)).body.claim?.by.login, 'rob', shift);
      await rob.ask('POST', `/api/applications/${id}/release`, {});
    }
  });

  it('is given back where the operator signs out of the last session, and of no one else (D48)', async () => {
    await emptied();
    const [id, other, more] = await inReview([4_000_000, 8_000_000, 5_000_000]);
    const sam = await desk.enrolled('sam', 'reviewer');
    const [first, second] = [await sam.signIn(), await sam.signIn()];
    assert.equal((await claim(first, id!)).status, 200);
    assert.equal((await claim(rob, other!)).status, 200);
    // Neither a session without its second factor nor one that ended counts.
    await sam.signIn();
    await database.query(
      `UPDATE operator_sessions SET is_whole = false WHERE operator_id = $1 AND started_at = (
         SELECT max(started_at) FROM operator_sessions WHERE operator_id = $1)`,
      [sam.id],
    );
    await remac(store);
    await sam.signIn();
    await database.query(
      `UPDATE operator_sessions SET seen_at = now() - interval '31 minutes' WHERE operator_id = $1 AND started_at = (
         SELECT max(started_at) FROM operator_sessions WHERE operator_id = $1)`,
      [sam.id],
    );
    await remac(store);
    await first.ask('DELETE', '/api/session');
    assert.equal((await claim(ruth, id!)).status, 409, 'another session of the operator goes on');
    await second.ask('DELETE', '/api/session');
    assert.equal((await claim(ruth, id!)).status, 200);
    assert.equal((await claim(ruth, other!)).status, 409);
    const everywhere = await sam.signIn();
    await sam.signIn();
    assert.equal((await claim(everywhere, more!)).status, 200);
    await everywhere.ask('POST', '/api/session/sign-out-everywhere', {});
    assert.equal((await claim(ruth, more!)).status, 200, 'signed out everywhere');
  });

  for (const [command, ...more] of [
    ['disable'],
    ['reset-factors'],
    ['sign-out'],
    ['role', '--role', 'viewer'],
  ] as const) {
    it(`is given back at once by operator ${command}, and of no one else`, async () => {
      await emptied();
      const [id, other] = await inReview([4_000_000, 8_000_000]);
      const { signIn, login } = await desk.enrolled(`gone.${command}`, 'reviewer');
      assert.equal((await claim(await signIn(), id!)).status, 200);
      assert.equal((await claim(rob, other!)).status, 200);
      await json('operator', command, login, ...more);
      assert.equal((await claim(ruth, id!)).status, 200);
      assert.equal((await claim(ruth, other!)).status, 409);
    });
  }

  it('of the next one is of one operator each: 20 sessions over 100 applications', async () => {
    await emptied();
    const ids = await inReview(Array.from({ length: 100 }, () => 4_000_000));
    const sessions = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => (await desk.enrolled(`many.${n}`, 'reviewer')).signIn()),
    );
    const taken: number[] = [];
    await Promise.all(
      sessions.map(async (visitor) => {
        for (;;) {
          const { status, body } = await claimNext(visitor);
          assert.equal(status, 200);
          if (body.id === null) return;
          taken.push(body.id);
          assert.ok(taken.length <= ids.length, `${taken.length} taken`);
        }
      }),
    );
    assert.deepEqual(
      taken.toSorted((a, b) => a - b),
      ids,
    );
  });

  it('of the next one takes what waits, within the filters and in the order', async () => {
    await emptied();
    const ids = await inReview([4_000_000, 12_000_000, 8_000_000]);
    await database.query("SELECT set_item_state($1, 'proposed')", [ids[0]]);
    assert.equal((await claimNext(ruth, { order: 'amount', amount_to: 2_500 })).body.id, ids[2]);
    assert.equal((await claimNext(rob, { order: 'amount' })).body.id, ids[1]);
    assert.deepEqual((await claimNext(rob)).body, { id: null, claim: null });
  });

  it('goes with a review, and a reviewed application leaves the queue at once', async () => {
    await emptied();
    const [id] = await inReview([4_000_000]);
    await claim(ruth, id!);
    await json('application', 'reject', `${id}`, '--reason', 'no', '--reason-code', 'income_not_verified');
    assert.equal((await list()).body.count, 0);
    assert.equal((await claim(ruth, id!)).status, 404);
  });
});

describe('a selection', () => {
  it('keeps what matched with the last events, whatever comes later', async () => {
    await emptied();
    const ids = await inReview([4_000_000, 8_000_000]);
    const { status, body } = await ruth.ask('POST', '/api/review-queue/selections', { amount_to: 1_500 });
    assert.deepEqual([status, body.count], [200, 1]);
    await inReview([4_000_000]);
    const { rows } = await database.query('SELECT * FROM selections WHERE id = $1', [body.selection]);
    assert.deepEqual([rows[0].ids, rows[0].last_events], [[`${ids[0]}`], ['0']]);
    assert.equal(rows[0].operator_id, people.ruth.id);
  });

  it('is refused where more than 10,000 match, and an operator keeps ten', async () => {
    await emptied();
    await database.query(`
      INSERT INTO review_items (application_id, partner_id, created_at, due_at)
      SELECT n, 1, now(), now() FROM generate_series(1, 10001) AS n`);
    const refused = await rob.ask('POST', '/api/review-queue/selections', {});
    assert.equal(refused.status, 409);
    assert.equal((await list()).body.count, 10_000);
    await database.query('DELETE FROM review_items WHERE application_id = 1');
    for (let n = 0; n < 12; n += 1) {
      assert.equal((await rob.ask('POST', '/api/review-queue/selections', {})).body.count, 10_000);
    }
    const { rows } = await database.query('SELECT count(*) FROM selections WHERE operator_id = $1', [
      people.rob.id,
    ]);
    assert.equal(rows[0].count, '10');
  });

  it('is forgotten when it has ended, also where the clock was ahead when it was made (D39)', async () => {
    await database.query('DELETE FROM selections');
    await database.query(
      `INSERT INTO selections (id, operator_id, ends_at, ids, last_events)
       SELECT gen_random_uuid(), $1, now() + n * interval '1 minute', ARRAY[n], '{0}'
       FROM unnest(ARRAY[-60, -1, 9, 3000]) AS n`,
      [people.rob.id],
    );
    await forgetRows(runtime, SELECTIONS);
    const { rows } = await database.query('SELECT ids FROM selections');
    assert.deepEqual(rows, [{ ids: ['9'] }]);
  });
});
