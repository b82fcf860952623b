-- The results of sends. The head of migrations/0004_messages.sql gives the
-- order of locks.

-- Tells the partners that messages failed (D41), with one event for each, but for reminders, of which partners do not
-- know. The last statement of its transaction, by the order of locks.
CREATE OR REPLACE FUNCTION tell_failed_messages(p_ids bigint[], p_types message_type[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  -- With these values the planner finds the partitions to read, also on another machine.
  v_batches constant bigint[] := nullif(ARRAY(
    SELECT DISTINCT batch_of_message(g.id) FROM unnest(p_ids) AS g(id)), '{}');
  v_partner_ids integer[];
  v_application_ids bigint[];
  v_types message_type[];
BEGIN
  SELECT array_agg(b.partner_id ORDER BY g.n), array_agg(application_of_message(g.id) ORDER BY g.n),
    array_agg(g.type ORDER BY g.n)
  INTO v_partner_ids, v_application_ids, v_types
  FROM unnest(p_ids, p_types) WITH ORDINALITY AS g(id, type, n)
  JOIN (SELECT t.id, t.partner_id FROM batches t WHERE t.id = ANY (v_batches)) AS b
    ON b.id = batch_of_message(g.id)
  WHERE g.type <> 'reminder';
  IF v_partner_ids IS NOT NULL THEN
    PERFORM add_partner_events('message.failed', v_partner_ids, v_application_ids, NULL, NULL, NULL, v_types);
  END IF;
END
$$;

-- Writes the results of sends to the records that are there: of messages whose attempt is still open, because a status
-- event may have come first and knows better. Returns the messages that failed; NULL: none.
CREATE OR REPLACE FUNCTION change_records(
  p_ids bigint[], p_attempts smallint[], p_statuses message_status[], p_channel_ids bigint[], p_reasons text[],
  p_due_at timestamptz[], p_at timestamptz, p_there bigint[], OUT failed_ids bigint[], OUT failed_types message_type[]
)
LANGUAGE plpgsql AS $$
BEGIN
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
  INTO failed_ids, failed_types
  USING p_ids, p_attempts, p_statuses, p_channel_ids, p_reasons, p_due_at, p_at, p_there;
END
$$;

-- Notes that the channel has just answered about messages that may go out again: their record changes before that, and
-- no longer tells when the answer came.
CREATE OR REPLACE FUNCTION note_answered(p_ids bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  -- Read before the change: on a cluster a statement about a table of the coordinator may not ask other machines.
  v_ids bigint[];
  v_phones bigint[];
BEGIN
  SELECT array_agg(a.id), array_agg(a.phone_index) INTO v_ids, v_phones FROM phones_of(p_ids) AS a;
  UPDATE recipients p SET answered_at = now()
  FROM (SELECT a.phone_index, a.id FROM unnest(v_ids, v_phones) AS a(id, phone_index) ORDER BY a.phone_index) AS r
  WHERE p.phone_index = r.phone_index AND p.message_id = r.id;
END
$$;

-- Records the results of sends, each with the blind index of the channel's id if there is one, and when the message
-- is due again, or may be settled, in milliseconds from now. A status event may have come first and knows better, so
-- only open messages are written; partners hear of those that failed. The answer is also the moment from which the next
-- message to the phone keeps its distance.
--
-- Raises unique_violation if another session makes one of the records at this moment: call again.
CREATE OR REPLACE FUNCTION record_send_results(
  p_ids bigint[], p_types message_type[], p_partners integer[], p_attempts smallint[], p_statuses message_status[],
  p_channel_ids bigint[], p_reasons text[], p_after_ms float8[]
) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
-- Rows are changed, and so locked, in the order of the subquery; a lock before it would cost as much again.
SET jit = off
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
  v_failed_ids bigint[];
  v_failed_types message_type[];
BEGIN
  EXECUTE 'SELECT ARRAY(SELECT m.message_id FROM message_records m WHERE m.message_id = ANY ($1))' INTO v_there USING p_ids;
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
    SELECT c.failed_ids, c.failed_types INTO v_failed_ids, v_failed_types
    FROM change_records(p_ids, p_attempts, p_statuses, p_channel_ids, p_reasons, v_due_at, v_now, v_there) AS c;
  END IF;
  -- While these were sent, the upkeep may have forgotten that they wait.
  IF 'queued' = ANY (p_statuses) AND 'rejected' = ANY (p_types) THEN PERFORM note_waiting_rejections(p_ids); END IF;
  IF 'accepted' <> ANY (p_statuses) THEN
    PERFORM note_answered(array_agg(g.id))
    FROM unnest(p_ids, p_statuses) AS g(id, status) WHERE g.status <> 'accepted';
  END IF;
  IF 'failed' = ANY (p_statuses) THEN
    SELECT v_failed_ids || array_agg(g.id), v_failed_types || array_agg(g.type) INTO v_failed_ids, v_failed_types
    FROM unnest(p_ids, p_types, p_statuses) AS g(id, type, status) WHERE g.status = 'failed' AND g.id <> ALL (v_there);
    IF v_failed_ids IS NOT NULL THEN PERFORM tell_failed_messages(v_failed_ids, v_failed_types); END IF;
  END IF;
END
$$;

-- Looks at some leases after p_after, in the order of their ids. Deletes those whose messages are all recorded, and
-- those that are over: their worker died before it recorded the results, so their messages become uncertain. Returns
-- how many messages did, and the last lease; NULL if there was none.
CREATE OR REPLACE FUNCTION settle_leases(p_after bigint, p_settle_after interval) RETURNS TABLE (lost bigint, last bigint)
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
    GROUP BY CASE WHEN u.id < 9007199254740992 THEN partition_end(batch_of(u.id)) END
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
