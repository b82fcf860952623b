-- Which candidates of batches register: the parts of register_batches that decide, and that take phones, numbers and
-- quota.

-- The last position of a batch that is tried if p_room applications fit (D16). An invalid one or a duplicate needs no
-- room.
CREATE OR REPLACE FUNCTION last_tried(p_room bigint, a_follows_open boolean[], a_phone bigint[], a_id_number bigint[])
RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_room bigint := p_room;
  v_tried integer := 0;
BEGIN
  WHILE v_room > 0 AND v_tried < cardinality(a_id_number) LOOP
    v_tried := v_tried + 1;
    CONTINUE WHEN a_id_number[v_tried] IS NULL OR a_follows_open[v_tried]
      OR EXISTS (SELECT FROM open_phones o WHERE o.phone_index = a_phone[v_tried]);
    v_room := v_room - 1;
  END LOOP;
  RETURN v_tried;
END
$$;

-- The batches whose verdict is 'done' keep to the caps of their keys (D16): a batch near its cap goes alone, and only
-- as far as its quota reaches. Returns the verdicts, 'alone' for batches that have to be called again one by one, and
-- the last position that is tried. A decision of this moment: charge_partners decides again under the lock.
CREATE OR REPLACE FUNCTION keep_to_caps(
  p_at timestamptz, p_partner integer[], p_cap integer[], b_candidates integer[],
  a_follows_open boolean[], a_phone bigint[], a_id_number bigint[], INOUT verdict text[], OUT tried integer
)
LANGUAGE plpgsql AS $$
DECLARE
  v_partner record;
  v_room bigint;
BEGIN
  tried := cardinality(a_id_number);
  FOR v_partner IN SELECT p_partner[n] AS id, sum(b_candidates[n]) AS candidates, min(p_cap[n]) AS least_cap
    FROM generate_series(1, cardinality(verdict)) AS n WHERE verdict[n] = 'done'
    GROUP BY p_partner[n] HAVING min(p_cap[n]) IS NOT NULL
  LOOP
    v_room := v_partner.least_cap - usage_at(v_partner.id, p_at);
    CONTINUE WHEN v_partner.candidates <= v_room;
    IF cardinality(verdict) = 1 THEN
      tried := last_tried(v_room, a_follows_open, a_phone, a_id_number);
      RETURN;
    END IF;
    FOR n IN 1..cardinality(verdict) LOOP
      IF p_partner[n] = v_partner.id AND verdict[n] = 'done' THEN verdict[n] := 'alone'; END IF;
    END LOOP;
  END LOOP;
END
$$;

-- Whether all these phones have an open application; false where one is NULL.
CREATE OR REPLACE FUNCTION are_open(p_phones bigint[]) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  RETURN p_phones <@ ARRAY(SELECT o.phone_index FROM open_phones o WHERE o.phone_index = ANY (p_phones));
END
$$;

-- The verdicts, but 'none' for batches that have no candidate with a free phone.
CREATE OR REPLACE FUNCTION taking_batches(
  p_verdict text[], p_first integer[], p_tried integer, b_positions integer[], b_candidates integer[],
  b_refused_before boolean[], a_phone bigint[], a_id_number bigint[]
) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
  v_taking text[] := p_verdict;
BEGIN
  FOR n IN 1..cardinality(p_verdict) LOOP
    CONTINUE WHEN p_verdict[n] <> 'done';
    IF b_candidates[n] = 0 OR (b_refused_before[n] AND are_open(ARRAY(
      SELECT a_phone[i] FROM generate_series(p_first[n], least(p_first[n] + b_positions[n] - 1, p_tried)) AS i
      WHERE a_id_number[i] IS NOT NULL)))
    THEN
      v_taking[n] := 'none';
    END IF;
  END LOOP;
  RETURN v_taking;
END
$$;

-- A number for each batch whose verdict is 'done', NULL for the others. p_partitions_end: of elapsed. Raises
-- check_violation if the partition of a number is missing.
CREATE OR REPLACE FUNCTION number_batches(p_verdict text[], p_partitions_end bigint) RETURNS bigint[]
LANGUAGE plpgsql AS $$
DECLARE
  v_wanted constant integer := cardinality(array_positions(p_verdict, 'done'));
  -- Reads from elapsed, and takes the sequence's name as text, so that the machine with the table gives the numbers
  -- where the database is spread over machines.
  v_given constant bigint[] := ARRAY(SELECT nextval('batch_numbers'::text) FROM elapsed, generate_series(1, v_wanted));
  v_number bigint[] := array_fill(NULL::bigint, ARRAY[cardinality(p_verdict)]);
  v_used integer := 0;
BEGIN
  -- Checked here, because another machine's error would not say that the partition is missing.
  IF v_given[v_wanted] >= p_partitions_end THEN
    RAISE EXCEPTION 'no partition for batch %', v_given[v_wanted] USING ERRCODE = 'check_violation';
  END IF;
  FOR n IN 1..cardinality(p_verdict) LOOP
    CONTINUE WHEN p_verdict[n] <> 'done';
    v_used := v_used + 1;
    v_number[n] := v_given[v_used];
  END LOOP;
  RETURN v_number;
END
$$;

-- Looks at the phones of the candidates up to p_tried in batches whose verdict is 'done'; all candidates of batches
-- whose verdict is 'none' are duplicates. An open application takes its phone or finds it taken, and waits for a
-- session that is just taking it. A rejected one takes nothing: it is a duplicate if it finds an open one there. It
-- looks first, so that it does not find open ones of its own batch that come after it. Returns the positions in a_* of
-- duplicates, and the applications that took their phone.
CREATE OR REPLACE FUNCTION take_phones(
  p_tried integer, p_verdict text[], p_number bigint[], p_first integer[],
  a_batch smallint[], a_follows_open boolean[], a_phone bigint[], a_id_number bigint[], a_decision decision[],
  OUT duplicates integer[], OUT taken bigint[]
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_held bigint[];
  v_open integer;
BEGIN
  v_held := ARRAY(
    SELECT a_phone[i] FROM generate_series(1, p_tried) AS i
    WHERE a_decision[i] = 'rejected' AND a_phone[i] IS NOT NULL AND p_verdict[a_batch[i]] = 'done');
  IF v_held <> '{}' THEN
    v_held := ARRAY(SELECT o.phone_index FROM open_phones o WHERE o.phone_index = ANY (v_held));
  END IF;
  duplicates := ARRAY(
    SELECT i FROM generate_series(1, p_tried) AS i
    WHERE p_verdict[a_batch[i]] = 'done'
        AND (a_follows_open[i] OR (a_decision[i] = 'rejected' AND a_phone[i] = ANY (v_held)))
      OR p_verdict[a_batch[i]] = 'none' AND a_id_number[i] IS NOT NULL);

  WITH open AS (
    SELECT a_phone[i] AS phone_index, application_id_at(p_number[a_batch[i]], i - p_first[a_batch[i]]) AS application_id
    FROM generate_series(1, p_tried) AS i
    WHERE a_phone[i] IS NOT NULL AND a_decision[i] <> 'rejected' AND NOT a_follows_open[i]
      AND p_verdict[a_batch[i]] = 'done'
  ), inserted AS (
    INSERT INTO open_phones (phone_index, application_id)
    SELECT o.phone_index, o.application_id FROM open o ORDER BY o.phone_index
    ON CONFLICT (phone_index) DO NOTHING
    RETURNING application_id
  )
  SELECT (SELECT count(*) FROM open), coalesce(array_agg(t.application_id), '{}') INTO v_open, taken FROM inserted t;

  IF cardinality(taken) < v_open THEN
    duplicates := duplicates || ARRAY(
      SELECT i FROM generate_series(1, p_tried) AS i
      WHERE a_phone[i] IS NOT NULL AND a_decision[i] <> 'rejected' AND NOT a_follows_open[i]
        AND p_verdict[a_batch[i]] = 'done'
        AND application_id_at(p_number[a_batch[i]], i - p_first[a_batch[i]]) <> ALL (taken));
  END IF;
END
$$;

-- The number of candidates of each batch that register: those up to p_tried that are no duplicates.
CREATE OR REPLACE FUNCTION registered_of(
  p_verdict text[], p_tried integer, p_duplicates integer[], b_candidates integer[], a_batch smallint[],
  a_id_number bigint[]
) RETURNS integer[]
LANGUAGE plpgsql AS $$
DECLARE
  v_registered integer[] := b_candidates;
  v_duplicate integer;
BEGIN
  FOR n IN 1..cardinality(p_verdict) LOOP
    IF p_verdict[n] <> 'done' THEN v_registered[n] := 0; END IF;
  END LOOP;
  FOREACH v_duplicate IN ARRAY p_duplicates LOOP
    v_registered[a_batch[v_duplicate]] := v_registered[a_batch[v_duplicate]] - 1;
  END LOOP;
  -- Only a batch that goes alone is not tried to its end.
  IF p_tried < cardinality(a_id_number) THEN
    v_registered[1] := v_registered[1] - cardinality(array_remove(a_id_number[p_tried + 1:], NULL));
  END IF;
  RETURN v_registered;
END
$$;

-- The position of the last application that fits into p_room, out of those up to p_tried; 0 if none does.
CREATE OR REPLACE FUNCTION last_that_fits(p_room bigint, p_tried integer, a_id_number bigint[], p_duplicates integer[])
RETURNS integer
LANGUAGE plpgsql AS $$
BEGIN
  RETURN (
    SELECT coalesce(min(x.i), 0) FROM (
      SELECT i, count(*) FILTER (WHERE a_id_number[i] IS NOT NULL AND i <> ALL (p_duplicates)) OVER (ORDER BY i) AS used
      FROM generate_series(1, p_tried) AS i) AS x
    WHERE x.used = p_room AND p_room > 0);
END
$$;

-- Adds what the batches register to the usage of their partners, and locks the usage of partners with a capped key in
-- this call. Where other sessions used up the quota meanwhile, fewer candidates register (D16). Returns the number of
-- registered candidates of each batch, and the last position that is tried. p_taken: as take_phones returns it. Raises
-- VN001 as register_batches does.
CREATE OR REPLACE FUNCTION charge_partners(
  p_at timestamptz, p_verdict text[], p_partner integer[], p_cap integer[], p_duplicates integer[], p_taken bigint[],
  b_candidates integer[], a_phone bigint[], a_id_number bigint[], INOUT registered integer[], INOUT tried integer
)
LANGUAGE plpgsql AS $$
DECLARE
  v_partner record;
  v_used bigint;
  v_added integer;
  v_batch integer;
  v_room bigint;
BEGIN
  FOR v_partner IN SELECT p_partner[n] AS id, array_agg(n ORDER BY n) AS batches, min(p_cap[n]) AS least_cap
    FROM generate_series(1, cardinality(p_verdict)) AS n
    WHERE tried > 0 AND p_verdict[n] = 'done' AND (registered[n] > 0 OR p_cap[n] IS NOT NULL)
    GROUP BY p_partner[n] ORDER BY p_partner[n]
  LOOP
    IF v_partner.least_cap IS NOT NULL THEN
      PERFORM 1 FROM usage_totals t WHERE t.partner_id = v_partner.id FOR NO KEY UPDATE;
      v_used := usage_at(v_partner.id, p_at);
    END IF;
    v_added := 0;
    FOREACH v_batch IN ARRAY v_partner.batches LOOP
      v_room := CASE WHEN p_cap[v_batch] IS NOT NULL THEN greatest(p_cap[v_batch] - v_used - v_added, 0) END;
      IF v_room < b_candidates[v_batch] THEN
        IF registered[v_batch] < v_room THEN
          -- Another session took a phone that was free, so there is quota left for candidates that were not tried.
          IF tried < cardinality(a_id_number) THEN RAISE EXCEPTION 'quota is left' USING ERRCODE = 'VN001'; END IF;
        ELSE
          IF cardinality(p_verdict) > 1 THEN
            RAISE EXCEPTION 'a batch that shares the call passes its cap' USING ERRCODE = 'VN001';
          END IF;
          -- The first applications that fit are registered (D16); all after them are over quota, duplicates too.
          tried := last_that_fits(v_room, tried, a_id_number, p_duplicates);
          DELETE FROM open_phones o WHERE o.phone_index = ANY (a_phone[tried + 1:])
            AND o.application_id = ANY (p_taken) AND position_of(o.application_id) >= tried;
          registered[v_batch] := v_room;
        END IF;
      END IF;
      v_added := v_added + registered[v_batch];
    END LOOP;
    IF v_added > 0 THEN PERFORM add_usage(v_partner.id, p_at, v_added); END IF;
  END LOOP;
END
$$;

-- Decides which candidates of the batches whose verdict is 'done' register, and takes for them numbers, phones and
-- quota. verdict: 'alone' for a batch that is too near its cap. tried: candidates after this position are over quota.
-- registered: the number of registered candidates of each batch. number: NULL for a batch that takes none. duplicates:
-- their positions in a_*. p_partitions_end: of elapsed.
CREATE OR REPLACE FUNCTION decide_candidates(
  p_at timestamptz, p_partitions_end bigint, INOUT verdict text[], p_partner integer[], p_cap integer[], p_first integer[],
  b_positions integer[], b_candidates integer[], b_refused_before boolean[], a_batch smallint[], a_follows_open boolean[],
  a_phone bigint[], a_id_number bigint[], a_decision decision[], OUT tried integer, OUT registered integer[],
  OUT number bigint[], OUT duplicates integer[]
)
LANGUAGE plpgsql AS $$
DECLARE
  v_capped record;
  v_taking text[];
  v_phones record;
  v_charged record;
BEGIN
  tried := cardinality(a_batch);
  registered := array_fill(0, ARRAY[cardinality(verdict)]);
  duplicates := '{}';
  IF array_remove(p_cap, NULL) <> '{}' THEN
    v_capped := keep_to_caps(p_at, p_partner, p_cap, b_candidates, a_follows_open, a_phone, a_id_number, verdict);
    verdict := v_capped.verdict;
    tried := v_capped.tried;
  END IF;
  IF tried = 0 OR 'done' <> ALL (verdict) THEN RETURN; END IF;

  v_taking := taking_batches(verdict, p_first, tried, b_positions, b_candidates, b_refused_before, a_phone, a_id_number);
  number := number_batches(v_taking, p_partitions_end);
  v_phones := take_phones(tried, v_taking, number, p_first, a_batch, a_follows_open, a_phone, a_id_number, a_decision);
  duplicates := v_phones.duplicates;
  registered := registered_of(verdict, tried, duplicates, b_candidates, a_batch, a_id_number);
  v_charged := charge_partners(p_at, verdict, p_partner, p_cap, duplicates, v_phones.taken, b_candidates, a_phone,
    a_id_number, registered, tried);
  registered := v_charged.registered;
  tried := v_charged.tried;
END
$$;
