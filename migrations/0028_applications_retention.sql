-- Deletes old applications if the operator asks for it (RETENTION_DAYS), partition by partition.

-- The place in its list of the decision at a position of a batch (application_at); NULL: it cannot be read.
CREATE FUNCTION decision_code(p_facts bytea, p_position integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(p_facts) >= 28 * (p_position + 1)
  THEN nullif(get_byte(p_facts, 28 * p_position + 6) & 3, 3) END;

-- The batches of a segment that hold an open application, and those of them whose facts cannot be read: an application
-- whose decision cannot be read counts as open until its state says otherwise.
CREATE FUNCTION open_batches(p_begins_at bigint, p_ends_at bigint, OUT kept bigint[], OUT damaged bigint[], OUT batches bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_final constant bigint[] := ARRAY(
    SELECT s.application_id FROM application_states s
    WHERE s.batch_id >= p_begins_at AND s.batch_id < p_ends_at AND s.status IN ('rejected', 'disbursed'));
BEGIN
  SELECT coalesce(array_agg(DISTINCT a.id), '{}'), array_agg(DISTINCT a.id) FILTER (WHERE a.decision IS NULL)
  INTO kept, damaged FROM (
    SELECT b.id, b.id * 128 + p AS application_id, decision_code(b.facts, p) AS decision
    -- Detoasts the facts once: otherwise each look at a position would read all of them.
    FROM (SELECT t.id, t.id_numbers, t.facts || '' AS facts FROM batches t
      WHERE t.id >= p_begins_at AND t.id < p_ends_at OFFSET 0) AS b,
      generate_series(0, cardinality(b.id_numbers) - 1) AS p
    WHERE b.id_numbers[p + 1] IS NOT NULL
  ) AS a
  -- Applications that were approved or came into review must have a final decision.
  WHERE a.decision IS DISTINCT FROM 2 AND a.application_id <> ALL (v_final);
  SELECT count(*) INTO batches FROM batches b WHERE b.id >= p_begins_at AND b.id < p_ends_at;
END
$$;

-- Drops the partition that ends at p_end. A smaller partition with the kept batches and the records of their messages
-- takes its place. The caller has locked the partition of message_records. This function locks the partition of
-- batches, so that no envelope is rewritten meanwhile.
CREATE FUNCTION replace_partition(p_end bigint, p_kept bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_begin constant bigint := p_end - partition_width();
  v_batches constant text := 'batches_to_' || p_end;
  v_records constant text := 'message_records_to_' || p_end;
BEGIN
  EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', v_batches);
  IF p_kept <> '{}' THEN
    PERFORM make_partition_tables(p_end || '_kept');
    EXECUTE format('INSERT INTO %I SELECT * FROM %I WHERE id = ANY ($1)', v_batches || '_kept', v_batches) USING p_kept;
    EXECUTE format('INSERT INTO %I SELECT * FROM %I WHERE message_id >> 7 = ANY ($1)', v_records || '_kept', v_records)
    USING p_kept;
    -- With these PostgreSQL does not read the tables again when they are attached.
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT in_range CHECK (id >= %s AND id < %s)', v_batches || '_kept', v_begin, p_end);
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT in_range CHECK (message_id >= %s AND message_id < %s)', v_records || '_kept',
      v_begin * 128, p_end * 128);
  END IF;
  -- From here on registrations wait, for a moment.
  EXECUTE format('DROP TABLE %I', v_records);
  EXECUTE format('DROP TABLE %I', v_batches);
  IF p_kept <> '{}' THEN
    EXECUTE format('ALTER TABLE %I RENAME TO %I', v_batches || '_kept', v_batches);
    EXECUTE format('ALTER TABLE %I RENAME TO %I', v_records || '_kept', v_records);
    PERFORM attach_partition_tables(p_end);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT in_range', v_batches);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT in_range', v_records);
  END IF;
END
$$;

-- Deletes the applications of the oldest partition that has been closed for p_days, by the clock and by the elapsed
-- time (D39); with their messages, history and look-ups. A batch with an open application is kept whole, in a smaller
-- partition in the place of the old one. Returns the number of deleted applications, 0 where the partition was kept; NULL if
-- there is no such partition, or another session does it; `unreadable` are some of the batches that are kept because their facts cannot be read.
--
-- A partition in which more than half of the batches are kept stays as it is, because most of it would be written again,
-- and is looked at again a day later.
CREATE FUNCTION forget_partition(p_days integer) RETURNS TABLE (applications bigint, unreadable bigint[])
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  v_now_ms constant bigint := elapsed_ms();
  v_least_ms constant bigint := v_now_ms - p_days * 86400000::bigint;
  v_end bigint;
  v_begin bigint;
  v_segment record;
  v_open record;
  v_kept bigint[];
  v_batches bigint;
  v_first bigint;
  v_after bigint;
BEGIN
  IF is_worker() THEN
    RETURN QUERY SELECT j.applications, j.unreadable FROM json_to_record(
      on_coordinator(format('SELECT row_to_json(f) FROM forget_partition(%s) AS f', p_days))::json
    ) AS j(applications bigint, unreadable bigint[]);
    RETURN;
  END IF;
  unreadable := '{}';
  IF NOT hold_closed_segments() THEN RETURN NEXT; RETURN; END IF;
  FOR v_end IN
    SELECT s.ends_at FROM closed_segments s
    WHERE s.ends_at = partition_end(s.begins_at) AND s.in_buckets AND s.closed_ms <= v_least_ms
      AND (s.kept_ms IS NULL OR s.kept_ms <= v_now_ms - 86400000)
    ORDER BY s.ends_at
  LOOP
    v_begin := v_end - partition_width();
    CONTINUE WHEN (SELECT max(b.created_at) FROM batches b
      WHERE b.id >= v_begin AND b.id < v_end) > v_now - p_days * interval '1 day';
    v_kept := '{}';
    v_batches := 0;
    FOR v_segment IN SELECT * FROM closed_segments s WHERE s.begins_at >= v_begin AND s.begins_at < v_end LOOP
      v_open := open_batches(v_segment.begins_at, v_segment.ends_at);
      v_kept := v_kept || v_open.kept;
      v_batches := v_batches + v_open.batches;
      unreadable := unreadable || v_open.damaged[1:20];
    END LOOP;
    IF 2 * cardinality(v_kept) > v_batches THEN
      UPDATE closed_segments SET kept_ms = v_now_ms WHERE ends_at = v_end;
      -- In a transaction of its own: to look at all partitions may take longer than a statement may.
      applications := 0;
      RETURN NEXT;
      RETURN;
    END IF;

    v_first := v_begin * 128;
    v_after := v_end * 128;
    DELETE FROM application_events e WHERE e.application_id >= v_first AND e.application_id < v_after
      AND e.application_id >> 7 <> ALL (v_kept);
    DELETE FROM application_states s WHERE s.batch_id >= v_begin AND s.batch_id < v_end AND s.batch_id <> ALL (v_kept);
    WITH gone AS (
      DELETE FROM outbox o WHERE o.batch_id >= v_begin AND o.batch_id < v_end AND o.batch_id <> ALL (v_kept)
      RETURNING o.positions
    )
    INSERT INTO message_counts SELECT 'queued', -sum(cardinality(g.positions)) FROM gone g HAVING count(*) > 0;
    -- The triggers count them, and delete what they have in waiting_messages.
    DELETE FROM message_records WHERE message_id >= 9007199254740992 AND message_id IN (
      SELECT m.message_id FROM message_records m
      WHERE (m.message_id >= v_first + 9007199254740992 AND m.message_id < v_after + 9007199254740992
        OR m.message_id >= v_first + 18014398509481984 AND m.message_id < v_after + 18014398509481984)
        AND application_of_message(m.message_id) >> 7 <> ALL (v_kept)
      ORDER BY m.message_id FOR UPDATE);
    DELETE FROM look_up_buckets k USING closed_segments s
    WHERE k.begins_at = s.begins_at AND s.begins_at >= v_begin AND s.begins_at < v_end;
    applications := (SELECT sum(s.applications) FROM closed_segments s WHERE s.begins_at >= v_begin AND s.begins_at < v_end);
    IF v_kept <> '{}' THEN
      -- Before the locks, because it takes seconds.
      FOR v_segment IN SELECT * FROM closed_segments s WHERE s.begins_at >= v_begin AND s.begins_at < v_end LOOP
        applications := applications - fill_segment(v_segment.begins_at, v_segment.ends_at, v_kept);
      END LOOP;
    END IF;
    -- Messages come first, because a worker locks them before it reads batches. The other machines of a cluster obey the
    -- timeout as well.
    SET LOCAL citus.propagate_set_commands = 'local';
    SET LOCAL lock_timeout = '500ms';
    EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', 'message_records_to_' || v_end);
    -- No worker can begin to send one of these any more; results of sends under way must find their partition.
    IF EXISTS (SELECT FROM leases l, unnest(l.ids) AS u(id)
      WHERE application_of_message(u.id) >= v_first AND application_of_message(u.id) < v_after)
    THEN
      RAISE EXCEPTION 'messages of the partition are being sent' USING ERRCODE = 'lock_not_available';
    END IF;
    -- From here on no record changes.
    DELETE FROM waiting_messages w
    WHERE w.message_id >= v_first AND w.message_id < v_after AND w.message_id >> 7 <> ALL (v_kept);
    INSERT INTO message_counts SELECT m.status, -count(*) FROM message_records m
    WHERE m.message_id >= v_first AND m.message_id < v_after AND m.message_id >> 7 <> ALL (v_kept) GROUP BY m.status;
    PERFORM replace_partition(v_end, v_kept);
    IF v_kept = '{}' THEN
      DELETE FROM closed_segments s WHERE s.begins_at >= v_begin AND s.begins_at < v_end;
    ELSE
      UPDATE closed_segments SET kept_ms = v_now_ms WHERE ends_at = v_end;
    END IF;
    RETURN NEXT;
    RETURN;
  END LOOP;
  applications := NULL;
  RETURN NEXT;
END
$$;
