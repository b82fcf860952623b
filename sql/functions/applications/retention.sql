-- Writes an old partition again without its closed applications (RETENTION_DAYS); forget.sql says when.

-- The decision at a position of a batch, as its index in the list of decisions (application_at); NULL: it cannot be
-- read.
CREATE OR REPLACE FUNCTION decision_code(p_facts bytea, p_position integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(p_facts) >= 28 * (p_position + 1)
  THEN nullif(get_byte(p_facts, 28 * p_position + 6) & 3, 3) END;

-- Applications of a final status in p_kept count as open here: they stay. The open applications of a segment; the
-- batches that hold open and other applications; the ids in application_states of the others; the number of the others;
-- and batches whose facts cannot be read: an application whose decision cannot be read counts as open until its state
-- says otherwise.
CREATE OR REPLACE FUNCTION open_applications(
  p_begins_at bigint, p_ends_at bigint, p_kept application_status[],
  OUT open_ids bigint[], OUT mixed bigint[], OUT final bigint[], OUT others bigint, OUT damaged bigint[]
)
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
BEGIN
  final := ARRAY(
    SELECT s.application_id FROM application_states s
    WHERE s.batch_id >= p_begins_at AND s.batch_id < p_ends_at AND NOT is_open(s.status) AND s.status <> ALL (p_kept));
  SELECT array_agg(a.application_id) FILTER (WHERE a.is_open), count(*) FILTER (WHERE NOT a.is_open),
    array_agg(DISTINCT a.id) FILTER (WHERE a.is_open AND a.decision IS NULL)
  INTO open_ids, others, damaged FROM (
    SELECT d.id, d.application_id, d.decision,
      -- Applications that were approved or came into review must have a final decision.
      (d.decision IS DISTINCT FROM 2 OR 'rejected' = ANY (p_kept)) AND d.application_id <> ALL (final) AS is_open
    FROM (
      SELECT b.id, application_id_at(b.id, p) AS application_id, decision_code(b.facts, p) AS decision
      -- Detoasts the facts once: otherwise each look at a position would read all of them.
      FROM (SELECT t.id, t.id_numbers, t.facts || '' AS facts FROM batches t
        WHERE t.id >= p_begins_at AND t.id < p_ends_at OFFSET 0) AS b,
        generate_series(0, cardinality(b.id_numbers) - 1) AS p
      WHERE b.id_numbers[p + 1] IS NOT NULL) AS d
  ) AS a;
  open_ids := coalesce(open_ids, '{}');
  mixed := ARRAY(
    SELECT b.id FROM batches b
    JOIN (SELECT batch_of(o.id) AS id, count(*) AS open FROM unnest(open_ids) AS o(id) GROUP BY 1) AS k ON k.id = b.id
    WHERE b.id >= p_begins_at AND b.id < p_ends_at AND k.open < cardinality(array_remove(b.id_numbers, NULL)));
END
$$;

-- Copies the open applications of the partition that ends at p_end, and the records of their messages, to tables that
-- are to take its place. Of a batch with other applications (p_mixed) the row is copied without these, as if their
-- candidates had not been registered. Its envelope is left to the service, which has its key
-- (src/subjects/applications/sql/surplus.ts). Returns the first transaction whose changes of records the copy may lack.
CREATE OR REPLACE FUNCTION copy_open_applications(p_end bigint, p_open bigint[], p_mixed bigint[]) RETURNS xid
LANGUAGE plpgsql AS $$
DECLARE
  v_begin constant bigint := p_end - partition_width();
  v_old_batches constant text := 'batches_to_' || p_end;
  v_batches constant text := v_old_batches || '_kept';
  v_records constant text := 'message_records_to_' || p_end || '_kept';
  v_whole constant bigint[] := ARRAY(
    SELECT DISTINCT batch_of(o.id) FROM unnest(p_open) AS o(id) EXCEPT SELECT unnest(p_mixed));
  v_since xid;
BEGIN
  PERFORM make_partition_tables(p_end || '_kept');
  -- Because of these constraints PostgreSQL does not read the tables again when they are attached.
  EXECUTE format('ALTER TABLE %I ADD CONSTRAINT in_range CHECK (id >= %s AND id < %s)', v_batches, v_begin, p_end);
  EXECUTE format('ALTER TABLE %I ADD CONSTRAINT in_range CHECK (message_id >= %s AND message_id < %s)', v_records,
    application_id_at(v_begin, 0), application_id_at(p_end, 0));
  -- Reads and claims pass this lock. A rewrite of an envelope waits for it.
  PERFORM limit_lock_waits('500ms');
  EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', v_old_batches);
  v_since := pg_snapshot_xmin(pg_current_snapshot())::xid;
  IF p_open = '{}' THEN RETURN v_since; END IF;
  EXECUTE format('INSERT INTO %I SELECT * FROM %I WHERE id = ANY ($1)', v_batches, v_old_batches) USING v_whole;
  EXECUTE format($sql$
    INSERT INTO %I SELECT b.id, b.created_at, b.seal_id, b.partner_id, b.api_key_id, b.policy_id, true, b.unreadable_at,
      k.phones, k.id_numbers, k.facts, b.platforms, b.envelope
    FROM (SELECT t.*, t.facts || '' AS all_facts FROM %I t WHERE t.id = ANY ($2) OFFSET 0) AS b
    CROSS JOIN LATERAL (
      SELECT array_agg(CASE WHEN u.stays THEN u.phone END ORDER BY u.n) AS phones,
        array_agg(CASE WHEN u.stays THEN u.id_number END ORDER BY u.n) AS id_numbers,
        string_agg(CASE WHEN u.stays THEN u.facts
          ELSE substring(decode(repeat('00', 28), 'hex') FOR octet_length(u.facts)) END, '' ORDER BY u.n) AS facts
      FROM (
        SELECT g.phone, g.id_number, g.n, substring(b.all_facts FROM 28 * g.n::integer - 27 FOR 28) AS facts,
          application_id_at(b.id, 0) + g.n - 1 = ANY ($1) AS stays
        FROM unnest(b.phones, b.id_numbers) WITH ORDINALITY AS g(phone, id_number, n)) AS u
    ) AS k $sql$, v_batches, v_old_batches) USING p_open, p_mixed;
  PERFORM copy_open_records(p_end, p_open);
  RETURN v_since;
END
$$;

-- Deletes what other tables have about the applications of the partition that are not open: their history, their states
-- (p_final) and their messages, but for the records that go with the partition.
CREATE OR REPLACE FUNCTION forget_beside(p_end bigint, p_open bigint[], p_final bigint[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_begin constant bigint := p_end - partition_width();
BEGIN
  DELETE FROM application_events e
  WHERE e.application_id >= application_id_at(v_begin, 0) AND e.application_id < application_id_at(p_end, 0)
    AND e.application_id <> ALL (p_open);
  DELETE FROM application_states s
  WHERE s.batch_id >= v_begin AND s.batch_id < p_end AND s.application_id = ANY (p_final);
  PERFORM forget_messages(v_begin, p_end, p_open);
END
$$;

-- Puts the tables with the copy in the place of the partition that ends at p_end, or nothing where p_is_kept is false.
-- Waits half a second for each lock. Where a lock cannot be had, it lets the sessions pass that waited for it, and
-- tries again: without that a session that reads the partition would cost the whole copy.
--
-- Locks each whole table before its partition, as every statement does. A session that waits for a partition has locked
-- the whole table, so with the partition first the two would wait for each other.
CREATE OR REPLACE FUNCTION replace_partition(p_end bigint, p_is_kept boolean, p_since xid) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_batches constant text := 'batches_to_' || p_end;
  v_records constant text := 'message_records_to_' || p_end;
BEGIN
  PERFORM limit_lock_waits('500ms');
  FOR v_try IN 1..5 LOOP
    BEGIN
      -- Messages come first, because a worker locks them before it reads batches. What is done with messages waits from
      -- here on, and registrations go on.
      EXECUTE format('ALTER TABLE message_records DETACH PARTITION %I', v_records);
      PERFORM settle_records(p_end, p_since);
      -- From here on registrations wait, for a moment.
      EXECUTE format('DROP TABLE %I', v_batches);
      EXECUTE format('DROP TABLE %I', v_records);
      EXIT;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      IF v_try = 5 THEN RAISE; END IF;
      PERFORM pg_sleep(0.2);
    END;
  END LOOP;
  IF p_is_kept THEN
    EXECUTE format('ALTER TABLE %I RENAME TO %I', v_batches || '_kept', v_batches);
    EXECUTE format('ALTER TABLE %I RENAME TO %I', v_records || '_kept', v_records);
    PERFORM attach_partition_tables(p_end);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT in_range', v_batches);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT in_range', v_records);
  ELSE
    EXECUTE format('DROP TABLE %I', v_records || '_kept');
    EXECUTE format('DROP TABLE %I', v_batches || '_kept');
  END IF;
END
$$;
