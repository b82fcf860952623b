-- How an operator finds applications by phone or ID number (docs/decisions/0006). Every registration would touch an
-- index over all applications at random. Instead the blind indexes of a partition of batches are put into buckets
-- once, when no batch can come into it any more. A search reads one bucket for each value and partition, and scans the
-- newer partitions, which are not in buckets yet.

-- Partitions that batch numbers have left behind. They are put into buckets in their order, so all partitions before
-- one in buckets are in buckets as well.
CREATE TABLE closed_partitions (
  -- The first batch number of the partition, and that of the next one.
  begins_at bigint NOT NULL,
  ends_at bigint PRIMARY KEY,
  -- elapsed_ms() when the partition was first seen to be closed.
  closed_ms bigint NOT NULL,
  in_buckets boolean NOT NULL DEFAULT false
);

-- Locks the list until the end of the transaction; false if another session holds it. A session that read the
-- partitions while another one drops one would list the dropped one again, and fail on it for ever.
CREATE FUNCTION hold_closed_partitions() RETURNS boolean
LANGUAGE sql
RETURN pg_try_advisory_xact_lock(8726, 3);

CREATE TABLE look_up_buckets (
  is_phone boolean NOT NULL,
  -- The first 11 bits of the blind index. A partition of 1.6 million applications has 800 in a bucket.
  bucket smallint NOT NULL,
  begins_at bigint NOT NULL,
  -- Blind indexes, and the application of each: its id minus the first id of the partition.
  indexes bigint[] NOT NULL,
  places integer[] NOT NULL,
  PRIMARY KEY (is_phone, bucket, begins_at)
);
ALTER TABLE look_up_buckets ALTER COLUMN indexes SET STORAGE EXTERNAL, ALTER COLUMN places SET STORAGE EXTERNAL;

CREATE FUNCTION bucket_of(p_index bigint) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (p_index >> 53)::smallint;

-- Puts the oldest closed partition that is not in buckets into buckets. Returns its number of applications; NULL if
-- there is none, or another session does it. A batch may get its number before its partition closes and be stored
-- afterwards. Statements take seconds, so a minute has to pass first; a commit that waits for its standby can take
-- longer, and the lock on the partition waits for it.
CREATE FUNCTION fill_look_up_buckets() RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_now_ms constant bigint := elapsed_ms();
  v_last bigint;
  v_closed closed_partitions;
  v_is_phone boolean;
  v_count bigint;
BEGIN
  IF is_worker() THEN RETURN on_coordinator('SELECT fill_look_up_buckets()'); END IF;
  IF NOT hold_closed_partitions() THEN RETURN NULL; END IF;
  SELECT last_value INTO v_last FROM batch_numbers;
  INSERT INTO closed_partitions (begins_at, ends_at, closed_ms)
  SELECT p.begins_at, p.ends_at, v_now_ms FROM (
    SELECT substring(pg_get_expr(c.relpartbound, c.oid) FROM 'FROM \(''(\d+)''')::bigint AS begins_at,
      substring(c.relname FROM '[0-9]+$')::bigint AS ends_at
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'batches'::regclass
  ) AS p WHERE p.ends_at <= v_last
  ON CONFLICT DO NOTHING;

  SELECT * INTO v_closed FROM closed_partitions
  WHERE ends_at = (SELECT min(ends_at) FROM closed_partitions WHERE NOT in_buckets) AND closed_ms <= v_now_ms - 60000;
  IF NOT FOUND THEN RETURN NULL; END IF;
  EXECUTE format('LOCK TABLE %I IN SHARE MODE', 'batches_to_' || v_closed.ends_at);
  IF to_regclass('pg_dist_shard') IS NOT NULL THEN
    -- On Citus that lock does not cover the parts of the table. A transaction that a machine prepared and did not
    -- commit holds its own lock.
    PERFORM FROM run_command_on_shards('batches_to_' || v_closed.ends_at, $command$
      DO $do$ BEGIN
        SET LOCAL citus.enable_manual_changes_to_shards = on;
        LOCK TABLE %s IN SHARE MODE;
      END $do$ $command$) AS s WHERE NOT s.success;
    IF FOUND THEN RAISE EXCEPTION 'a part of the partition cannot be locked' USING ERRCODE = 'lock_not_available'; END IF;
  END IF;

  FOREACH v_is_phone IN ARRAY ARRAY[true, false] LOOP
    INSERT INTO look_up_buckets (is_phone, bucket, begins_at, indexes, places)
    SELECT v_is_phone, bucket_of(u.index), v_closed.begins_at, array_agg(u.index),
      array_agg(((b.id - v_closed.begins_at) * 128 + u.n - 1)::integer)
    FROM batches b,
      unnest(CASE WHEN v_is_phone THEN b.phones ELSE b.id_numbers END) WITH ORDINALITY AS u(index, n)
    WHERE b.id >= v_closed.begins_at AND b.id < v_closed.ends_at AND u.index IS NOT NULL GROUP BY bucket_of(u.index);
  END LOOP;

  UPDATE closed_partitions SET in_buckets = true WHERE ends_at = v_closed.ends_at;
  SELECT coalesce(sum(cardinality(k.indexes)), 0) INTO v_count FROM look_up_buckets k
  WHERE NOT k.is_phone AND k.begins_at = v_closed.begins_at;
  RETURN v_count;
END
$$;

-- The ids of the applications with one of these phones and one of these ID numbers. NULL: any; one of the two has to be
-- there.
CREATE FUNCTION look_up(p_phones bigint[], p_id_numbers bigint[]) RETURNS SETOF bigint
LANGUAGE plpgsql STABLE ROWS 10
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
  v_from constant bigint := coalesce((SELECT max(ends_at) FROM closed_partitions WHERE in_buckets), 0);
BEGIN
  RETURN QUERY
  SELECT f.id FROM (
    SELECT k.begins_at * 128 + u.place AS id, k.is_phone
    FROM (SELECT true AS is_phone, unnest(p_phones) AS index UNION ALL SELECT false, unnest(p_id_numbers)) AS w
    JOIN look_up_buckets k ON k.is_phone = w.is_phone AND k.bucket = bucket_of(w.index)
    CROSS JOIN LATERAL unnest(k.indexes, k.places) AS u(index, place) WHERE u.index = w.index
  ) AS f
  GROUP BY f.id
  HAVING (p_phones IS NULL OR bool_or(f.is_phone)) AND (p_id_numbers IS NULL OR bool_or(NOT f.is_phone))
  UNION ALL
  SELECT b.id * 128 + p FROM batches b, generate_series(0, cardinality(b.id_numbers) - 1) AS p
  WHERE b.id >= v_from AND (p_phones IS NULL OR b.phones && p_phones)
    AND (p_id_numbers IS NULL OR b.id_numbers && p_id_numbers)
    AND (p_phones IS NULL OR b.phones[p + 1] = ANY (p_phones))
    AND (p_id_numbers IS NULL OR b.id_numbers[p + 1] = ANY (p_id_numbers));
END
$$;
