-- Applications that wait for something. The head of migrations/0012_desk.sql gives the order of locks.

-- Ends the pend of an application, whose row of open_pends the caller has locked. Its item waits for reviewers again,
-- with the time that was left. p_resumed_by is the operator who resumes it, or NULL.
CREATE OR REPLACE FUNCTION end_pend(p_application_id bigint, p_ending text, p_resumed_by integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  -- Read before the change: on a cluster an UPDATE calls no such function.
  v_now constant timestamptz := clock_timestamp();
  v_pend_id bigint;
BEGIN
  DELETE FROM open_pends o WHERE o.application_id = p_application_id RETURNING o.pend_id INTO v_pend_id;
  IF p_ending <> 'decided' THEN PERFORM set_item_state(p_application_id, 'waiting'); END IF;
  UPDATE pends p SET ended_at = v_now, ending = p_ending, resumed_by = p_resumed_by WHERE p.id = v_pend_id;
END
$$;

-- Pends an application whose item the caller has claimed, and whose row of open_pends, if it has one, the caller has
-- locked. The claim is given back. Returns 'begun', or why not: the item is 'proposed' or 'pended', or the application
-- has had p_most pends ('too_many').
CREATE OR REPLACE FUNCTION begin_pend(
  p_id bigint, p_application_id bigint, p_operator_id integer, p_missing text[], p_hours integer, p_message text,
  p_most integer, p_request_key text
) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  v_state constant text := (SELECT i.state FROM review_items i WHERE i.application_id = p_application_id);
  v_ends_at constant timestamptz := v_now + p_hours * interval '1 hour';
BEGIN
  IF v_state <> 'waiting' THEN RETURN v_state; END IF;
  IF (SELECT count(*) FROM pends p WHERE p.application_id = p_application_id) >= p_most THEN RETURN 'too_many'; END IF;
  -- An item that was lost and made again is not pended any more.
  IF EXISTS (SELECT FROM open_pends o WHERE o.application_id = p_application_id) THEN
    PERFORM end_pend(p_application_id, 'resumed', NULL);
  END IF;
  INSERT INTO open_pends (application_id, pend_id, at, ends_at, after_input)
  SELECT p_application_id, p_id, v_now, v_ends_at, coalesce(max(n.id), 0) FROM conversations c CROSS JOIN LATERAL (
    SELECT i.id FROM conversation_inputs i WHERE i.conversation_id = c.id ORDER BY i.id DESC LIMIT 1) AS n
  WHERE c.application_id = p_application_id;
  PERFORM set_item_state(p_application_id, 'pended');
  PERFORM drop_claim(p_application_id, p_operator_id);
  INSERT INTO pends (id, application_id, operator_id, missing, at, ends_at, message, request_key)
  VALUES (p_id, p_application_id, p_operator_id, p_missing, v_now, v_ends_at, p_message, p_request_key);
  RETURN 'begun';
END
$$;

-- Begins the pends again that began while the clock was ahead (D39).
CREATE OR REPLACE FUNCTION mend_pends(p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_ids bigint[];
  v_pends bigint[];
  v_ends timestamptz[];
BEGIN
  -- Computed before the change: on a cluster an UPDATE computes no times.
  SELECT array_agg(h.application_id), array_agg(h.pend_id), array_agg(p_now + (h.ends_at - h.at))
  INTO v_ids, v_pends, v_ends
  FROM (SELECT o.* FROM open_pends o WHERE o.at > p_now ORDER BY o.application_id FOR UPDATE SKIP LOCKED) AS h;
  UPDATE pends p SET at = p_now, ends_at = u.ends_at FROM unnest(v_pends, v_ends) AS u(id, ends_at) WHERE p.id = u.id;
  UPDATE open_pends o SET at = p_now, ends_at = u.ends_at
  FROM unnest(v_ids, v_ends) AS u(id, ends_at) WHERE o.application_id = u.id;
END
$$;

-- Ends at most p_limit pends: of applications that left the review, whose hours are over, or whose applicant has
-- answered. Sessions at once take different ones. Returns how many it ended.
CREATE OR REPLACE FUNCTION end_due_pends(p_limit integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  v_due record;
  v_ended integer := 0;
BEGIN
  IF EXISTS (SELECT FROM open_pends o WHERE o.at > v_now + interval '1 second') THEN PERFORM mend_pends(v_now); END IF;
  FOR v_due IN
    SELECT o.application_id AS id, CASE WHEN i.application_id IS NULL THEN 'decided' WHEN i.state <> 'pended' THEN 'resumed'
      WHEN n.has_come THEN 'answered' ELSE 'over' END AS ending
    FROM open_pends o LEFT JOIN review_items i ON i.application_id = o.application_id
    LEFT JOIN LATERAL (
      SELECT true AS has_come FROM conversations c JOIN conversation_inputs h ON h.conversation_id = c.id
      WHERE c.application_id = o.application_id AND h.source = 'person' AND h.id > o.after_input LIMIT 1) AS n ON true
    WHERE i.state IS DISTINCT FROM 'pended' OR o.ends_at <= v_now OR n.has_come
    ORDER BY o.application_id LIMIT p_limit FOR UPDATE OF o SKIP LOCKED
  LOOP
    PERFORM end_pend(v_due.id, v_due.ending, NULL);
    v_ended := v_ended + 1;
  END LOOP;
  RETURN v_ended;
END
$$;

-- Takes the pends of these applications away, or (p_gone false) ends the open ones: their persons are erased.
CREATE OR REPLACE FUNCTION erase_pends(p_ids bigint[], p_gone boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_id bigint;
BEGIN
  FOR v_id IN SELECT o.application_id FROM open_pends o WHERE o.application_id = ANY (p_ids)
    ORDER BY o.application_id FOR UPDATE
  LOOP
    PERFORM end_pend(v_id, 'decided', NULL);
  END LOOP;
  IF p_gone THEN DELETE FROM pends p WHERE p.application_id = ANY (p_ids); END IF;
END
$$;
