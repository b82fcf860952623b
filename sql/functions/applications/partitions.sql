-- The partitions of batches, and of the records of their messages, which are partitioned as batches are.

-- The batch numbers of a partition of batches: 2^23. Partitions begin at multiples of the width, so a number tells its
-- partition. The width suits batches of one application. Of larger batches a partition takes fewer numbers: the upkeep
-- leaves the partition when it holds enough applications (leave_partition).
CREATE OR REPLACE FUNCTION partition_width() RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 8388608;

-- Where the partition of a batch ends.
CREATE OR REPLACE FUNCTION partition_end(p_number bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (p_number / partition_width() + 1) * partition_width();

-- Makes the tables of a partition, which are attached later: batches_to_SUFFIX and message_records_to_SUFFIX.
CREATE OR REPLACE FUNCTION make_partition_tables(p_suffix text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_name text;
BEGIN
  v_name := 'batches_to_' || p_suffix;
  EXECUTE format('CREATE TABLE %I (LIKE batches INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE,
    PRIMARY KEY (id))', v_name);
  EXECUTE format('CREATE INDEX ON %I (partner_id, id)', v_name);
  EXECUTE format('CREATE INDEX ON %I (id) WHERE surplus', v_name);
  v_name := 'message_records_to_' || p_suffix;
  EXECUTE format('CREATE TABLE %I (LIKE message_records INCLUDING DEFAULTS INCLUDING CONSTRAINTS,
    PRIMARY KEY (message_id)) WITH (fillfactor = 80)', v_name);
  -- Not unique: if a channel gives one id twice, the records of other messages must not fail because of that.
  EXECUTE format('CREATE INDEX ON %I (channel_message_id) WHERE channel_message_id IS NOT NULL', v_name);
END
$$;

-- Attaches the tables batches_to_P_END and message_records_to_P_END as the partition that ends at p_end.
CREATE OR REPLACE FUNCTION attach_partition_tables(p_end bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_begin constant bigint := p_end - partition_width();
BEGIN
  EXECUTE format('ALTER TABLE batches ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)',
    'batches_to_' || p_end, v_begin, p_end);
  EXECUTE format('ALTER TABLE message_records ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)',
    'message_records_to_' || p_end, application_id_at(v_begin, 0), application_id_at(p_end, 0));
END
$$;

-- Makes partitions until a whole partition follows the one in use. Returns how many it made. Any number of sessions may
-- call this at once. Waits for a second at most for each lock of a session that does something else, on all machines of
-- a cluster. Where a shard moves, Citus refuses the partition.
CREATE OR REPLACE FUNCTION make_batch_partitions() RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_last bigint;
  v_end bigint;
  v_made integer := 0;
BEGIN
  IF is_worker() THEN RETURN on_coordinator('SELECT make_batch_partitions()'); END IF;
  PERFORM pg_advisory_xact_lock(8726, 2);
  SELECT last_value INTO v_last FROM batch_numbers;
  SELECT e.partitions_end INTO v_end FROM elapsed e;
  IF v_end <= v_last + partition_width() THEN PERFORM limit_lock_waits('1s'); END IF;
  WHILE v_end <= v_last + partition_width() LOOP
    v_end := v_end + partition_width();
    -- Attaches tables instead of creating them as parts, so that registrations go on meanwhile.
    PERFORM make_partition_tables(v_end::text);
    PERFORM attach_partition_tables(v_end);
    v_made := v_made + 1;
  END LOOP;
  IF v_made > 0 THEN PERFORM put_partitions_end(v_end); END IF;
  RETURN v_made;
END
$$;
SELECT runs_as_owner('make_batch_partitions()');

SELECT make_batch_partitions();

-- The last batch number that was given, and the transactions under way that may have taken it or one before. A
-- transaction that takes a number keeps its lock on the sequence until it has ended and all sessions see what it wrote.
-- So when those are gone, no batch up to that number is still to come. Nothing waits for this.
CREATE OR REPLACE FUNCTION numbers_taken(OUT last bigint, OUT takers text[])
LANGUAGE plpgsql AS $$
BEGIN
  IF is_worker() THEN
    SELECT r.last, r.takers INTO last, takers
    FROM json_to_record(on_coordinator('SELECT row_to_json(n) FROM numbers_taken() AS n')::json) AS r(last bigint, takers text[]);
    RETURN;
  END IF;
  -- The number first: whoever takes a later one meanwhile is of no concern.
  SELECT CASE WHEN n.is_called THEN n.last_value ELSE n.last_value - 1 END INTO last FROM batch_numbers n;
  takers := ARRAY(
    SELECT l.virtualtransaction FROM pg_locks l
    WHERE l.locktype = 'relation' AND l.relation = 'batch_numbers'::regclass AND l.granted AND l.mode = 'RowExclusiveLock'
      AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()));
END
$$;
