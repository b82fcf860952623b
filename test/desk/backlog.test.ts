/** The counts of the backlog that are kept are those of a full count, whatever happens to the items (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type ApplicationId, toApplicationId } from '../../src/domain/application/ids.ts';
import { againAfterConflict, inTransaction } from '../../src/ground/postgres/database.ts';
import { databaseTime } from '../../src/ground/postgres/database-time.ts';
import { foldRows } from '../../src/ground/postgres/fold.ts';
import { readBacklog } from '../../src/subjects/desk/sql/backlog.ts';
import { addProposals } from '../../src/subjects/desk/sql/propose.ts';
import { BACKLOG_COUNTS } from '../../src/subjects/desk/sql/tables.ts';
import { AGES } from '../../src/subjects/desk/uses/lead.ts';
import { testDatabase } from '../support/database.ts';
import { assertInvariants } from '../support/erased.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const HOUR_MS = 3_600_000;

/** By reading all items. */
async function fullCount() {
  const { rows } = await database.query(
    `SELECT application_id AS id, created_at, due_at, now() AS now FROM review_items WHERE state = 'waiting'
     ORDER BY application_id`,
  );
  const buckets = [...AGES, null].map(() => 0);
  for (const { created_at, now } of rows) {
    const hours = Math.floor(now.getTime() / HOUR_MS) - Math.floor(created_at.getTime() / HOUR_MS);
    const bucket = AGES.findIndex((bound) => hours <= bound);
    buckets[bucket < 0 ? AGES.length : bucket]! += 1;
  }
  return {
    waiting: rows.length,
    overdue: rows.filter(({ due_at, now }) => due_at <= now).length,
    oldestAt: rows[0]?.created_at ?? null,
    buckets,
  };
}

const IDS = 40;
const id = fc.integer({ min: 1, max: IDS });
const ids = fc.uniqueArray(id, { minLength: 1, maxLength: 10 });
const ages = fc.array(fc.integer({ min: -2, max: 400 }), { minLength: 1, maxLength: 10 });
const state = fc.constantFrom('waiting', 'proposed', 'pended');
/** Each act with its statement; the ages are hours, and an item is due a day after its registration. */
const ACTS = fc.oneof(
  fc.tuple(fc.constant('come' as const), ids, ages),
  fc.tuple(fc.constant('go' as const), ids),
  fc.tuple(fc.constant('leave' as const), id),
  fc.tuple(fc.constant('state' as const), id, state),
  fc.tuple(fc.constant('propose' as const), ids),
  fc.tuple(fc.constant('claim' as const), id),
  fc.tuple(fc.constant('undone' as const), ids),
  fc.tuple(fc.constant('heal' as const)),
  fc.tuple(fc.constant('fold' as const)),
);
type Act = typeof ACTS extends fc.Arbitrary<infer T> ? T : never;

/** In the order of the ids, as the expansion does: two that come in other orders would wait for each other. */
const COME = `
  INSERT INTO review_items (application_id, partner_id, created_at, due_at)
  SELECT i.id, 1, a.at, a.at + interval '24 hours'
  FROM unnest($1::bigint[]) WITH ORDINALITY AS i(id, n)
  CROSS JOIN LATERAL (SELECT now() - ($2::integer[])[1 + i.n % cardinality($2::integer[])] * interval '1 hour' AS at) AS a
  ORDER BY i.id ON CONFLICT DO NOTHING`;
/** No item, and no count of those that went. */
async function emptied(): Promise<void> {
  await database.query('DELETE FROM review_items');
  await foldRows(runtime, BACKLOG_COUNTS);
}

const DECISION = {
  act: 'approve',
  reasonCode: 'unspecified',
  reason: 'x',
  isOverride: false,
  makerId: 1,
  lines: [],
} as const;

let proposals = 0;

/** Takes the items as a decision on them does. */
async function propose(some: readonly ApplicationId[]): Promise<void> {
  const proposalIds = some.map(() => ++proposals);
  const at = await databaseTime(runtime);
  const candidates = some.map((id, n) => ({
    ...{
      id,
      objection: null,
      proposalId: proposalIds[n]!,
      decidedOn: '0',
      signedAt: null,
      needsSecond: null,
      lines: null,
    },
  }));
  const how = { at, applyAt: new Date(at.getTime() + 600_000), request: null };
  await againAfterConflict(() =>
    inTransaction(runtime, (session) => addProposals(session, vault, DECISION, how, candidates)),
  );
  await runtime.query('DELETE FROM open_proposals WHERE proposal_id = ANY ($1)', [proposalIds]);
  await runtime.query('DELETE FROM proposals WHERE id = ANY ($1)', [proposalIds]);
}

async function run(act: Act): Promise<void> {
  switch (act[0]) {
    case 'come':
      return void (await runtime.query(COME, [act[1], act[2]]));
    case 'go':
      return void (await runtime.query('DELETE FROM review_items WHERE application_id = ANY ($1)', [act[1]]));
    case 'leave':
      return void (await runtime.query('SELECT leave_review_queue($1)', [act[1]]));
    case 'state':
      return void (await runtime.query('SELECT set_item_state($1, $2)', [act[1], act[2]]));
    case 'propose':
      return propose(act[1].map(toApplicationId));
    case 'claim':
      return void (await runtime.query('SELECT take_claim($1, 1, 60), drop_claim($1, 1)', [act[1]]));
    case 'undone': {
      const session = await runtime.connect();
      await session.query('BEGIN');
      await session.query('DELETE FROM review_items WHERE application_id = ANY ($1)', [act[1]]);
      await session.query('ROLLBACK');
      return session.release();
    }
    case 'heal':
      return void (await runtime.query('SELECT * FROM heal_review_items(0, 1000)'));
    case 'fold':
      return foldRows(runtime, BACKLOG_COUNTS);
  }
}

describe('the counts of the backlog', () => {
  it('are those of a full count after any acts, also at once, after heals and after folds (D48)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(ACTS, { minLength: 1, maxLength: 25 }),
        fc.boolean(),
        async (acts, atOnce) => {
          await database.query('DELETE FROM review_items');
          if (!atOnce) for (const act of acts) await run(act);
          // Without those that lock many rows in an order of their own.
          else await Promise.all(acts.filter(([kind]) => kind !== 'go' && kind !== 'undone').map(run));
          assert.deepEqual(await readBacklog(runtime, AGES), await fullCount());
          await foldRows(runtime, BACKLOG_COUNTS);
          assert.deepEqual(await readBacklog(runtime, AGES), await fullCount());
        },
      ),
      { numRuns: 60 },
    );
    await database.query('DELETE FROM review_items');
    await assertInvariants(store);
  });

  it('are folded into one row a pair of hours, also by two at once, and none stays of what is gone', async () => {
    await emptied();
    await run(['come', [1, 2, 3], [5, 30]]);
    await run(['state', 1, 'pended']);
    await Promise.all([foldRows(runtime, BACKLOG_COUNTS), foldRows(runtime, BACKLOG_COUNTS)]);
    await foldRows(runtime, BACKLOG_COUNTS);
    const kept = async () => (await database.query('SELECT FROM backlog_counts')).rowCount;
    assert.equal(await kept(), 2);
    await run(['go', [1, 2, 3]]);
    await foldRows(runtime, BACKLOG_COUNTS);
    assert.equal(await kept(), 0);
  });

  it('are read without a look at each item', async () => {
    await run(['come', Array.from({ length: 2_000 }, (_, n) => n + 1), [1, 10, 100, 300]]);
    await foldRows(runtime, BACKLOG_COUNTS);
    await database.query('ANALYZE review_items');
    let plan = '';
    const query = async (text: string, values: unknown[]) => {
      plan = (await database.query(`EXPLAIN ${text}`, values)).rows
        .map((row) => row['QUERY PLAN'])
        .join('\n');
      return { rows: [{}] };
    };
    await readBacklog({ query } as never, AGES);
    assert.doesNotMatch(plan, /Seq Scan on review_items/, plan);
  });
});
