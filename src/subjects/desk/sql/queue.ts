/**
 * The queue as reviewers see it, the next claim, and selections (docs/operators.md, "The review queue"). Reads and
 * writes `review_items` and `selections`. No row has personal data.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { type Database, onlyRow, type Session } from '../../../ground/postgres/database.ts';
import {
  MOST_COUNTED,
  QUEUE_ORDERS,
  type QueueFilter,
  type QueueOrder,
  type QueuePlace,
  type QueueState,
} from '../rules/queue.ts';
import { CLAIM_SECONDS, type Claimer, type StoredClaim } from './claims.ts';
import { type By, by } from './names.ts';

// First part: the filters and the orders of the queue, as parts of statements.

/**
 * The condition on `review_items i`, with the parameters $1 to $10 of `filterValues`. Without a state what is proposed
 * is left out: it is decided unless somebody undoes it. Another absent filter is NULL, and the planner leaves it out.
 * For this the statement has no name, so it is planned with its values.
 */
const FITS = `
  ($1::text IS NULL AND i.state <> 'proposed' OR i.state = $1) AND ($2::integer IS NULL OR i.partner_id = $2)
  AND ($3::integer IS NULL AND $4::integer IS NULL
    OR -coalesce(i.score, -1) BETWEEN -coalesce($4, 100) AND -coalesce($3, 0))
  AND ($5::double precision IS NULL AND $6::double precision IS NULL
    OR -coalesce(i.reference_amount, -1) BETWEEN -coalesce($6, 'Infinity') AND -coalesce($5, 0))
  AND ($7::integer IS NULL OR i.created_at <= now() - $7 * interval '1 hour')
  AND ($8::integer IS NULL OR i.due_at <= now() + $8 * interval '1 hour')
  AND ($9::text IS DISTINCT FROM 'mine' OR i.claimed_by = $10::integer AND is_claimed(i.claimed_until, now()))
  AND ($9::text IS DISTINCT FROM 'free' OR NOT is_claimed(i.claimed_until, now()))`;

/** The values of $1 to $10. */
function filterValues(filter: QueueFilter, operatorId: number): unknown[] {
  const { state, partner, score_from, score_to, amount_from, amount_to, age_from, due_within, claim } =
    filter;
  return [
    state,
    partner,
    score_from,
    score_to,
    amount_from,
    amount_to,
    age_from,
    due_within,
    claim,
    operatorId,
  ];
}

interface OrderParts {
  /** The ORDER BY, which an index of the table serves. */
  readonly by: string;
  /** The value of a row from which the next page goes on: a number; NULL stands for `infinity`. */
  readonly key: string;
  /** The rows after the one with the key $12 and the id $11. */
  readonly after: string;
}

const numberOrder = (expression: string): OrderParts => ({
  by: `${expression}, i.application_id`,
  key: expression,
  after: `(${expression}, i.application_id) > ($12::double precision, $11::bigint)`,
});

/** The orders, each with the index that serves it (migrations/0012_desk.sql). */
const ORDERS: Readonly<Record<QueueOrder, OrderParts>> = {
  due: {
    by: 'i.due_at, i.application_id',
    key: 'CASE WHEN isfinite(i.due_at) THEN extract(epoch FROM i.due_at) * 1000000 END',
    after: `(i.due_at, i.application_id) > (CASE WHEN $12::bigint IS NULL THEN 'infinity'
      ELSE 'epoch'::timestamptz + $12 * interval '1 microsecond' END, $11::bigint)`,
  },
  // In the order of registration. Here the key of the cursor is the id.
  oldest: {
    by: 'i.application_id',
    key: 'i.application_id',
    after: 'i.application_id > greatest($12::bigint, $11::bigint)',
  },
  score: numberOrder('(-coalesce(i.score, -1))'),
  amount: numberOrder('(-coalesce(i.reference_amount, -1))'),
};

/** A row of the queue. */
export interface StoredItem extends QueuePlace {
  readonly id: ApplicationId;
  /** The number of its last event; `'0'`: nothing has happened since the registration. */
  readonly lastEvent: string;
  readonly partner: { readonly id: number; readonly name: string };
  readonly state: QueueState;
  readonly score: number | null;
  readonly currency: string | null;
  readonly debtAmount: number | null;
  readonly referenceAmount: number | null;
  readonly createdAt: Date;
  readonly dueAt: Date | null;
  readonly claim: StoredClaim | null;
}

interface Row extends Omit<StoredItem, 'claim'> {
  readonly by: By | null;
  readonly until: Date | null;
}

/** An item with its partner's name and its claim; `key` is a place in an order. */
const shown = (key: string) => `
  SELECT i.application_id::float8 AS id,
    coalesce((SELECT max(e.id) FROM application_events e WHERE e.application_id = i.application_id), 0) AS "lastEvent",
    json_build_object('id', i.partner_id, 'name', p.name) AS partner, i.state, i.score, i.currency,
    i.debt_amount AS "debtAmount", i.reference_amount AS "referenceAmount", i.created_at AS "createdAt",
    nullif(i.due_at, 'infinity') AS "dueAt", ${by('o.id', 'o')} AS by, i.claimed_until AS until, (${key})::float8 AS key`;
const WITH_NAMES = `
  JOIN partners p ON p.id = i.partner_id
  LEFT JOIN operators o ON o.id = i.claimed_by AND is_claimed(i.claimed_until, now())`;

/** $11 and $12: the place after which the page begins; $13: the most rows. */
const pageBy = ({ by, key, after }: (typeof ORDERS)[QueueOrder]) => `
  ${shown(key)} FROM (
    SELECT i.* FROM review_items i WHERE ${FITS} AND ($11::bigint IS NULL OR ${after}) ORDER BY ${by} LIMIT $13
  ) AS i ${WITH_NAMES} ORDER BY ${by}`;

/** $11: the seconds of the claim; $12: its pages. Sessions at the same moment skip the rows that others are taking. */
const claimBy = ({ by }: (typeof ORDERS)[QueueOrder]) => `
  WITH free AS MATERIALIZED (
    SELECT i.application_id FROM review_items i
    WHERE ${FITS} AND ($1 IS NOT NULL OR i.state = 'waiting') AND i.state <> 'proposed'
      AND NOT is_claimed(i.claimed_until, now())
    ORDER BY ${by} LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
  ), claim AS MATERIALIZED (
    SELECT f.application_id, clock_timestamp() + $11 * interval '1 second' AS until FROM free f
  )
  UPDATE review_items i SET claimed_by = $10, claimed_until = c.until, claimed_for = $12::uuid[] FROM claim c
  WHERE i.application_id = c.application_id
  RETURNING i.application_id::float8 AS id, (SELECT o.login FROM operators o WHERE o.id = $10) AS login,
    i.claimed_until AS until`;

const statements = (make: (parts: (typeof ORDERS)[QueueOrder]) => string) =>
  Object.fromEntries(QUEUE_ORDERS.map((order) => [order, make(ORDERS[order])])) as Record<QueueOrder, string>;
const PAGES = statements(pageBy);
const CLAIMS = statements(claimBy);

const COUNT = `
  SELECT count(*)::integer AS count FROM (SELECT FROM review_items i WHERE ${FITS} LIMIT ${MOST_COUNTED}) AS f`;
const ONE = `${shown('NULL')} FROM review_items i ${WITH_NAMES} WHERE i.application_id = $1`;

/** $11: the id of the selection. An operator keeps the newest ten selections. */
const SELECT_ALL = `
  WITH found AS MATERIALIZED (
    SELECT i.application_id AS id FROM review_items i WHERE ${FITS} LIMIT ${MOST_COUNTED + 1}
  ), gone AS (
    DELETE FROM selections s WHERE s.id IN (
      SELECT k.id FROM selections k WHERE k.operator_id = $10 ORDER BY k.created_at DESC OFFSET 9)
  )
  INSERT INTO selections (id, operator_id, ends_at, ids, last_events)
  SELECT $11, $10, clock_timestamp() + interval '10 minutes', coalesce(array_agg(f.id ORDER BY f.id), '{}'),
    coalesce(array_agg(coalesce((SELECT max(e.id) FROM application_events e WHERE e.application_id = f.id), 0)
      ORDER BY f.id), '{}')
  FROM found f HAVING count(*) <= ${MOST_COUNTED}
  RETURNING cardinality(ids) AS count, ends_at AS "endsAt"`;

/** The first `limit` rows after a place in an order; null: from the beginning. */
export async function readPage(
  database: Database,
  filter: QueueFilter,
  {
    order,
    after,
    limit,
  }: { readonly order: QueueOrder; readonly after: QueuePlace | null; readonly limit: number },
  operatorId: number,
): Promise<StoredItem[]> {
  const values = [...filterValues(filter, operatorId), after?.id ?? null, after?.key ?? null, limit];
  return (await database.query<Row>(PAGES[order], values)).rows.map(itemOf);
}

/** How many fit; `MOST_COUNTED` stands for that number and more. */
export async function countItems(
  database: Database,
  filter: QueueFilter,
  operatorId: number,
): Promise<number> {
  return onlyRow((await database.query<{ count: number }>(COUNT, filterValues(filter, operatorId))).rows)
    .count;
}

/** The item of an application; null: it is not in the queue. */
export async function readItem(session: Session, id: ApplicationId): Promise<StoredItem | null> {
  const [row] = (await session.query<Row>(ONE, [id])).rows;
  return row === undefined ? null : itemOf(row);
}

/**
 * Claims the first application in the order that nobody holds and on which no decision is proposed; without a state in
 * the filter, only a waiting one. Null: there is none.
 */
export async function claimNext(
  session: Session,
  filter: QueueFilter,
  order: QueueOrder,
  { operatorId, page }: Claimer,
): Promise<{ readonly id: ApplicationId; readonly claim: StoredClaim } | null> {
  const values = [...filterValues(filter, operatorId), CLAIM_SECONDS, page === null ? [] : [page]];
  type Claimed = { readonly id: ApplicationId; readonly login: string; readonly until: Date };
  const [row] = (await session.query<Claimed>(CLAIMS[order], values)).rows;
  return row === undefined
    ? null
    : { id: row.id, claim: { by: { id: operatorId, login: row.login }, until: row.until } };
}

/** Keeps what fits for ten minutes, each application with its last event; null: more than `MOST_COUNTED` fit. */
export async function makeSelection(
  database: Database,
  filter: QueueFilter,
  operatorId: number,
  selection: string,
): Promise<{ readonly count: number; readonly endsAt: Date } | null> {
  const values = [...filterValues(filter, operatorId), selection];
  return (await database.query<{ count: number; endsAt: Date }>(SELECT_ALL, values)).rows[0] ?? null;
}

function itemOf({ by: claimer, until, ...item }: Row): StoredItem {
  return { ...item, claim: claimer === null ? null : { by: claimer, until: until! } };
}
