-- How an operator finds applications by phone or ID number: migrations/0003_applications.sql says how the buckets work.

-- The applications of a segment, and the most batches: a search scans all that are in no buckets yet.
CREATE OR REPLACE FUNCTION segment_applications() RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 1048576;

CREATE OR REPLACE FUNCTION segment_batches() RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 65536;

-- Locks the list until the end of the transaction; false if another session holds it. A session that read the
-- partitions while another one drops one would list the dropped one again, and fail on it for ever.
CREATE OR REPLACE FUNCTION hold_closed_segments() RETURNS boolean
LANGUAGE sql
RETURN pg_try_advisory_xact_lock(8726, 3);

-- About how many applications the batches with these numbers have: by the batches with 256 of the numbers.
CREATE OR REPLACE FUNCTION applications_between(p_from bigint, p_before bigint) RETURNS bigint
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_span constant bigint := greatest(p_before - p_from, 0);
  -- At least one, because PostgreSQL divides by it when it plans, also where there is nothing to look at.
  v_looks constant integer := greatest(least(v_span, 256), 1);
  v_numbers constant bigint[] := ARRAY(
    SELECT p_from + n * v_span / v_looks + floor(random() * (v_span / v_looks))::bigint
    FROM generate_series(0, v_looks - 1) AS n);
BEGIN
  IF v_span = 0 THEN RETURN 0; END IF;
  RETURN (
    SELECT coalesce(sum(cardinality(b.id_numbers)), 0) * v_span / v_looks FROM batches b WHERE b.id = ANY (v_numbers));
END
$$;

-- No partition is left with fewer applications than this, or younger than this: the runtime role may call
-- leave_partition, and a fault of the service must not make partitions without end.
CREATE OR REPLACE FUNCTION least_partition_applications() RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 1048576;

CREATE OR REPLACE FUNCTION least_partition_ms() RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ms_of(interval '1 day');

-- Leaves the partition in use when it has p_applications or was in use for p_longest_ms: new batches go into the next
-- partition. Returns whether it did. The number of applications decides, and not the number of batches, because a batch
-- has one application or a hundred. The age decides too, so that a small installation can keep RETENTION_DAYS. The age
-- begins when the partition before is closed.
--
-- The sequence never goes back. ALTER SEQUENCE waits for the registrations under way, and keeps others waiting until
-- this transaction ends. So no session takes a number between the reading of the last number and the change.
CREATE OR REPLACE FUNCTION leave_partition(p_applications bigint, p_longest_ms bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_last bigint;
  v_begin bigint;
  v_open_from constant bigint := (SELECT e.open_from FROM elapsed e);
  v_since_ms bigint;
BEGIN
  IF is_worker() THEN
    RETURN on_coordinator(format('SELECT leave_partition(%s, %s)', p_applications, p_longest_ms))::boolean;
  END IF;
  PERFORM pg_advisory_xact_lock(8726, 2);
  SELECT last_value INTO v_last FROM batch_numbers;
  v_begin := partition_end(v_last) - partition_width();
  -- The first number of a partition may be taken by leaving the one before.
  IF v_last = v_begin THEN RETURN false; END IF;
  -- The row of a partition that is deleted is gone, and that of one that another session still has to close is not
  -- there yet: the list may be held for minutes.
  v_since_ms := coalesce((SELECT s.closed_ms FROM closed_segments s WHERE s.ends_at = v_begin),
    CASE WHEN v_open_from < v_begin THEN elapsed_ms() ELSE 0 END);
  IF elapsed_ms() - v_since_ms < greatest(p_longest_ms, least_partition_ms())
    AND (SELECT coalesce(sum(s.applications), 0) FROM closed_segments s WHERE s.begins_at >= v_begin)
      + applications_between(greatest(v_open_from, v_begin), v_last + 1)
      < greatest(p_applications, least_partition_applications())
  THEN
    RETURN false;
  END IF;
  PERFORM make_batch_partitions();
  SET LOCAL lock_timeout = '500ms';
  ALTER SEQUENCE batch_numbers INCREMENT BY 1;
  SELECT last_value INTO v_last FROM batch_numbers;
  IF partition_end(v_last) > v_begin + partition_width() THEN RETURN false; END IF;
  PERFORM setval('batch_numbers', v_begin + partition_width());
  RETURN true;
END
$$;
SELECT runs_as_owner('leave_partition(bigint, bigint)');

-- Closes the segments whose partition was left, and the current one if it has about p_applications or the most batches.
-- At most 16 at a time, because on a cluster each takes many milliseconds; the next turn of the upkeep closes more.
CREATE OR REPLACE FUNCTION close_segments(p_applications bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_last bigint;
  v_from bigint;
  v_end bigint;
  v_applications bigint;
BEGIN
  IF is_worker() THEN
    PERFORM on_coordinator(format('SELECT close_segments(%s)', p_applications));
    RETURN;
  END IF;
  IF NOT hold_closed_segments() THEN RETURN; END IF;
  SELECT e.open_from INTO v_from FROM elapsed e;
  SELECT last_value INTO v_last FROM batch_numbers;
  FOR i IN 1..16 LOOP
    v_end := least(partition_end(v_from), v_last + 1);
    EXIT WHEN v_end <= v_from;
    v_applications := applications_between(v_from, v_end);
    EXIT WHEN v_end > v_last AND v_applications < p_applications AND v_end - v_from < segment_batches();
    INSERT INTO closed_segments (begins_at, ends_at, closed_ms, applications)
    VALUES (v_from, v_end, elapsed_ms(), v_applications);
    PERFORM put_open_from(v_end);
    v_from := v_end;
  END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION bucket_of(p_index bigint) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (p_index >> 53)::smallint;

-- Puts the batches of a segment into buckets, as p_table has them, but for applicants who are erased (0). Returns the
-- number of the applications in buckets.
CREATE OR REPLACE FUNCTION fill_segment(p_begins_at bigint, p_ends_at bigint, p_table text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_is_phone boolean;
  v_count bigint;
BEGIN
  FOREACH v_is_phone IN ARRAY ARRAY[true, false] LOOP
    EXECUTE format('INSERT INTO look_up_buckets (is_phone, bucket, begins_at, indexes, offsets)
      SELECT $1, bucket_of(u.index), $2, array_agg(u.index), array_agg((application_id_at(b.id - $2, 0) + u.n - 1)::integer)
      FROM %I b, unnest(CASE WHEN $1 THEN b.phones ELSE b.id_numbers END) WITH ORDINALITY AS u(index, n)
      WHERE b.id >= $2 AND b.id < $3 AND u.index IS NOT NULL AND u.index <> 0
      GROUP BY bucket_of(u.index)', p_table)
    USING v_is_phone, p_begins_at, p_ends_at;
  END LOOP;
  SELECT coalesce(sum(cardinality(k.indexes)), 0) INTO v_count FROM look_up_buckets k
  WHERE NOT k.is_phone AND k.begins_at = p_begins_at;
  UPDATE closed_segments SET in_buckets = true, applications = v_count WHERE ends_at = p_ends_at;
  RETURN v_count;
END
$$;

-- Joins a closed segment with the small ones before it, where they have enough applications together or the partition
-- ends here. Returns where it begins: the caller puts all of it into buckets.
CREATE OR REPLACE FUNCTION join_segments(p_closed closed_segments) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_end constant bigint := partition_end(p_closed.begins_at);
  v_from bigint;
  v_applications bigint;
BEGIN
  SELECT min(s.begins_at), p_closed.applications + sum(s.applications) INTO v_from, v_applications FROM closed_segments s
  WHERE s.begins_at >= v_end - partition_width() AND s.begins_at < p_closed.begins_at AND NOT EXISTS (
    SELECT FROM closed_segments h WHERE h.begins_at >= s.begins_at AND h.begins_at < p_closed.begins_at
      AND h.applications >= segment_applications() / 2);
  IF v_from IS NULL OR v_applications < segment_applications() AND p_closed.ends_at < v_end THEN RETURN p_closed.begins_at; END IF;
  -- The key begins with the bucket: without all of them by name the whole table is read.
  DELETE FROM look_up_buckets k
  WHERE k.is_phone = ANY ('{false,true}') AND k.bucket = ANY (ARRAY(SELECT generate_series(-1024, 1023)::smallint))
    AND k.begins_at >= v_from AND k.begins_at < p_closed.begins_at;
  DELETE FROM closed_segments s WHERE s.begins_at >= v_from AND s.begins_at < p_closed.begins_at;
  UPDATE closed_segments s SET begins_at = v_from, may_have_surplus = true WHERE s.ends_at = p_closed.ends_at;
  RETURN v_from;
END
$$;

-- Puts the oldest closed segment that is not in buckets into buckets. Returns its number of applications; NULL
-- if there is none, or another session does it. A batch may get its number before its segment closes and be stored
-- afterwards. Statements take seconds, so a minute has to pass first; a commit that waits for its standby can take
-- longer, and the lock on the partition waits for it.
CREATE OR REPLACE FUNCTION fill_look_up_buckets() RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_closed closed_segments;
  v_partition text;
BEGIN
  IF is_worker() THEN RETURN on_coordinator('SELECT fill_look_up_buckets()'); END IF;
  IF NOT hold_closed_segments() THEN RETURN NULL; END IF;
  SELECT * INTO v_closed FROM closed_segments
  WHERE ends_at = (SELECT min(ends_at) FROM closed_segments WHERE NOT in_buckets)
    AND closed_ms <= elapsed_ms() - ms_of(interval '1 minute');
  IF NOT FOUND THEN RETURN NULL; END IF;
  v_partition := 'batches_to_' || partition_end(v_closed.begins_at);
  -- Holds the lock for a moment: registrations into the partition in use wait for it, and the end of the block frees
  -- it.
  BEGIN
    PERFORM limit_lock_waits('500ms');
    EXECUTE format('LOCK TABLE %I IN SHARE MODE', v_partition);
    RAISE EXCEPTION 'free' USING ERRCODE = 'VN003';
  EXCEPTION WHEN SQLSTATE 'VN003' THEN
    NULL;
  END;
  IF to_regclass('pg_dist_shard') IS NOT NULL THEN
    -- On Citus that lock does not cover the parts of the table. A transaction that a machine prepared and did not
    -- commit holds its own lock.
    PERFORM FROM run_command_on_shards(v_partition, $command$
      DO $do$ BEGIN
        SET LOCAL lock_timeout = '500ms';
        SET LOCAL citus.enable_manual_changes_to_shards = on;
        LOCK TABLE %s IN SHARE MODE;
      END $do$ $command$) AS s WHERE NOT s.success;
    IF FOUND THEN RAISE EXCEPTION 'a part of the partition cannot be locked' USING ERRCODE = 'lock_not_available'; END IF;
  END IF;
  RETURN fill_segment(join_segments(v_closed), v_closed.ends_at, v_partition);
END
$$;
SELECT runs_as_owner('fill_look_up_buckets()');

-- The ids of the applications with one of these phones and one of these ID numbers (NULL: any), in a range of batches.
-- The caller knows whether all of it is in buckets; where none is, it has few partitions (lookUpParts).
CREATE OR REPLACE FUNCTION look_up(p_phones bigint[], p_id_numbers bigint[], p_from bigint, p_before bigint, p_in_buckets boolean)
RETURNS SETOF bigint
LANGUAGE plpgsql STABLE ROWS 10
SET plan_cache_mode = force_custom_plan
SET jit = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
BEGIN
  IF p_in_buckets THEN
    RETURN QUERY SELECT application_id_at(k.begins_at, u."offset")
    FROM (SELECT true AS is_phone, unnest(p_phones) AS index UNION ALL SELECT false, unnest(p_id_numbers)) AS w
    JOIN look_up_buckets k ON k.is_phone = w.is_phone AND k.bucket = bucket_of(w.index) AND w.index = ANY (k.indexes)
      AND k.begins_at >= p_from AND k.begins_at < p_before
    CROSS JOIN LATERAL unnest(k.indexes, k.offsets) AS u(index, "offset") WHERE u.index = w.index
    GROUP BY 1 HAVING (p_phones IS NULL OR bool_or(k.is_phone)) AND (p_id_numbers IS NULL OR bool_or(NOT k.is_phone));
  ELSE
    RETURN QUERY SELECT application_id_at(b.id, p) FROM batches b, generate_series(0, cardinality(b.id_numbers) - 1) AS p
    WHERE b.id >= p_from AND b.id < p_before AND (p_phones IS NULL OR b.phones && p_phones)
      AND (p_id_numbers IS NULL OR b.id_numbers && p_id_numbers)
      AND (p_phones IS NULL OR b.phones[p + 1] = ANY (p_phones))
      AND (p_id_numbers IS NULL OR b.id_numbers[p + 1] = ANY (p_id_numbers));
  END IF;
END
$$;

-- The ids of the applications with this phone, and of those with this ID number (NULL: of none), in such a range. Both
-- in one scan of the batches, which takes most of the time; an array is taken apart only where the value is in it.
CREATE OR REPLACE FUNCTION look_up_person(p_phone bigint, p_id_number bigint, p_from bigint, p_before bigint, p_in_buckets boolean)
RETURNS TABLE (id bigint, is_phone boolean)
LANGUAGE plpgsql STABLE ROWS 10
SET plan_cache_mode = force_custom_plan
SET jit = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
BEGIN
  IF p_in_buckets THEN
    RETURN QUERY SELECT application_id_at(k.begins_at, u."offset"), w.is_phone
    FROM (SELECT true AS is_phone, p_phone AS index UNION ALL SELECT false, p_id_number) AS w
    JOIN look_up_buckets k ON k.is_phone = w.is_phone AND k.bucket = bucket_of(w.index) AND w.index = ANY (k.indexes)
      AND k.begins_at >= p_from AND k.begins_at < p_before
    CROSS JOIN LATERAL unnest(k.indexes, k.offsets) AS u(index, "offset") WHERE u.index = w.index;
  ELSE
    RETURN QUERY SELECT application_id_at(b.id, p), t.is_phone
    FROM batches b, generate_series(0, cardinality(b.id_numbers) - 1) AS p, unnest('{true,false}'::boolean[]) AS t(is_phone)
    WHERE b.id >= p_from AND b.id < p_before AND (p_phone = ANY (b.phones) OR p_id_number = ANY (b.id_numbers))
      AND CASE WHEN t.is_phone THEN b.phones[p + 1] = p_phone ELSE b.id_numbers[p + 1] = p_id_number END;
  END IF;
END
$$;
