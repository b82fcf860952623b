-- How messages get their record, what is kept in step with records, and how many messages have each status. The head
-- of 0005_delivery.sql gives the order of locks.

-- The number of messages of each status, without a count, which takes seconds among millions. The rows of a status
-- add up to its number. Every statement that moves messages adds its changes, in its own transaction, so that the sum
-- is exact in every snapshot, and no session waits for a row of another one. Bound: the upkeep folds the rows of a
-- status.
CREATE TABLE message_counts (
  status message_status NOT NULL,
  count bigint NOT NULL
);

-- A statement that inserts records keeps the counts and waiting_messages in step itself, because a trigger costs four
-- times as much.
CREATE FUNCTION note_records() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER records_gone AFTER DELETE ON message_records REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION note_records();
CREATE TRIGGER records_changed AFTER UPDATE ON message_records REFERENCING OLD TABLE AS gone NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION note_records();

-- Makes the records of messages whose status was p_from and that had none. Leaves alone a message that has a record
-- by now.
CREATE FUNCTION make_records(
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
CREATE FUNCTION take_from_outbox(p_ids bigint[]) RETURNS TABLE (id bigint, type message_type, partner_id integer)
LANGUAGE plpgsql ROWS 100
SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY WITH asked AS (
    SELECT u.id, u.id >> 7 AS batch_id FROM unnest(p_ids) AS u(id)
  ), held AS MATERIALIZED (
    SELECT o.batch_id, o.partner_id, o.positions, o.types FROM outbox o
    WHERE o.batch_id = ANY (ARRAY(SELECT DISTINCT a.batch_id FROM asked a))
      AND o.positions && ARRAY(SELECT (a.id & 127)::smallint FROM asked a WHERE a.batch_id = o.batch_id)
    ORDER BY o.batch_id FOR UPDATE
  ), split AS MATERIALIZED (
    SELECT h.batch_id, h.partner_id, h.batch_id * 128 + u.position AS id, u.position, u.letter, u.n, a.id IS NOT NULL AS goes
    FROM held h CROSS JOIN LATERAL unnest(h.positions, string_to_array(h.types, NULL)) WITH ORDINALITY AS u(position, letter, n)
    LEFT JOIN asked a ON a.id = h.batch_id * 128 + u.position
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
CREATE FUNCTION make_messages(p_ids bigint[]) RETURNS void
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

-- Records the results of sends, each with the blind index of the channel's id if there is one, and when the message
-- is due again, or may be settled, in milliseconds from now. A status event may have come first and knows better, so
-- only open messages are written; partners hear of those that failed. The answer is also the moment from which the next
-- message to the phone keeps its distance.
--
-- Raises unique_violation if another session makes one of the records at this moment: call again.
CREATE FUNCTION record_send_results(
  p_ids bigint[], p_types message_type[], p_partners integer[], p_attempts smallint[], p_statuses message_status[],
  p_channel_ids bigint[], p_reasons text[], p_after_ms float8[]
) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
-- Rows are changed, and so locked, in the order of the subquery; a lock before it would cost as much again.
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
  v_now constant timestamptz := now();
  v_due_at constant timestamptz[] := ARRAY(
    SELECT v_now + g.ms * interval '1 millisecond' FROM unnest(p_after_ms) WITH ORDINALITY AS g(ms, n) ORDER BY g.n);
  -- The messages that have a record already.
  v_there bigint[];
  -- Read before the change: on a cluster a statement about a table of the coordinator may not ask other machines.
  v_open_ids bigint[];
  v_open_phones bigint[];
  v_failed_ids bigint[];
  v_failed_types message_type[];
BEGIN
  EXECUTE 'SELECT ARRAY(SELECT m.message_id FROM message_records m WHERE m.message_id = ANY ($1))' INTO v_there
  USING p_ids;

  WITH made AS (
    INSERT INTO message_records (message_id, changed_at, due_at, channel_message_id, type, status, attempts, tries,
      partner_id, reason)
    SELECT g.id, v_now, CASE WHEN is_waiting(g.status) THEN g.due_at END,
      g.channel_message_id, g.type, g.status, g.attempt, g.attempt, g.partner_id, g.reason
    FROM unnest(p_ids, p_types, p_partners, p_attempts, p_statuses, p_channel_ids, p_reasons, v_due_at)
      AS g(id, type, partner_id, attempt, status, channel_message_id, reason, due_at)
    WHERE g.id <> ALL (v_there)
    ORDER BY g.id
    RETURNING message_id, status, due_at, partner_id
  ), awaited AS (
    INSERT INTO waiting_messages (status, message_id, due_at, partner_id)
    SELECT status, message_id, due_at, partner_id FROM made WHERE is_waiting(status)
  )
  INSERT INTO message_counts
  SELECT status, count(*) FROM made GROUP BY status
  UNION ALL SELECT 'sending', -count(*) FROM made HAVING count(*) > 0;

  IF v_there <> '{}' THEN
    EXECUTE $sql$
      WITH changed AS (
        UPDATE message_records m SET status = r.status,
          channel_message_id = coalesce(r.channel_message_id, m.channel_message_id),
          reason = r.reason, due_at = r.due_at, changed_at = $7
        FROM (
          SELECT * FROM unnest($1, $2, $3, $4, $5, $6) AS g(id, attempt, status, channel_message_id, reason, due_at)
          WHERE g.id = ANY ($8)
          ORDER BY g.id
        ) AS r
        WHERE m.message_id = r.id AND m.message_id = ANY ($8) AND m.attempts = r.attempt
          AND m.status IN ('sending', 'uncertain')
        RETURNING m.message_id, m.type, m.status
      )
      SELECT array_agg(c.message_id), array_agg(c.type) FROM changed c WHERE c.status = 'failed' $sql$
    INTO v_failed_ids, v_failed_types
    USING p_ids, p_attempts, p_statuses, p_channel_ids, p_reasons, v_due_at, v_now, v_there;
  END IF;

  -- If the message may go out again, its record changes before that, and no longer tells when the answer came.
  IF 'accepted' <> ANY (p_statuses) THEN
    v_open_ids := ARRAY(SELECT g.id FROM unnest(p_ids, p_statuses) AS g(id, status) WHERE g.status <> 'accepted');
    SELECT array_agg(a.id), array_agg(a.phone_index) INTO v_open_ids, v_open_phones FROM phones_of(v_open_ids) AS a;
    UPDATE recipients p SET answered_at = now()
    FROM (
      SELECT a.phone_index, a.id FROM unnest(v_open_ids, v_open_phones) AS a(id, phone_index) ORDER BY a.phone_index
    ) AS r
    WHERE p.phone_index = r.phone_index AND p.message_id = r.id;
  END IF;
  IF 'failed' = ANY (p_statuses) THEN
    SELECT v_failed_ids || array_agg(g.id), v_failed_types || array_agg(g.type) INTO v_failed_ids, v_failed_types
    FROM unnest(p_ids, p_types, p_statuses) AS g(id, type, status) WHERE g.status = 'failed' AND g.id <> ALL (v_there);
    IF v_failed_ids IS NOT NULL THEN PERFORM tell_failed_messages(v_failed_ids, v_failed_types); END IF;
  END IF;
END
$$;

-- Looks at some leases after p_after, in the order of their ids. Deletes those whose messages are all recorded, and
-- those that are over: their worker died between sending and recording, so their messages become uncertain. Returns
-- how many messages did, and the last lease; NULL if there was none.
CREATE FUNCTION settle_leases(p_after bigint, p_settle_after interval) RETURNS TABLE (lost bigint, last bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  v_leases bigint[];
  v_ids bigint[];
  -- Of these messages: those with a record, and those of them that are still sending in the attempt of their lease.
  v_recorded bigint[];
  v_sending_ids bigint[];
  v_sending_attempts smallint[];
  v_bare bigint[];
  v_types message_type[];
  v_open bigint[];
BEGIN
  SELECT array_agg(h.id), max(h.id) INTO v_leases, last FROM (
    SELECT l.id FROM leases l WHERE l.id > p_after ORDER BY l.id LIMIT 20 FOR UPDATE SKIP LOCKED) AS h;
  lost := 0;
  IF v_leases IS NULL THEN RETURN NEXT; RETURN; END IF;
  -- The first leases, as long as their messages lie in few partitions.
  WITH begun AS (
    SELECT min(l.id) AS lease FROM leases l, unnest(l.ids) AS u(id) WHERE l.id = ANY (v_leases)
    GROUP BY CASE WHEN u.id < 9007199254740992 THEN partition_end(u.id >> 7) END
  )
  SELECT array_agg(g.id), max(g.id) INTO v_leases, last FROM unnest(v_leases) AS g(id)
  WHERE g.id = (SELECT min(l) FROM unnest(v_leases) AS l)
    OR (SELECT count(*) FROM begun b WHERE b.lease <= g.id) <= most_partitions();
  v_ids := nullif(ARRAY(SELECT u.id FROM leases l, unnest(l.ids) AS u(id) WHERE l.id = ANY (v_leases)), '{}');
  SELECT array_agg(m.message_id), array_agg(m.message_id) FILTER (WHERE m.status = 'sending'),
    array_agg(m.attempts) FILTER (WHERE m.status = 'sending')
  INTO v_recorded, v_sending_ids, v_sending_attempts FROM message_records m WHERE m.message_id = ANY (v_ids);

  WITH open AS MATERIALIZED (
    SELECT l.id AS lease, l.lost_at <= v_now AS is_lost, u.id, u.letter, r.id IS NULL AS is_bare
    FROM leases l
    CROSS JOIN LATERAL unnest(l.ids, string_to_array(l.types, NULL), l.attempts) AS u(id, letter, attempt)
    LEFT JOIN unnest(v_recorded) AS r(id) ON r.id = u.id
    LEFT JOIN unnest(v_sending_ids, v_sending_attempts) AS s(id, attempt) ON s.id = u.id AND s.attempt = u.attempt
    WHERE l.id = ANY (v_leases) AND (r.id IS NULL OR s.id IS NOT NULL)
  ), deleted AS (
    DELETE FROM leases l
    WHERE l.id = ANY (v_leases) AND (l.lost_at <= v_now OR NOT EXISTS (SELECT FROM open o WHERE o.lease = l.id))
  )
  SELECT array_agg(o.id) FILTER (WHERE o.is_bare), array_agg(message_type_of(o.letter)) FILTER (WHERE o.is_bare),
    array_agg(o.id) FILTER (WHERE NOT o.is_bare)
  INTO v_bare, v_types, v_open
  FROM open o WHERE o.is_lost;

  IF v_bare IS NOT NULL THEN
    lost := make_records('sending', 1::smallint, v_now, v_bare, v_types, partners_of(v_bare),
      array_fill('uncertain'::message_status, ARRAY[cardinality(v_bare)]),
      array_fill(v_now + p_settle_after, ARRAY[cardinality(v_bare)]),
      array_fill('no_record'::text, ARRAY[cardinality(v_bare)]));
  END IF;
  IF v_open IS NOT NULL THEN
    WITH given_up AS (
      UPDATE message_records SET status = 'uncertain', reason = 'no_record', changed_at = v_now,
        due_at = v_now + p_settle_after
      WHERE message_id = ANY (v_open) AND message_id = ANY (ARRAY(
        SELECT m.message_id FROM message_records m
        WHERE m.message_id = ANY (v_open) AND m.status = 'sending'
        ORDER BY m.message_id FOR NO KEY UPDATE))
      RETURNING message_id
    )
    SELECT lost + count(*) INTO lost FROM given_up;
  END IF;
  RETURN NEXT;
END
$$;
