-- Changes the sealed values of one applicant, and the blind index of the ID number (docs/subject.md, "Correct"). The
-- head of 0004_messages.sql gives the order of locks.

-- Until the end of the transaction no session fills look-up buckets or writes a partition again, as hold_for_erasure
-- says. Raises VN006 in a session on a worker of Citus.
CREATE OR REPLACE FUNCTION hold_for_correction() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF is_worker() THEN
    RAISE EXCEPTION 'a correction needs the coordinator' USING ERRCODE = 'VN006';
  END IF;
  PERFORM pg_advisory_xact_lock_shared(8726, 3);
END
$$;

-- Puts an application into the look-up bucket of its ID number, where its segment is in buckets.
CREATE OR REPLACE FUNCTION add_to_bucket(p_id bigint, p_id_number bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_bucket constant smallint := bucket_of(p_id_number);
  v_begins_at bigint;
  v_offset integer;
BEGIN
  SELECT s.begins_at INTO v_begins_at FROM closed_segments s
  WHERE s.in_buckets AND batch_of(p_id) >= s.begins_at AND batch_of(p_id) < s.ends_at;
  IF v_begins_at IS NULL THEN RETURN; END IF;
  v_offset := (p_id - application_id_at(v_begins_at, 0))::integer;
  INSERT INTO look_up_buckets AS k (is_phone, bucket, begins_at, indexes, offsets)
  VALUES (false, v_bucket, v_begins_at, ARRAY[p_id_number], ARRAY[v_offset])
  ON CONFLICT (is_phone, bucket, begins_at)
  DO UPDATE SET indexes = k.indexes || EXCLUDED.indexes, offsets = k.offsets || EXCLUDED.offsets;
END
$$;

-- Writes the envelope of a batch that the caller has locked, with the corrected values of an application, and the blind
-- index of its ID number.
CREATE OR REPLACE FUNCTION correct_applicant(p_id bigint, p_envelope bytea, p_id_number bigint) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_batches constant bigint[] := ARRAY[batch_of(p_id)];
  v_position constant integer := position_of(p_id) + 1;
  v_id_numbers bigint[];
BEGIN
  SELECT b.id_numbers INTO v_id_numbers FROM batches b WHERE b.id = ANY (v_batches);
  IF v_id_numbers[v_position] <> p_id_number THEN
    PERFORM erase_from_buckets(false, ARRAY[v_id_numbers[v_position]], ARRAY[p_id]);
    PERFORM add_to_bucket(p_id, p_id_number);
    v_id_numbers[v_position] := p_id_number;
  END IF;
  -- The envelope holds nobody who was refused any more.
  UPDATE batches b SET envelope = p_envelope, id_numbers = v_id_numbers, surplus = false WHERE b.id = ANY (v_batches);
END
$$;
