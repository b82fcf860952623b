/** What narrows the queue and what orders it, as parts of statements. */
import type { QueueFilter, QueueOrder } from '../rules/queue.ts';

/**
 * The condition on `review_items i`, with the parameters $1 to $10 of `filterValues`. An absent part is NULL, and the
 * planner leaves its condition out: such a statement has no name, so it is planned with its values.
 */
export const FITS = `
  ($1::text IS NULL OR i.state = $1) AND ($2::integer IS NULL OR i.partner_id = $2)
  AND ($3::integer IS NULL AND $4::integer IS NULL
    OR -coalesce(i.score, -1) BETWEEN -coalesce($4, 100) AND -coalesce($3, 0))
  AND ($5::double precision IS NULL AND $6::double precision IS NULL
    OR -coalesce(i.reference_amount, -1) BETWEEN -coalesce($6, 'Infinity') AND -coalesce($5, 0))
  AND ($7::integer IS NULL OR i.created_at <= now() - $7 * interval '1 hour')
  AND ($8::integer IS NULL OR i.due_at <= now() + $8 * interval '1 hour')
  AND ($9::text IS DISTINCT FROM 'mine' OR i.claimed_by = $10::integer AND is_claimed(i.claimed_until, now()))
  AND ($9::text IS DISTINCT FROM 'free' OR NOT is_claimed(i.claimed_until, now()))`;

/** The values of $1 to $10. */
export function filterValues(filter: QueueFilter, operatorId: number): unknown[] {
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
  /** What an index of the table gives. */
  readonly by: string;
  /** The value of a row by which the next page goes on: a number; NULL: `infinity`. */
  readonly key: string;
  /** The rows after the one with the key $12 and the id $11. */
  readonly after: string;
}

const numberOrder = (expression: string): OrderParts => ({
  by: `${expression}, i.application_id`,
  key: expression,
  after: `(${expression}, i.application_id) > ($12::double precision, $11::bigint)`,
});

/** The orders, each with the index that serves it (migrations/0058_desk_queue.sql). */
export const ORDERS: Readonly<Record<QueueOrder, OrderParts>> = {
  due: {
    by: 'i.due_at, i.application_id',
    key: 'CASE WHEN isfinite(i.due_at) THEN extract(epoch FROM i.due_at) * 1000000 END',
    after: `(i.due_at, i.application_id) > (CASE WHEN $12::bigint IS NULL THEN 'infinity'
      ELSE 'epoch'::timestamptz + $12 * interval '1 microsecond' END, $11::bigint)`,
  },
  // In the order of registration; the key of the cursor is the id as well.
  oldest: {
    by: 'i.application_id',
    key: 'i.application_id',
    after: 'i.application_id > greatest($12::bigint, $11::bigint)',
  },
  score: numberOrder('(-coalesce(i.score, -1))'),
  amount: numberOrder('(-coalesce(i.reference_amount, -1))'),
};
