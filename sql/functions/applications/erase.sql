-- Takes a person out of applications (docs/subject.md): the amounts, the points, the decision and the status stay. The
-- head of 0004_messages.sql gives the order of locks.

-- The blind index of an ID number that is erased: NULL would say that there is no application at the position.
CREATE OR REPLACE FUNCTION erased_index() RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 0;

-- Locks applications until the end of the transaction, and lets them hold no phone and have no interest any more.
-- Returns those that are not erased yet, each with its status; one whose decision cannot be read counts as in review.
--
-- The shared lock of the list of closed segments comes first: while it is held no session fills look-up buckets or
-- writes a partition again, so neither brings an erased index back. The lock is one of the coordinator: raises VN006 in
-- a session on a worker of Citus.
CREATE OR REPLACE FUNCTION hold_for_erasure(p_ids bigint[])
RETURNS TABLE (id bigint, status application_status, phone_index bigint, seal_id uuid)
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
DECLARE
  v_ids bigint[];
  v_statuses application_status[];
  v_phones bigint[];
  v_phone bigint;
  v_holder bigint;
  v_batches bigint[];
BEGIN
  IF is_worker() THEN
    RAISE EXCEPTION 'an erasure needs the coordinator' USING ERRCODE = 'VN006';
  END IF;
  PERFORM pg_advisory_xact_lock_shared(8726, 3);
  SELECT array_agg(a.id ORDER BY a.id), array_agg(coalesce(a.status, 'in_review') ORDER BY a.id)
  INTO v_ids, v_statuses FROM applications_of(p_ids) AS a;
  IF v_ids IS NULL THEN RETURN; END IF;
  INSERT INTO application_states AS s (batch_id, application_id, status)
  SELECT batch_of(u.id), u.id, u.status FROM unnest(v_ids, v_statuses) AS u(id, status) ORDER BY u.id
  ON CONFLICT (batch_id, application_id) DO UPDATE SET interested_at = NULL;
  v_batches := ARRAY(SELECT DISTINCT batch_of(u.id) FROM unnest(v_ids) AS u(id));
  PERFORM FROM review_queue q WHERE q.batch_id = ANY (v_batches) ORDER BY q.batch_id FOR UPDATE;
  -- Reads the rows again after the locks: another session may have erased the same ones.
  SELECT array_agg(a.id), array_agg(a.phone_index), array_agg(a.status) INTO v_ids, v_phones, v_statuses
  FROM applications_of(v_ids) AS a WHERE a.id_number_index <> erased_index();
  IF v_ids IS NULL THEN RETURN; END IF;
  -- A partner may have sent very many phones with one ID number, and few of them are held. No session takes another one
  -- for an application that is locked.
  FOR v_phone, v_holder IN SELECT o.phone_index, o.application_id FROM open_phones o
    WHERE o.phone_index = ANY (v_phones) AND o.application_id = ANY (v_ids) ORDER BY o.phone_index
  LOOP
    DELETE FROM open_phones o WHERE o.phone_index = v_phone AND o.application_id = v_holder;
  END LOOP;
  RETURN QUERY SELECT g.id, g.status, g.phone, b.seal_id FROM unnest(v_ids, v_statuses, v_phones) AS g(id, status, phone)
  JOIN (SELECT t.id, t.seal_id FROM batches t WHERE t.id = ANY (v_batches)) AS b ON b.id = batch_of(g.id);
END
$$;

-- Takes applications out of the look-up buckets of these blind indexes, of the phones or of the ID numbers.
CREATE OR REPLACE FUNCTION erase_from_buckets(p_is_phone boolean, p_indexes bigint[], p_ids bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_buckets constant smallint[] := ARRAY(SELECT DISTINCT bucket_of(u.index) FROM unnest(p_indexes) AS u(index));
  v_segments constant bigint[] := ARRAY(
    SELECT s.begins_at FROM closed_segments s
    WHERE s.in_buckets AND EXISTS (
      SELECT FROM unnest(p_ids) AS u(id) WHERE batch_of(u.id) >= s.begins_at AND batch_of(u.id) < s.ends_at));
BEGIN
  -- Another session may be changing the same bucket: the next statement sees what that one has left.
  PERFORM FROM look_up_buckets k
  WHERE k.is_phone = p_is_phone AND k.bucket = ANY (v_buckets) AND k.begins_at = ANY (v_segments)
  ORDER BY k.bucket, k.begins_at FOR NO KEY UPDATE;
  UPDATE look_up_buckets k SET indexes = c.indexes, offsets = c.offsets
  FROM (
    SELECT h.bucket, h.begins_at, coalesce(array_agg(u.index ORDER BY u.n) FILTER (WHERE u.stays), '{}') AS indexes,
      coalesce(array_agg(u."offset" ORDER BY u.n) FILTER (WHERE u.stays), '{}') AS offsets
    FROM look_up_buckets h
    CROSS JOIN LATERAL (
      SELECT e.index, e."offset", e.n, application_id_at(h.begins_at, e."offset") <> ALL (p_ids) AS stays
      FROM unnest(h.indexes, h.offsets) WITH ORDINALITY AS e(index, "offset", n)) AS u
    WHERE h.is_phone = p_is_phone AND h.bucket = ANY (v_buckets) AND h.begins_at = ANY (v_segments)
    GROUP BY h.bucket, h.begins_at
  ) AS c
  WHERE k.is_phone = p_is_phone AND k.bucket = c.bucket AND k.begins_at = c.begins_at;
END
$$;

-- Puts one word in the place of each reason in the history of erased applications: a reason is free text. Runs as the
-- owner, because the runtime role may not change the history: it does so for those that the erasure is of.
CREATE OR REPLACE FUNCTION erase_reasons(p_ids bigint[], p_erasure uuid) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM require_erasure(p_erasure, p_ids);
  UPDATE application_events e SET reason = 'erased' WHERE e.application_id = ANY (p_ids);
END
$$;
SELECT runs_as_owner('erase_reasons(bigint[], uuid)');

-- Locks these batches in the order of their ids, and returns them. One after the other, because a cluster locks no
-- rows of several shards in one statement.
CREATE OR REPLACE FUNCTION lock_batches(p_ids bigint[]) RETURNS SETOF batches
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_id bigint;
BEGIN
  FOR v_id IN SELECT DISTINCT u.id FROM unnest(p_ids) AS u(id) ORDER BY u.id LOOP
    RETURN QUERY SELECT b.* FROM batches b WHERE b.id = v_id FOR NO KEY UPDATE;
  END LOOP;
END
$$;

-- Erases applications whose batches the caller has locked, all of them of these batches: their blind indexes, their
-- part of the envelopes and the texts of their history. p_envelopes: of each batch the envelope without them; NULL:
-- nobody is left in it. p_opened: false where the envelope does not open, so that it stays.
CREATE OR REPLACE FUNCTION erase_applicants(
  p_ids bigint[], p_batches bigint[], p_envelopes bytea[], p_opened boolean[], p_erasure uuid
) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_phones bigint[];
  v_id_numbers bigint[];
BEGIN
  SELECT array_agg(b.phones[position_of(g.id) + 1]), array_agg(b.id_numbers[position_of(g.id) + 1])
  INTO v_phones, v_id_numbers
  FROM unnest(p_ids) AS g(id)
  JOIN (SELECT t.id, t.phones, t.id_numbers FROM batches t WHERE t.id = ANY (p_batches)) AS b ON b.id = batch_of(g.id);
  PERFORM erase_from_buckets(true, v_phones, p_ids);
  PERFORM erase_from_buckets(false, v_id_numbers, p_ids);
  UPDATE batches b SET
    phones = ARRAY(
      SELECT CASE WHEN application_id_at(b.id, u.n::integer - 1) <> ALL (p_ids) THEN u.index END
      FROM unnest(b.phones) WITH ORDINALITY AS u(index, n) ORDER BY u.n),
    id_numbers = ARRAY(
      SELECT CASE WHEN application_id_at(b.id, u.n::integer - 1) <> ALL (p_ids) THEN u.index ELSE erased_index() END
      FROM unnest(b.id_numbers) WITH ORDINALITY AS u(index, n) ORDER BY u.n),
    envelope = CASE WHEN g.is_opened THEN g.envelope ELSE b.envelope END,
    surplus = b.surplus AND NOT g.is_opened
  FROM unnest(p_batches, p_envelopes, p_opened) AS g(id, envelope, is_opened)
  WHERE b.id = ANY (p_batches) AND b.id = g.id;
  PERFORM erase_reasons(p_ids, p_erasure);
END
$$;
