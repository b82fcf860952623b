/** Each order of the queue is served by its index (D48): a page is read in its order, and nothing is sorted for it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { QUEUE_ORDERS, type QueueOrder } from '../../src/subjects/desk/rules/queue.ts';
import { claimNext, readPage } from '../../src/subjects/desk/sql/queue.ts';
import { testDatabase } from '../support/database.ts';
import { planOf } from '../support/plan.ts';

const { database } = await testDatabase();
const INDEXES: Readonly<Record<QueueOrder, string>> = {
  due: 'review_items_due',
  oldest: 'review_items_pkey',
  score: 'review_items_score',
  amount: 'review_items_amount',
};

for (const order of QUEUE_ORDERS) {
  it(`a page and the next application by ${order} come from ${INDEXES[order]}`, async () => {
    await database.query(`
      INSERT INTO review_items (application_id, partner_id, score, reference_amount, created_at, due_at)
      SELECT n, 1, n % 100, n, now(), now() + n * interval '1 minute' FROM generate_series(1, 5000) AS n
      ON CONFLICT DO NOTHING`);
    await database.query('ANALYZE review_items');
    const after = { id: 7, key: order === 'due' ? null : 7 };
    for (const plan of [
      await planOf(database, (on) => readPage(on, {}, { order, after: null, limit: 100 }, 1)),
      await planOf(database, (on) => readPage(on, { state: 'waiting' }, { order, after, limit: 100 }, 1)),
      await planOf(database, (on) => claimNext(on, {}, order, { operatorId: 1, page: null })),
    ]) {
      const page = plan.slice(plan.indexOf('Limit'));
      assert.match(page, new RegExp(`Index Scan using ${INDEXES[order]}(_\\d+)? on review_items`), plan);
      assert.doesNotMatch(page, /Sort/, plan);
    }
  });
}
