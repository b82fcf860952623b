/** The numbers of `message count` equal a full count, whatever happens to messages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MESSAGE_STATUSES, type MessageStatus } from '../../src/domain/message/notify.ts';
import { inTransaction, type Session } from '../../src/ground/postgres/database.ts';
import { foldRows } from '../../src/ground/postgres/fold.ts';
import { countMessages } from '../../src/subjects/messages/sql/message-counts.ts';
import { MESSAGE_COUNTS } from '../../src/subjects/messages/sql/tables.ts';
import { testDatabase } from '../support/database.ts';

const { database } = await testDatabase();
let nextId = 1;

/** Both counts in one statement, so that no message moves between them. */
async function assertCounted(session: Session = database): Promise<void> {
  const { rows } = await session.query(`
    SELECT status, sum(counted) AS counted, sum(there) AS there FROM (
      SELECT status, count AS counted, 0 AS there FROM message_counts
      UNION ALL SELECT status, 0, 1 FROM messages) AS both_ways
    GROUP BY status HAVING sum(counted) <> sum(there)`);
  assert.deepEqual(rows, []);
}

/** Statements like the service's: many messages at once, to one status, to several, or to the same. */
type Change =
  | { kind: 'add'; count: number }
  | { kind: 'move'; share: number; to: readonly MessageStatus[] }
  | { kind: 'touch' }
  | { kind: 'delete'; share: number };

const STATUS = fc.constantFrom(...MESSAGE_STATUSES);
const CHANGE: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('add' as const), count: fc.integer({ min: 0, max: 40 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('move' as const),
      share: fc.integer({ min: 0, max: 4 }),
      to: fc.array(STATUS, { minLength: 1, maxLength: 3 }),
    }),
  },
  fc.record({ kind: fc.constant('touch' as const) }),
  fc.record({ kind: fc.constant('delete' as const), share: fc.integer({ min: 0, max: 4 }) }),
);

async function carryOut(session: Session, change: Change): Promise<void> {
  switch (change.kind) {
    case 'add':
      await session.query(
        `WITH added AS (
          INSERT INTO message_records (message_id, changed_at, due_at, type, status, attempts, tries, partner_id)
          SELECT n, now(), now(), 'offer', 'cancelled', 0, 0, 1 FROM generate_series($1::bigint, $2::bigint) AS n
          RETURNING status
        ) INSERT INTO message_counts SELECT status, count(*) FROM added GROUP BY status`,
        [nextId, nextId + change.count - 1],
      );
      nextId += change.count;
      return;
    case 'move':
      await session.query(
        // Citus 13.2.2 crashes if the new value is an element of an array.
        `UPDATE message_records m SET status = g.status
        FROM unnest($2::message_status[]) WITH ORDINALITY AS g(status, n)
        WHERE m.message_id % 5 = $1 AND g.n = 1 + m.message_id % cardinality($2::message_status[])`,
        [change.share, change.to],
      );
      return;
    case 'touch':
      await session.query('UPDATE message_records SET due_at = now()');
      return;
    case 'delete':
      await session.query('DELETE FROM message_records WHERE message_id % 5 = $1', [change.share]);
  }
}

/** A transaction of some changes, which may be undone, and whether the rows are folded after it. */
const TRANSACTION = fc.record({
  changes: fc.array(CHANGE, { minLength: 1, maxLength: 4 }),
  undone: fc.boolean(),
  folded: fc.boolean(),
});

test('after any additions, moves, deletions and rollbacks the numbers equal a full count', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(TRANSACTION, { minLength: 1, maxLength: 8 }), async (transactions) => {
      for (const { changes, undone, folded } of transactions) {
        const work = inTransaction(database, async (session) => {
          for (const change of changes) await carryOut(session, change);
          await assertCounted(session);
          if (undone) throw new Error('undone');
        });
        await (undone ? assert.rejects(work, /^Error: undone$/) : work);
        if (folded) await foldRows(database, MESSAGE_COUNTS);
        await assertCounted();
      }
    }),
    { numRuns: 30 },
  );
});

test('sessions at once, with two that fold the rows, lose and double nothing', async () => {
  await carryOut(database, { kind: 'add', count: 200 });
  let busy = true;
  const fold = async () => {
    while (busy) await foldRows(database, MESSAGE_COUNTS);
  };
  const look = async () => {
    while (busy) await assertCounted();
  };
  const move = async (share: number) => {
    for (let turn = 0; turn < 40; turn += 1) {
      const to = MESSAGE_STATUSES[(turn + share) % MESSAGE_STATUSES.length] as MessageStatus;
      await carryOut(database, { kind: 'move', share, to: [to] });
    }
  };
  const helpers = [fold(), fold(), look()];
  await Promise.all([0, 1, 2, 3, 4].map(move));
  busy = false;
  await Promise.all(helpers);
  await assertCounted();
});

test('folded, a status has one row; a status without messages has no row, and is not listed', async () => {
  await database.query('DELETE FROM message_records');
  await carryOut(database, { kind: 'add', count: 3 });
  await database.query("UPDATE message_records SET status = 'sending' WHERE message_id = $1", [nextId - 1]);
  await database.query("UPDATE message_records SET status = 'read' WHERE status = 'sending'");
  await foldRows(database, MESSAGE_COUNTS);
  const { rows } = await database.query('SELECT status, count::integer FROM message_counts ORDER BY status');
  assert.deepEqual(rows, [
    { status: 'read', count: 1 },
    { status: 'cancelled', count: 2 },
  ]);
  assert.deepEqual(await countMessages(database), rows);
});
