/** Takes the proposals of a decision on many back. */
import type { Transaction } from '../../postgres/database.ts';
import { onlyRow } from '../../postgres/only-row.ts';

const MADE = `
  SELECT FROM proposal_requests r WHERE r.operator_id = $1 AND r.request_key = $2`;

/** Whether the operator has made a request with this key. */
export async function hasRequest(session: Transaction, operatorId: number, key: string): Promise<boolean> {
  return (await session.query(MADE, [operatorId, key])).rowCount === 1;
}

/** In the order of the keys. What is applied or ended meanwhile stays as it is. */
const UNDO = `
  WITH held AS MATERIALIZED (
    SELECT o.application_id, o.proposal_id FROM open_proposals o
    WHERE (o.application_id, o.proposal_id) IN (
      SELECT u.id, u.proposal_id FROM proposal_requests r, unnest(r.ids, r.proposal_ids) AS u(id, proposal_id)
      WHERE r.operator_id = $1 AND r.request_key = $2)
    ORDER BY o.application_id FOR UPDATE
  ), items AS MATERIALIZED (
    SELECT i.application_id FROM review_items i
    WHERE i.application_id IN (SELECT h.application_id FROM held h) AND i.state = 'proposed'
    ORDER BY i.application_id FOR NO KEY UPDATE
  ), waiting AS (
    UPDATE review_items i SET state = 'waiting' FROM items h WHERE i.application_id = h.application_id
  ), gone AS (
    DELETE FROM open_proposals o USING held h
    WHERE o.application_id = h.application_id AND o.proposal_id = h.proposal_id
  ), undone AS (
    UPDATE proposals p SET state = 'undone', ended_at = clock_timestamp(), ended_ms = elapsed_ms() FROM held h
    WHERE p.id = h.proposal_id AND p.maker_id = $1 RETURNING p.id
  )
  SELECT count(*)::integer AS undone FROM undone`;

/** Ends the open proposals of a request, whose applications wait for reviewers again. Returns how many. */
export async function undoRequest(session: Transaction, operatorId: number, key: string): Promise<number> {
  return onlyRow((await session.query<{ undone: number }>(UNDO, [operatorId, key])).rows).undone;
}
