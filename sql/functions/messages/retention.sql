-- What becomes of messages where a partition of old applications is written again or dropped
-- (applications/retention.sql).

-- Deletes the messages of the applications in batches p_begin up to but without p_end that are not open, but for the
-- records that go with the partition.
CREATE OR REPLACE FUNCTION forget_messages(p_begin bigint, p_end bigint, p_open bigint[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_first constant bigint := application_id_at(p_begin, 0);
  v_end constant bigint := application_id_at(p_end, 0);
  v_batch record;
  v_gone bigint := 0;
BEGIN
  FOR v_batch IN
    SELECT array_agg(m.message_id) AS ids FROM outbox_messages m
    WHERE m.batch_id >= p_begin AND m.batch_id < p_end AND m.message_id <> ALL (p_open)
    GROUP BY m.batch_id ORDER BY m.batch_id
  LOOP
    v_gone := v_gone + (SELECT count(*) FROM take_from_outbox(v_batch.ids));
  END LOOP;
  IF v_gone > 0 THEN INSERT INTO message_counts VALUES ('queued', -v_gone); END IF;
  -- The triggers count them, and delete what they have in waiting_messages.
  DELETE FROM message_records WHERE message_id >= 9007199254740992 AND message_id IN (
    SELECT m.message_id FROM message_records m
    WHERE (m.message_id >= v_first + 9007199254740992 AND m.message_id < v_end + 9007199254740992
      OR m.message_id >= v_first + 18014398509481984 AND m.message_id < v_end + 18014398509481984
      OR m.message_id >= reminder_of(v_first) AND m.message_id < reminder_of(v_end))
      AND application_of_message(m.message_id) <> ALL (p_open)
    ORDER BY m.message_id FOR UPDATE);
END
$$;

-- Copies the records of the applications p_open in the partition that ends at p_end.
CREATE OR REPLACE FUNCTION copy_open_records(p_end bigint, p_open bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_old constant text := 'message_records_to_' || p_end;
  v_new constant text := v_old || '_kept';
BEGIN
  EXECUTE format('INSERT INTO %I SELECT * FROM %I WHERE message_id = ANY ($1)', v_new, v_old) USING p_open;
END
$$;

-- Copies the records again that changed since they were copied: those that a transaction from p_since on has written.
-- Counts the records that go with the partition. The caller has detached the partition, so no record changes any more,
-- and no worker can begin to send. Fails where a message that goes is being sent: its result must find its application.
CREATE OR REPLACE FUNCTION settle_records(p_end bigint, p_since xid) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_first constant bigint := application_id_at(p_end - partition_width(), 0);
  v_batches constant text := 'batches_to_' || p_end || '_kept';
  v_old constant text := 'message_records_to_' || p_end;
  v_new constant text := v_old || '_kept';
  v_ids bigint[];
  v_group record;
BEGIN
  v_ids := ARRAY(SELECT application_of_message(u.id) FROM leases l, unnest(l.ids) AS u(id)
    WHERE application_of_message(u.id) >= v_first AND application_of_message(u.id) < application_id_at(p_end, 0));
  EXECUTE format('SELECT ARRAY(SELECT g.id FROM unnest($1) AS g(id) LEFT JOIN %I b ON b.id = batch_of(g.id)
    WHERE b.id_numbers[position_of(g.id) + 1] IS NULL)', v_batches) INTO v_ids USING v_ids;
  IF v_ids <> '{}' THEN
    RAISE EXCEPTION 'messages of the partition are being sent' USING ERRCODE = 'object_in_use';
  END IF;
  -- Reads the old records once, because all that is done with messages waits meanwhile.
  FOR v_group IN EXECUTE format('SELECT status, count(*), array_agg(message_id) FILTER (WHERE age(xmin) <= age($1)) AS ids
    FROM %I GROUP BY status', v_old) USING p_since
  LOOP
    v_ids := v_ids || v_group.ids;
    INSERT INTO message_counts VALUES (v_group.status, -v_group.count);
  END LOOP;
  IF v_ids <> '{}' THEN
    EXECUTE format('DELETE FROM %I WHERE message_id = ANY ($1)', v_new) USING v_ids;
    EXECUTE format('INSERT INTO %I SELECT r.* FROM %I r JOIN %I b ON b.id = batch_of(r.message_id)
      WHERE r.message_id = ANY ($1) AND b.id_numbers[position_of(r.message_id) + 1] IS NOT NULL',
      v_new, v_old, v_batches) USING v_ids;
  END IF;
  EXECUTE format('INSERT INTO message_counts SELECT status, count(*) FROM %I GROUP BY status', v_new);
  v_ids := ARRAY(
    SELECT w.message_id FROM waiting_messages w
    WHERE w.status IN ('queued', 'uncertain', 'failed') AND w.message_id >= v_first
      AND w.message_id < application_id_at(p_end, 0));
  EXECUTE format('SELECT ARRAY(SELECT g.id FROM unnest($1) AS g(id) LEFT JOIN %I r ON r.message_id = g.id
    WHERE r.message_id IS NULL)', v_new) INTO v_ids USING v_ids;
  DELETE FROM waiting_messages w
  WHERE w.status IN ('queued', 'uncertain', 'failed') AND w.message_id = ANY (v_ids);
END
$$;
