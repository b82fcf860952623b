-- The queue of the review desk (D48, docs/operators.md). The head of migrations/0012_desk.sql gives the order of locks.

-- Gives everything back that an operator has claimed, who is gone (operators/accounts.sql).
CREATE OR REPLACE FUNCTION leave_desk(p_operator_id integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  WITH held AS MATERIALIZED (
    SELECT i.application_id FROM review_items i WHERE i.claimed_by = p_operator_id
    ORDER BY i.application_id FOR NO KEY UPDATE
  )
  UPDATE review_items i SET claimed_by = NULL, claimed_until = NULL FROM held h WHERE i.application_id = h.application_id;
  WITH held AS MATERIALIZED (
    SELECT k.application_id FROM inbox_claims k WHERE k.operator_id = p_operator_id
    ORDER BY k.application_id FOR NO KEY UPDATE
  )
  UPDATE inbox_claims k SET claimed_until = 'epoch', claimed_for = '{}' FROM held h
  WHERE k.application_id = h.application_id;
END
$$;

-- Puts an item into a state. Its time stands still while it is pended, and goes on afterwards from what was left.
CREATE OR REPLACE FUNCTION set_item_state(p_application_id bigint, p_state text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_item review_items;
  v_now timestamptz;
BEGIN
  SELECT i.* INTO v_item FROM review_items i
  WHERE i.application_id = p_application_id AND i.state <> p_state FOR NO KEY UPDATE;
  v_now := clock_timestamp();
  -- Citus refuses sums of times in an UPDATE.
  IF p_state = 'pended' THEN
    v_item.time_left := coalesce(v_item.time_left, v_item.due_at - v_now);
    v_item.due_at := 'infinity';
  ELSIF v_item.state = 'pended' THEN
    v_item.due_at := v_now + v_item.time_left;
    v_item.time_left := NULL;
  END IF;
  UPDATE review_items i SET state = p_state, due_at = v_item.due_at, time_left = v_item.time_left
  WHERE i.application_id = v_item.application_id;
END
$$;

-- Removes the item of an application that leaves the review; move_application calls it.
CREATE OR REPLACE FUNCTION leave_review_queue(p_id bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM review_items i WHERE i.application_id = p_id;
END
$$;

-- Makes the items of these applications, whose batches the caller has taken; an item is due so many hours after its
-- registration.
CREATE OR REPLACE FUNCTION make_review_items(p_ids bigint[], p_due_hours integer) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_batches constant bigint[] := ARRAY(SELECT DISTINCT batch_of(u.id) FROM unnest(p_ids) AS u(id) ORDER BY 1);
  v_read record;
  v_rates jsonb;
BEGIN
  -- Read by statements of their own: docs/scale.md says why. application_at has the places of the facts. It would read
  -- the long values of a batch again for each of its applications.
  WITH b AS MATERIALIZED (
    SELECT t.id, t.partner_id, t.policy_id, t.created_at, t.facts || '' AS facts FROM batches t
    WHERE t.id = ANY (v_batches))
  SELECT array_agg(g.id) AS ids, array_agg(b.partner_id) AS partner_ids, array_agg(b.policy_id) AS policy_ids,
    array_agg(get_byte(f.bytes, 0)) AS scores, array_agg(encode(substring(f.bytes FROM 9 FOR 3), 'escape')) AS currencies,
    array_agg(double_at(f.bytes, 20)) AS debt_amounts, array_agg(b.created_at) AS created_ats
  INTO v_read FROM unnest(p_ids) AS g(id) JOIN b ON b.id = batch_of(g.id)
  CROSS JOIN LATERAL (SELECT CASE WHEN octet_length(b.facts) >= 28 * (position_of(g.id) + 1)
    THEN substring(b.facts FROM 28 * position_of(g.id) + 1 FOR 28) END AS bytes OFFSET 0) AS f;
  -- The first form of policies has the rates at its limit.
  SELECT jsonb_object_agg(p.id, coalesce(p.content #> '{amount_limit,rates}', p.content -> 'rates')) INTO v_rates FROM policies p
  WHERE p.id = ANY (v_read.policy_ids);
  INSERT INTO review_items (application_id, partner_id, score, currency, debt_amount, reference_amount, created_at, due_at)
  SELECT u.id, u.partner_id, u.score, u.currency, u.debt_amount,
    u.debt_amount / (v_rates -> u.policy_id::text ->> u.currency)::double precision, u.created_at,
    u.created_at + p_due_hours * interval '1 hour'
  FROM unnest(v_read.ids, v_read.partner_ids, v_read.policy_ids, v_read.scores, v_read.currencies, v_read.debt_amounts,
    v_read.created_ats) AS u(id, partner_id, policy_id, score, currency, debt_amount, created_at)
  ORDER BY u.id ON CONFLICT (application_id) DO NOTHING;
  PERFORM put_expanded(v_batches, true);
END
$$;

-- Makes the items of at most p_limit batches after p_after that have none yet. Several sessions at once take different
-- batches. Returns how many batches it took and the last of them.
CREATE OR REPLACE FUNCTION expand_reviews(p_after bigint, p_limit integer, p_due_hours integer)
RETURNS TABLE (batches integer, last bigint)
LANGUAGE plpgsql
AS $$
DECLARE
  v_ids constant bigint[] := ARRAY(SELECT t.id FROM take_unexpanded(p_after, p_limit) AS t(id));
BEGIN
  IF v_ids <> '{}' THEN PERFORM make_review_items(v_ids, p_due_hours); END IF;
  RETURN QUERY SELECT count(DISTINCT batch_of(u.id))::integer, max(batch_of(u.id)) FROM unnest(v_ids) AS u(id);
END
$$;

-- Makes the items of these applications, where they are in review and their batches are not expanded yet: who acts on
-- one does not wait for the loop. Comes before the transaction of the act.
CREATE OR REPLACE FUNCTION expand_reviews_of(p_ids bigint[], p_due_hours integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_batches constant bigint[] := ARRAY(
    SELECT DISTINCT batch_of(u.id) FROM unnest(p_ids) AS u(id)
    WHERE NOT EXISTS (SELECT FROM review_items i WHERE i.application_id = u.id) ORDER BY 1);
  v_ids bigint[];
BEGIN
  IF v_batches = '{}' THEN RETURN; END IF;
  v_ids := ARRAY(SELECT t.id FROM take_unexpanded_of(v_batches) AS t(id));
  IF v_ids <> '{}' THEN PERFORM make_review_items(v_ids, p_due_hours); END IF;
END
$$;

-- Looks at the next p_limit batches in review after p_after. Removes items whose application is not in review, lets
-- batches that lack an item be expanded again, and ends claims whose time is over. Returns the last batch that it
-- looked at, NULL at the end of a round, and how many items it removed and how many batches lacked one. On a store that
-- nobody has damaged both are 0.
CREATE OR REPLACE FUNCTION heal_review_items(p_after bigint, p_limit integer)
RETURNS TABLE (last bigint, removed integer, lacking integer)
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
DECLARE
  v_now constant timestamptz := clock_timestamp();
  v_ids bigint[];
  v_batches bigint[];
BEGIN
  last := (SELECT q.batch_id FROM review_queue q WHERE q.batch_id > p_after ORDER BY q.batch_id OFFSET p_limit - 1 LIMIT 1);
  v_ids := ARRAY(
    SELECT i.application_id FROM review_items i
    LEFT JOIN review_queue q ON q.batch_id = batch_of(i.application_id)
      AND q.batch_id > p_after AND (last IS NULL OR q.batch_id <= last)
    WHERE i.application_id >= application_id_at(p_after + 1, 0)
      AND (last IS NULL OR i.application_id < application_id_at(last + 1, 0))
      AND coalesce(position_of(i.application_id) <> ALL (q.positions), true));
  v_batches := ARRAY(
    SELECT q.batch_id FROM review_queue q
    WHERE q.batch_id > p_after AND (last IS NULL OR q.batch_id <= last) AND q.is_expanded AND EXISTS (
      SELECT FROM unnest(q.positions) AS p(position) WHERE NOT EXISTS (
        SELECT FROM review_items i WHERE i.application_id = application_id_at(q.batch_id, p.position))));
  PERFORM put_expanded(v_batches, false);
  DELETE FROM review_items i WHERE i.application_id IN (
    SELECT h.application_id FROM review_items h WHERE h.application_id = ANY (v_ids)
    ORDER BY h.application_id FOR UPDATE SKIP LOCKED);
  UPDATE review_items i SET claimed_by = NULL, claimed_until = NULL WHERE i.application_id IN (
    SELECT h.application_id FROM review_items h WHERE h.claimed_by IS NOT NULL AND NOT is_claimed(h.claimed_until, v_now)
    ORDER BY h.application_id LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED);
  removed := cardinality(v_ids);
  lacking := cardinality(v_batches);
  RETURN NEXT;
END
$$;
