-- How messages get their record, those after a review too (D40). The head of 0004_messages.sql gives the order of
-- locks.

-- A statement that inserts records keeps the counts and waiting_messages in step itself, because a trigger costs four
-- times as much.
CREATE OR REPLACE FUNCTION note_records() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  -- Where the database is spread over machines, no statement may read these tables and write another one.
  v_statuses message_status[];
  v_changes bigint[];
  v_left_ids bigint[];
  v_left_statuses message_status[];
  v_come_ids bigint[];
  v_come_statuses message_status[];
  v_come_due timestamptz[];
  v_come_partners integer[];
BEGIN
  SELECT array_agg(g.message_id), array_agg(g.status) INTO v_left_ids, v_left_statuses
  FROM gone g WHERE is_waiting(g.status);
  IF TG_OP = 'DELETE' THEN
    SELECT array_agg(s.status), array_agg(s.change) INTO v_statuses, v_changes
    FROM (SELECT g.status, -count(*) AS change FROM gone g GROUP BY g.status) AS s;
  ELSE
    SELECT array_agg(s.status), array_agg(s.change) INTO v_statuses, v_changes FROM (
      SELECT c.status, sum(c.change) AS change FROM (
        SELECT status, 1 AS change FROM came UNION ALL SELECT status, -1 FROM gone
      ) AS c GROUP BY c.status HAVING sum(c.change) <> 0
    ) AS s;
    SELECT array_agg(c.message_id), array_agg(c.status), array_agg(c.due_at), array_agg(c.partner_id)
    INTO v_come_ids, v_come_statuses, v_come_due, v_come_partners FROM came c WHERE is_waiting(c.status);
  END IF;
  IF v_statuses IS NOT NULL THEN
    INSERT INTO message_counts SELECT g.status, g.change FROM unnest(v_statuses, v_changes) AS g(status, change);
  END IF;
  IF v_left_ids IS NOT NULL THEN
    DELETE FROM waiting_messages w USING unnest(v_left_statuses, v_left_ids) AS g(status, id)
    WHERE w.status = g.status AND w.message_id = g.id;
  END IF;
  IF v_come_ids IS NOT NULL THEN
    INSERT INTO waiting_messages (status, message_id, due_at, partner_id)
    SELECT g.status, g.id, g.due_at, g.partner_id
    FROM unnest(v_come_statuses, v_come_ids, v_come_due, v_come_partners) AS g(status, id, due_at, partner_id);
  END IF;
  RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER records_gone AFTER DELETE ON message_records REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION note_records();
CREATE OR REPLACE TRIGGER records_changed AFTER UPDATE ON message_records REFERENCING OLD TABLE AS gone NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION note_records();

-- Makes the records of messages whose status was p_from and that had none. Leaves alone a message that has a record
-- by now.
CREATE OR REPLACE FUNCTION make_records(
  p_from message_status, p_attempts smallint, p_at timestamptz,
  p_ids bigint[], p_types message_type[], p_partners integer[], p_statuses message_status[], p_due_at timestamptz[],
  p_reasons text[]
) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_made integer;
BEGIN
  WITH made AS (
    INSERT INTO message_records (message_id, changed_at, due_at, type, status, attempts, tries, partner_id, reason)
    SELECT g.id, p_at, g.due_at, g.type, g.status, p_attempts, p_attempts, g.partner_id, g.reason
    FROM unnest(p_ids, p_types, p_partners, p_statuses, p_due_at, p_reasons)
      AS g(id, type, partner_id, status, due_at, reason)
    ORDER BY g.id
    ON CONFLICT DO NOTHING
    RETURNING message_id, status, due_at, partner_id
  ), awaited AS (
    INSERT INTO waiting_messages (status, message_id, due_at, partner_id)
    SELECT status, message_id, due_at, partner_id FROM made WHERE is_waiting(status)
  ), counted AS (
    INSERT INTO message_counts
    SELECT s.status, sum(s.change) FROM (
      SELECT status, 1 AS change FROM made UNION ALL SELECT p_from, -1 FROM made
    ) AS s GROUP BY s.status HAVING sum(s.change) <> 0
  )
  SELECT count(*) INTO v_made FROM made;
  RETURN v_made;
END
$$;

-- Takes those of the messages out of the outbox that are there. Locks only batches that hold one of them, so that a
-- worker whose messages have records waits for no batch. Its plan may be made while the outbox is small and must also
-- work for a large one.
CREATE OR REPLACE FUNCTION take_from_outbox(p_ids bigint[]) RETURNS TABLE (id bigint, type message_type, partner_id integer)
LANGUAGE plpgsql ROWS 100
SET jit = off
SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY WITH asked AS (
    SELECT u.id, batch_of(u.id) AS batch_id FROM unnest(p_ids) AS u(id)
  ), held AS MATERIALIZED (
    SELECT o.batch_id, o.partner_id, o.positions, o.types FROM outbox o
    WHERE o.batch_id = ANY (ARRAY(SELECT DISTINCT a.batch_id FROM asked a))
      AND o.positions && ARRAY(SELECT position_of(a.id)::smallint FROM asked a WHERE a.batch_id = o.batch_id)
    ORDER BY o.batch_id FOR UPDATE
  ), split AS MATERIALIZED (
    SELECT h.batch_id, h.partner_id, application_id_at(h.batch_id, u.position) AS id, u.position, u.letter, u.n,
      a.id IS NOT NULL AS goes
    FROM held h CROSS JOIN LATERAL unnest(h.positions, string_to_array(h.types, NULL)) WITH ORDINALITY AS u(position, letter, n)
    LEFT JOIN asked a ON a.id = application_id_at(h.batch_id, u.position)
  ), left_over AS MATERIALIZED (
    SELECT s.batch_id, array_agg(s.position ORDER BY s.n) FILTER (WHERE NOT s.goes) AS positions,
      string_agg(s.letter, '' ORDER BY s.n) FILTER (WHERE NOT s.goes) AS types
    FROM split s GROUP BY s.batch_id HAVING bool_or(s.goes)
  ), emptied AS (
    DELETE FROM outbox o USING left_over l WHERE o.batch_id = l.batch_id AND l.positions IS NULL
  ), kept AS (
    UPDATE outbox o SET positions = l.positions, types = l.types FROM left_over l
    WHERE o.batch_id = ANY (ARRAY(SELECT k.batch_id FROM left_over k WHERE k.positions IS NOT NULL))
      AND o.batch_id = l.batch_id
  )
  SELECT s.id, message_type_of(s.letter), s.partner_id FROM split s WHERE s.goes;
END
$$;

-- Makes the records of the messages that have none, with their status: queued or sending.
CREATE OR REPLACE FUNCTION make_messages(p_ids bigint[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_there constant bigint[] := ARRAY(
    SELECT m.message_id FROM message_records m WHERE m.message_id = ANY (nullif(p_ids, '{}')));
  v_bare constant bigint[] := ARRAY(SELECT u.id FROM unnest(p_ids) AS u(id) WHERE u.id <> ALL (v_there));
  v_now constant timestamptz := clock_timestamp();
  v_sending bigint[];
  v_types message_type[];
  v_begun_at timestamptz;
  v_lost_at timestamptz[];
BEGIN
  IF v_bare = '{}' THEN RETURN; END IF;
  PERFORM make_records('queued', 0::smallint, v_now, array_agg(t.id), array_agg(t.type), array_agg(t.partner_id),
    array_agg('queued'::message_status), array_agg(v_now), array_agg(NULL::text))
  FROM take_from_outbox(v_bare) AS t HAVING count(*) > 0;
  -- A message that another session took out of the outbox meanwhile has a lease by now.
  SELECT array_agg(m.message_id), array_agg(m.type), min(m.changed_at), array_agg(m.due_at)
  INTO v_sending, v_types, v_begun_at, v_lost_at
  FROM begun_messages m WHERE m.message_id = ANY (v_bare);
  IF v_sending IS NOT NULL THEN
    PERFORM make_records('sending', 1::smallint, v_begun_at, v_sending, v_types, partners_of(v_sending),
      array_fill('sending'::message_status, ARRAY[cardinality(v_sending)]), v_lost_at,
      array_fill(NULL::text, ARRAY[cardinality(v_sending)]));
  END IF;
END
$$;

-- Notes in waiting_rejections which of these messages are `rejected` ones that wait. The caller has locked their
-- records or made them. A row that is there is locked, so that the upkeep does not delete it at this moment
-- (forget_rejections).
CREATE OR REPLACE FUNCTION note_waiting_rejections(p_ids bigint[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_ids constant bigint[] := ARRAY(
    SELECT m.message_id FROM message_records m
    WHERE m.message_id = ANY (nullif(p_ids, '{}')) AND m.type = 'rejected' AND m.status = 'queued');
  -- Read before the change: on a cluster a statement about a table of the coordinator may not ask other machines.
  v_partners integer[];
  v_phone_ids bigint[];
  v_phones bigint[];
BEGIN
  IF v_ids = '{}' THEN RETURN; END IF;
  v_partners := partners_of(v_ids);
  SELECT array_agg(a.id), array_agg(a.phone_index) INTO v_phone_ids, v_phones
  FROM phones_of(v_ids) AS a WHERE a.phone_index IS NOT NULL;
  INSERT INTO waiting_rejections AS w (phone_index, partner_id, message_id)
  SELECT a.phone_index, g.partner_id, g.id
  FROM unnest(v_ids, v_partners) AS g(id, partner_id)
  JOIN unnest(v_phone_ids, v_phones) AS a(id, phone_index) ON a.id = g.id
  ORDER BY a.phone_index, g.partner_id, g.id
  ON CONFLICT (phone_index, partner_id, message_id) DO UPDATE SET message_id = w.message_id;
END
$$;

-- Queues the messages that fit these statuses of reviewed applications (D40), where there are none yet. No type of
-- message fits a disbursed application.
CREATE OR REPLACE FUNCTION queue_fitting_messages(p_application_ids bigint[], p_statuses application_status[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  -- Read before the change: on a cluster a statement about a table of the coordinator may not ask other machines.
  v_partners constant integer[] := partners_of(p_application_ids);
BEGIN
  WITH made AS (
    INSERT INTO message_records (message_id, changed_at, due_at, type, status, attempts, tries, partner_id)
    SELECT DISTINCT message_after_review(g.id, g.status), v_now, v_now, message_type_for(g.status),
      'queued'::message_status, 0::smallint, 0::smallint, g.partner_id
    FROM unnest(p_application_ids, p_statuses, v_partners) AS g(id, status, partner_id)
    WHERE message_after_review(g.id, g.status) IS NOT NULL
    ORDER BY 1
    ON CONFLICT DO NOTHING
    RETURNING message_id, status, due_at, partner_id
  ), awaited AS (
    INSERT INTO waiting_messages (status, message_id, due_at, partner_id)
    SELECT status, message_id, due_at, partner_id FROM made
  )
  INSERT INTO message_counts SELECT 'queued', count(*) FROM made HAVING count(*) > 0;
  PERFORM note_waiting_rejections(array_agg(message_after_review(g.id, g.status)))
  FROM unnest(p_application_ids, p_statuses) AS g(id, status) WHERE g.status = 'rejected' HAVING count(*) > 0;
END
$$;

-- Those of these applications whose approval a chat tells, so that no message does. None by itself:
-- conversation/reviews.sql replaces the function.
CREATE OR REPLACE FUNCTION told_in_chat(p_application_ids bigint[]) RETURNS bigint[]
LANGUAGE plpgsql AS $$
BEGIN
  RETURN '{}';
END
$$;

-- Queues the message after a review that led to p_status (D40), in the transaction of the review, which has locked the
-- application. The applicant has consented and has a phone. A message that has not gone out is replaced. If one may
-- have gone out, the new one follows, unless the brand of the application's key says otherwise. Neither comes where the
-- chat tells of an approval.
CREATE OR REPLACE FUNCTION queue_message_after_review(
  p_application_id bigint, p_status application_status, p_api_key_id integer
) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  -- A constant, because on a cluster an UPDATE calls no such function.
  v_now constant timestamptz := clock_timestamp();
  -- The messages that there may be: of the registration and of an approval before a rejection.
  v_ids constant bigint[] := ARRAY[p_application_id, message_after_review(p_application_id, 'pending_signature')];
  v_follows boolean;
  v_queued bigint[];
  v_has_gone_out boolean;
BEGIN
  SELECT k.brand ->> 'after_review' IS DISTINCT FROM 'false' INTO v_follows FROM api_keys k WHERE k.id = p_api_key_id;

  PERFORM make_messages(v_ids);
  SELECT array_agg(h.message_id) FILTER (WHERE h.status = 'queued'),
    coalesce(bool_or(h.status NOT IN ('queued', 'failed', 'cancelled')), false)
  INTO v_queued, v_has_gone_out FROM (
    SELECT m.message_id, m.status FROM message_records m WHERE m.message_id = ANY (v_ids)
    ORDER BY m.message_id FOR NO KEY UPDATE) AS h;
  IF v_queued IS NOT NULL THEN
    UPDATE message_records SET status = 'cancelled', reason = 'replaced', due_at = NULL, changed_at = v_now
    WHERE message_id = ANY (v_queued);
  END IF;
  IF v_has_gone_out AND NOT v_follows THEN RETURN; END IF;
  IF p_status = 'pending_signature' AND told_in_chat(ARRAY[p_application_id]) <> '{}' THEN RETURN; END IF;
  PERFORM queue_fitting_messages(ARRAY[p_application_id], ARRAY[p_status]);
END
$$;

-- Cancels the messages after an approval that wait, because the chat tells it in the same transaction. Where one has
-- left meanwhile, the chat must not: then the function raises VN001, and the caller begins anew.
CREATE OR REPLACE FUNCTION cancel_approvals(p_application_ids bigint[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  -- A constant, because on a cluster an UPDATE calls no such function.
  v_now constant timestamptz := clock_timestamp();
  v_ids constant bigint[] := ARRAY(
    SELECT message_after_review(a.id, 'pending_signature') FROM unnest(p_application_ids) AS a(id));
  v_queued bigint[];
  v_left bigint;
BEGIN
  -- An empty list names no partitions, and PostgreSQL then takes all of them.
  IF v_ids = '{}' THEN RETURN; END IF;
  SELECT array_agg(h.message_id) FILTER (WHERE h.status = 'queued'),
    min(h.message_id) FILTER (WHERE h.status NOT IN ('queued', 'failed', 'cancelled'))
  INTO v_queued, v_left FROM (
    SELECT m.message_id, m.status FROM message_records m WHERE m.message_id = ANY (v_ids)
    ORDER BY m.message_id FOR NO KEY UPDATE) AS h;
  IF v_left IS NOT NULL THEN
    RAISE EXCEPTION 'message % has left', v_left USING ERRCODE = 'VN001';
  END IF;
  IF v_queued IS NULL THEN RETURN; END IF;
  UPDATE message_records SET status = 'cancelled', reason = 'replaced', due_at = NULL, changed_at = v_now
  WHERE message_id = ANY (v_queued);
END
$$;

-- Queues the messages of registered applications. By batch: its number, its partner, how many of its applications are
-- registered, and where its elements begin in the other arrays; p_tried: the last element that was tried. An element
-- without a registered application has no id_number.
CREATE OR REPLACE FUNCTION queue_first_messages(
  p_at timestamptz, p_number bigint[], p_partner integer[], p_registered integer[], p_first integer[], p_tried integer,
  a_batch smallint[], a_phone bigint[], a_id_number bigint[], a_message message_type[]
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  WITH told AS (
    INSERT INTO outbox (batch_id, partner_id, created_at, positions, types)
    SELECT p_number[a_batch[i]], p_partner[a_batch[i]], p_at, array_agg(i - p_first[a_batch[i]] ORDER BY i),
      string_agg(left(a_message[i]::text, 1), '' ORDER BY i)
    FROM generate_series(1, p_tried) AS i
    WHERE a_message[i] IS NOT NULL AND a_id_number[i] IS NOT NULL AND p_registered[a_batch[i]] > 0
    GROUP BY a_batch[i]
    RETURNING cardinality(positions) AS messages
  )
  INSERT INTO message_counts SELECT 'queued', sum(messages) FROM told HAVING count(*) > 0;
  INSERT INTO waiting_rejections (phone_index, message_id, partner_id)
  SELECT a_phone[i], application_id_at(p_number[a_batch[i]], i - p_first[a_batch[i]]), p_partner[a_batch[i]]
  FROM unnest(array_positions(a_message, 'rejected')) AS i
  WHERE i <= p_tried AND a_id_number[i] IS NOT NULL AND p_registered[a_batch[i]] > 0;
END
$$;
