/**
 * Takes back the proposals of a decision on many (docs/operators.md, "Proposals"). Writes `proposals`, `open_proposals`
 * and `review_items`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';

/** Locks in the order of the keys. Proposals that were applied or ended meanwhile are left out. */
const HOLD = `
  SELECT o.application_id AS id, o.proposal_id AS "proposalId" FROM open_proposals o
  WHERE (o.application_id, o.proposal_id) IN (
    SELECT u.id, u.proposal_id FROM desk_requests r, unnest(r.ids, r.proposal_ids) AS u(id, proposal_id)
    WHERE r.operator_id = $1 AND r.request_key = $2)
  ORDER BY o.application_id FOR UPDATE`;
/** A statement of its own, because Citus passes no locked rows on to several updates. */
const UNDO = `
  WITH items AS MATERIALIZED (
    SELECT i.application_id FROM review_items i
    WHERE i.application_id = ANY ($2::bigint[]) AND i.state = 'proposed'
    ORDER BY i.application_id FOR NO KEY UPDATE
  ), waiting AS (
    UPDATE review_items i SET state = 'waiting' FROM items h WHERE i.application_id = h.application_id
  ), gone AS (
    DELETE FROM open_proposals o WHERE o.application_id = ANY ($2::bigint[])
  )
  UPDATE proposals p SET state = 'undone', ended_at = t.now, ended_ms = t.ms, mac = '', second_mac = ''
  FROM (SELECT clock_timestamp() AS now, elapsed_ms() AS ms) AS t
  WHERE p.id = ANY ($3::bigint[]) AND p.maker_id = $1`;
/** In the order of the request, with those that an earlier try took back. */
const UNDONE = `
  SELECT p.application_id::float8 AS id FROM desk_requests r,
    unnest(r.proposal_ids) WITH ORDINALITY AS u(proposal_id, place)
  JOIN proposals p ON p.id = u.proposal_id
  WHERE r.operator_id = $1 AND r.request_key = $2 AND p.state = 'undone'
  ORDER BY u.place`;

/**
 * Ends the open proposals of a request, so that their applications wait for reviewers again. Returns the applications
 * whose proposals of this request are undone by now.
 */
export async function undoRequest(
  session: Transaction,
  operatorId: number,
  key: string,
): Promise<ApplicationId[]> {
  const { rows } = await session.query<{ id: string; proposalId: string }>(HOLD, [operatorId, key]);
  await session.query(UNDO, [operatorId, rows.map(({ id }) => id), rows.map(({ proposalId }) => proposalId)]);
  const undone = await session.query<{ id: ApplicationId }>(UNDONE, [operatorId, key]);
  return undone.rows.map(({ id }) => id);
}
