/** The queue in the store: its items come after registrations, go with reviews, and are held by one operator each. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toPhone } from '../../src/applications/rules/phone.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';

const store = await testDatabase();
const { database, runtime } = store;
const { json } = commandLine(store);
const partner = await json('partner', 'add', '--name', 'Uno', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner.id}`);
const register = await registrarOf(store);

let phones = 0;
const waiting = () => applicant({ ...IN_REVIEW, phone: toPhone(`+57300${5_550_000 + ++phones}`) });
const expand = async (limit = 100) =>
  (await runtime.query('SELECT * FROM expand_reviews(0, $1, 24)', [limit])).rows[0];
const heal = async () => (await runtime.query('SELECT * FROM heal_review_items(0, 1000)')).rows[0];
const items = async () => (await database.query('SELECT * FROM review_items ORDER BY application_id')).rows;
const take = async (id: number, operator: number, seconds = 120) =>
  (await runtime.query('SELECT * FROM take_claim($1, $2, $3)', [id, operator, seconds])).rows[0];

describe('items of the queue', () => {
  it('come with score, reference amount by the policy (D29) and due time', async () => {
    const [id] = await register(key, [waiting(), applicant({})]);
    assert.deepEqual(await items(), []);
    assert.equal((await expand()).batches, 1);
    const [item, ...more] = await items();
    const { rows } = await database.query('SELECT * FROM applications_of(ARRAY[$1::bigint])', [id]);
    assert.deepEqual(more, []);
    assert.equal(item.application_id, `${id}`);
    assert.deepEqual(
      [item.score, item.debt_amount, item.currency],
      [rows[0].score, rows[0].debt_amount, 'COP'],
    );
    assert.equal(item.reference_amount, rows[0].debt_amount / 4000);
    assert.equal(Number(item.due_at) - Number(item.created_at), 24 * 3_600_000);
    assert.equal((await expand()).batches, 0);
    await json('application', 'approve', `${id}`, '--reason', 'good', '--reason-code', 'income_verified');
    assert.deepEqual(await items(), []);
    assert.deepEqual(await heal(), { last: null, removed: 0, lacking: 0 });
  });
});

describe('a claim', () => {
  it('is of one operator, who alone renews it and gives it back', async () => {
    const [id] = await register(key, [waiting()]);
    await expand();
    assert.deepEqual([(await take(id!, 1)).is_held, (await take(id!, 1)).is_held], [true, true]);
    const other = await take(id!, 2);
    assert.deepEqual([other.is_held, other.operator_id], [false, 1]);
    await runtime.query('SELECT drop_claim($1, 2)', [id]);
    assert.equal((await take(id!, 2)).is_held, false);
    await runtime.query('SELECT drop_claim($1, 1)', [id]);
    assert.equal((await take(id!, 2)).is_held, true);
    assert.equal(await take(1, 2), undefined);
  });
});
