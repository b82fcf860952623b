-- Deletes old applications if the operator asks for it (RETENTION_DAYS), partition by partition.

-- The place in its list of the decision at a position of a batch (application_at); NULL: it cannot be read.
CREATE FUNCTION decision_code(p_facts bytea, p_position integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(p_facts) >= 28 * (p_position + 1)
  THEN nullif(get_byte(p_facts, 28 * p_position + 6) & 3, 3) END;

-- Deletes the applications of the oldest partition that has been closed for p_days, by the clock and by the elapsed
-- time (D39), and that holds no open application; with their messages, history and look-ups. Returns the number of
-- applications; NULL if there is no such partition, or another session does it. An application whose facts cannot be
-- read counts as open until its state says otherwise; `unreadable` are some of the batches that keep their partition
-- for this reason.
CREATE FUNCTION forget_partition(p_days integer) RETURNS TABLE (applications bigint, unreadable bigint[])
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  v_least_ms constant bigint := elapsed_ms() - p_days * 86400000::bigint;
  v_closed closed_partitions;
  v_open bigint;
  v_damaged bigint[];
  v_first bigint;
  v_end bigint;
BEGIN
  IF is_worker() THEN
    RETURN QUERY SELECT j.applications, j.unreadable FROM json_to_record(
      on_coordinator(format('SELECT row_to_json(f) FROM forget_partition(%s) AS f', p_days))::json
    ) AS j(applications bigint, unreadable bigint[]);
    RETURN;
  END IF;
  unreadable := '{}';
  IF NOT hold_closed_partitions() THEN RETURN NEXT; RETURN; END IF;
  FOR v_closed IN
    SELECT * FROM closed_partitions WHERE in_buckets AND closed_ms <= v_least_ms
    ORDER BY begins_at
  LOOP
    CONTINUE WHEN (SELECT max(b.created_at) FROM batches b
      WHERE b.id >= v_closed.begins_at AND b.id < v_closed.ends_at) > v_now - p_days * interval '1 day';
    -- Applications that were approved or came into review must have a final decision.
    SELECT count(*) FILTER (WHERE a.decision IS DISTINCT FROM 2), array_agg(DISTINCT a.id) FILTER (WHERE a.decision IS NULL),
      count(*)
    INTO v_open, v_damaged, applications FROM (
      SELECT b.id, decision_code(b.facts, p) AS decision
      -- Detoasts the facts once: otherwise each look at a position would read all of them.
      FROM (SELECT t.id, t.id_numbers, t.facts || '' AS facts FROM batches t
        WHERE t.id >= v_closed.begins_at AND t.id < v_closed.ends_at OFFSET 0) AS b,
        generate_series(0, cardinality(b.id_numbers) - 1) AS p
      WHERE b.id_numbers[p + 1] IS NOT NULL
    ) AS a;
    IF v_open > (
      -- A tap also makes a row for an application that its score rejected.
      SELECT count(*) FROM application_states s JOIN batches b ON b.id = s.batch_id
      WHERE s.batch_id >= v_closed.begins_at AND s.batch_id < v_closed.ends_at AND s.status IN ('rejected', 'disbursed')
        AND b.id >= v_closed.begins_at AND b.id < v_closed.ends_at
        AND decision_code(b.facts, (s.application_id & 127)::integer) IS DISTINCT FROM 2)
    THEN
      unreadable := unreadable || v_damaged[1:20];
      CONTINUE;
    END IF;

    v_first := v_closed.begins_at * 128;
    v_end := v_closed.ends_at * 128;
    DELETE FROM application_events e WHERE e.application_id >= v_first AND e.application_id < v_end;
    DELETE FROM application_states s WHERE s.batch_id >= v_closed.begins_at AND s.batch_id < v_closed.ends_at;
    WITH gone AS (
      DELETE FROM outbox o WHERE o.batch_id >= v_closed.begins_at AND o.batch_id < v_closed.ends_at RETURNING o.positions
    )
    INSERT INTO message_counts SELECT 'queued', -sum(cardinality(g.positions)) FROM gone g HAVING count(*) > 0;
    -- The triggers count them, and delete what they have in waiting_messages.
    DELETE FROM message_records WHERE message_id IN (
      SELECT m.message_id FROM message_records m
      WHERE m.message_id >= v_first + 9007199254740992 AND m.message_id < v_end + 9007199254740992
        OR m.message_id >= v_first + 18014398509481984 AND m.message_id < v_end + 18014398509481984
      ORDER BY m.message_id FOR UPDATE);
    DELETE FROM look_up_buckets k WHERE k.begins_at = v_closed.begins_at;
    DELETE FROM closed_partitions c WHERE c.ends_at = v_closed.ends_at;
    -- These locks come last and for a moment, because every registration waits for them. Messages come first, because
    -- a worker locks them before it reads batches. The other machines of a cluster obey the timeout as well.
    SET LOCAL citus.propagate_set_commands = 'local';
    SET LOCAL lock_timeout = '500ms';
    EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', 'message_records_to_' || v_closed.ends_at);
    -- No worker can begin to send one of these any more; results of sends under way must find their partition.
    IF EXISTS (SELECT FROM leases l, unnest(l.ids) AS u(id)
      WHERE application_of_message(u.id) >= v_first AND application_of_message(u.id) < v_end)
    THEN
      RAISE EXCEPTION 'messages of the partition are being sent' USING ERRCODE = 'lock_not_available';
    END IF;
    -- From here on no record changes.
    DELETE FROM waiting_messages w WHERE w.message_id >= v_first AND w.message_id < v_end;
    INSERT INTO message_counts SELECT m.status, -count(*) FROM message_records m
    WHERE m.message_id >= v_first AND m.message_id < v_end GROUP BY m.status;
    EXECUTE format('DROP TABLE %I', 'message_records_to_' || v_closed.ends_at);
    EXECUTE format('DROP TABLE %I', 'batches_to_' || v_closed.ends_at);
    RETURN NEXT;
    RETURN;
  END LOOP;
  applications := NULL;
  RETURN NEXT;
END
$$;
