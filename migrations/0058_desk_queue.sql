-- The queue of the review desk (D48, docs/operators.md): an item for each application in review, with what reviewers
-- filter and order by, and who holds it.
--
-- Registrations write review_queue alone, a row a batch. A loop expands these rows into items after the commit
-- (expand_reviews). move_application removes an item in its own transaction.
--
-- The tables are of the coordinator alone. 0007_messages.sql gives the order of locks. A transaction that changes items
-- and moves applications moves them first.

-- Bound: one row an application in review.
CREATE TABLE review_items (
  application_id bigint PRIMARY KEY,
  partner_id integer NOT NULL,
  -- NULL, as the next three: the stored data cannot be read.
  score smallint,
  currency text,
  debt_amount double precision,
  -- The debt in USD by the rates of the policy that decided (D29).
  reference_amount double precision,
  -- Of the registration.
  created_at timestamptz NOT NULL,
  -- 'infinity' while it is pended: the clock is stopped, with time_left on it.
  due_at timestamptz NOT NULL,
  time_left interval,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'proposed', 'pended')),
  -- The operator who holds it; NULL, or a claim that has ended: nobody does (is_claimed).
  claimed_by integer,
  claimed_until timestamptz,
  CHECK ((due_at = 'infinity') = (state = 'pended') AND (time_left IS NULL) = (state <> 'pended'))
);
-- One index an order of the queue; the order of registration has the key.
CREATE INDEX review_items_due ON review_items (due_at, application_id);
CREATE INDEX review_items_score ON review_items ((-coalesce(score, -1)), application_id);
CREATE INDEX review_items_amount ON review_items ((-coalesce(reference_amount, -1)), application_id);
-- For those filters that fit few items, which the orders would have to search through.
CREATE INDEX review_items_partner ON review_items (partner_id, due_at, application_id);
CREATE INDEX review_items_created ON review_items USING brin (created_at)
  WITH (pages_per_range = 16, autosummarize = on);
-- Few items are claimed at a time, and few have such a state.
CREATE INDEX review_items_claimed ON review_items (claimed_by, application_id) WHERE claimed_by IS NOT NULL;
CREATE INDEX review_items_held_up ON review_items (state, due_at, application_id) WHERE state <> 'waiting';

-- What a filter matched at a moment, for a decision on all of it: applications, each with its last event then. Bound:
-- ten rows an operator, and the upkeep deletes those that ended.
CREATE TABLE selections (
  id uuid PRIMARY KEY,
  -- Without a foreign key, which a table of a cluster's coordinator cannot have.
  operator_id integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ends_at timestamptz NOT NULL,
  ids bigint[] NOT NULL,
  -- Of each id the number of its last event; 0: nothing had happened since its registration.
  last_events bigint[] NOT NULL
);
CREATE INDEX selections_operator ON selections (operator_id, created_at);

-- Whether a claim until p_until holds at p_at. A claim that ends further away than a claim may last was written while
-- the clock was ahead, and has ended (D39).
CREATE FUNCTION is_claimed(p_until timestamptz, p_at timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(p_until > p_at AND p_until - p_at <= interval '10 minutes', false);

-- Gives an item back, where the operator has claimed it.
CREATE FUNCTION drop_claim(p_application_id bigint, p_operator_id integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE review_items i SET claimed_by = NULL, claimed_until = NULL
  WHERE i.application_id = p_application_id AND i.claimed_by = p_operator_id;
END
$$;

-- Gives everything back that an operator has claimed, who is gone (0045_operators.sql).
CREATE OR REPLACE FUNCTION leave_desk(p_operator_id integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  WITH held AS MATERIALIZED (
    SELECT i.application_id FROM review_items i WHERE i.claimed_by = p_operator_id
    ORDER BY i.application_id FOR NO KEY UPDATE
  )
  UPDATE review_items i SET claimed_by = NULL, claimed_until = NULL FROM held h WHERE i.application_id = h.application_id;
END
$$;

-- Puts an item into a state. Its time stands still while it is pended, and goes on afterwards from what was left.
CREATE FUNCTION set_item_state(p_application_id bigint, p_state text) RETURNS void
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
CREATE FUNCTION make_review_items(p_ids bigint[], p_due_hours integer) RETURNS void
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
  SELECT jsonb_object_agg(p.id, p.content -> 'amount_limit' -> 'rates') INTO v_rates FROM policies p
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
CREATE FUNCTION expand_reviews(p_after bigint, p_limit integer, p_due_hours integer)
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
CREATE FUNCTION expand_reviews_of(p_ids bigint[], p_due_hours integer) RETURNS void
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
CREATE FUNCTION heal_review_items(p_after bigint, p_limit integer)
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

-- What the runtime role may do (0001_shared.sql).
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'review_items');
SELECT runtime_may('SELECT, INSERT, DELETE', 'selections');
