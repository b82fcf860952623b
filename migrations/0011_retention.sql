-- How long applications are kept where the operator says so (RETENTION_DAYS), partition by partition.

-- Deletes the applications of the oldest partition that has been closed for p_days, by the clock and by the time that
-- has certainly passed (D39), and none of which is open; with their messages, history and look-ups. Its number of
-- applications; NULL where there is none, or another session does it.
CREATE FUNCTION forget_partition(p_days integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  v_least_ms constant bigint := elapsed_ms() - p_days * 86400000::bigint;
  v_closed closed_partitions;
  v_count bigint;
  v_first bigint;
  v_end bigint;
BEGIN
  IF NOT hold_closed_partitions() THEN RETURN NULL; END IF;
  FOR v_closed IN
    SELECT * FROM closed_partitions WHERE in_buckets AND closed_ms <= v_least_ms
    ORDER BY begins_at
  LOOP
    CONTINUE WHEN (SELECT max(b.created_at) FROM batches b
      WHERE b.id >= v_closed.begins_at AND b.id < v_closed.ends_at) > v_now - p_days * interval '1 day';
    -- Whoever was approved or came into review has been decided on for good.
    CONTINUE WHEN (
      SELECT count(*) FROM batches b, generate_series(0, cardinality(b.id_numbers) - 1) AS p
      WHERE b.id >= v_closed.begins_at AND b.id < v_closed.ends_at AND b.id_numbers[p + 1] IS NOT NULL
        AND get_byte(b.facts, 28 * p + 6) & 3 < 2
    ) > (
      -- A tap makes a row of an application that its score rejected, too.
      SELECT count(*) FROM application_states s JOIN batches b ON b.id = s.batch_id
      WHERE s.batch_id >= v_closed.begins_at AND s.batch_id < v_closed.ends_at AND s.status IN ('rejected', 'disbursed')
        AND b.id >= v_closed.begins_at AND b.id < v_closed.ends_at
        AND get_byte(b.facts, 28 * (s.application_id & 127)::integer + 6) & 3 < 2);

    v_first := v_closed.begins_at * 128;
    v_end := v_closed.ends_at * 128;
    SELECT coalesce(sum(cardinality(array_remove(b.id_numbers, NULL))), 0) INTO v_count FROM batches b
    WHERE b.id >= v_closed.begins_at AND b.id < v_closed.ends_at;
    DELETE FROM application_events e WHERE e.application_id >= v_first AND e.application_id < v_end;
    DELETE FROM application_states s WHERE s.batch_id >= v_closed.begins_at AND s.batch_id < v_closed.ends_at;
    WITH gone AS (
      DELETE FROM outbox o WHERE o.batch_id >= v_closed.begins_at AND o.batch_id < v_closed.ends_at RETURNING o.positions
    )
    INSERT INTO message_counts SELECT 'queued', -sum(cardinality(g.positions)) FROM gone g HAVING count(*) > 0;
    DELETE FROM waiting_messages w WHERE w.application_id >= v_first AND w.application_id < v_end;
    INSERT INTO message_counts SELECT m.status, -count(*) FROM message_records m
    WHERE m.application_id >= v_first AND m.application_id < v_end GROUP BY m.status;
    DELETE FROM look_up_buckets k WHERE k.begins_at = v_closed.begins_at;
    DELETE FROM closed_partitions c WHERE c.ends_at = v_closed.ends_at;
    -- Last, for a moment: every registration waits for it. Messages first: who sends locks them before it reads batches.
    PERFORM set_config('lock_timeout', '500ms', true);
    EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', 'message_records_to_' || v_closed.ends_at);
    -- Nobody can begin to send one any more; what came of those under way has to find its partition.
    IF EXISTS (SELECT FROM leases l, unnest(l.ids) AS u(id) WHERE u.id >= v_first AND u.id < v_end) THEN
      RAISE EXCEPTION 'messages of the partition are being sent' USING ERRCODE = 'lock_not_available';
    END IF;
    EXECUTE format('DROP TABLE %I', 'message_records_to_' || v_closed.ends_at);
    EXECUTE format('DROP TABLE %I', 'batches_to_' || v_closed.ends_at);
    RETURN v_count;
  END LOOP;
  RETURN NULL;
END
$$;
