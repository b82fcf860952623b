-- Registers batches: the one round trip of POST /PRO. Its parts are in 0004_registration.sql; this file comes after
-- the tables that the function writes.

-- Registers several batches at once: b_* has one element a batch, a_* one a position of each batch, batch after
-- batch. A position without a valid application has no a_id_number; the others are "candidates". No phone and no
-- Idempotency-Key may occur in two batches of one call. a_follows_open says that an earlier candidate of the batch
-- has the same phone and comes out open: whether that one registers or is a duplicate itself, this one is a duplicate
-- (D17). b_doubtful: the last batch of the same key registered nothing, so this batch probably registers nothing either.
-- Then its phones are looked at before it takes a number, so that such batches do not use up the numbers of a partition.
--
-- Returns a row a batch. verdict: 'done'; 'replay' (number, marks and draft of the first time), 'mismatch' (its
-- Idempotency-Key came with another body), 'dead_key', or 'alone' (too near its cap to share a call: call again with
-- this batch only). number, marks: as in batch_receipts.
--
-- p_resend: an earlier try of this batch may be registered, or may still arrive. If it is registered, its answer is
-- given; if not, it cannot be registered any more after this call has committed, whatever this call's verdict is.
-- Takes one batch.
--
-- A call that reports a registration always writes to the log, so its commit waits for a synchronous standby: no
-- answer tells of a registration that the standby does not have.
--
-- Raises VN001 if a decision before the partner's lock no longer holds (call again with this batch only), VN002 if
-- the transaction is not at READ COMMITTED, check_violation if the partition of a batch is missing (make it and call
-- again), and unique_violation if the same batch or Idempotency-Key was registered meanwhile (call again); then
-- nothing is stored.
--
-- Locks are taken in one order everywhere, or two calls would deadlock: phones by phone_index, then partners by id,
-- then receipts by key.
--
-- The sections of its body:
-- - Session: the commit is durable.
-- - Replay: the answer of an earlier try, dead keys, remembered receipts.
-- - Cap: a batch near its cap goes alone, and only as far as its quota reaches.
-- - Phones: numbers for the batches, duplicates, the number of registered candidates.
-- - Usage: the partner's usage is locked and counted; what passes the cap is over quota.
-- - Insert: marks, batches, review queue, messages, receipts.
CREATE FUNCTION register_batches(
  p_policy_id smallint, p_resend boolean,
  b_id uuid[], b_key_id integer[], b_idempotency uuid[], b_body uuid[], b_draft bytea[], b_envelope bytea[],
  b_facts bytea[], b_platforms text[], b_positions integer[], b_candidates integer[], b_doubtful boolean[],
  a_batch smallint[], a_follows_open boolean[], a_phone bigint[], a_id_number bigint[], a_decision decision[],
  a_message message_type[]
) RETURNS TABLE (batch integer, verdict text, number bigint, marks text, daily_cap integer, draft bytea)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
  v_at constant timestamptz := clock_timestamp();
  v_elapsed_ms bigint;
  v_end bigint;
  v_batches constant integer := cardinality(b_id);
  v_positions constant integer := cardinality(a_batch);
  -- Candidates after this position are over quota, and their phones are not looked at.
  v_tried integer := cardinality(a_batch);
  v_partner integer[];
  v_cap integer[];
  v_verdict text[];
  -- The first and last position of each batch in a_*, and its number of registered candidates.
  v_first integer[] := array_fill(1, ARRAY[v_batches]);
  v_last integer[] := array_fill(0, ARRAY[v_batches]);
  v_registered integer[] := array_fill(0, ARRAY[v_batches]);
  v_number bigint[] := array_fill(NULL::bigint, ARRAY[v_batches]);
  v_numbers bigint[];
  -- The verdicts, but for batches that have no candidate with a free phone.
  v_taking text[];
  v_marks text[] := array_fill(NULL::text, ARRAY[v_batches]);
  v_duplicates integer[] := '{}';
  v_no_facts constant bytea := decode(repeat('00', 28), 'hex');
  v_taken bigint[];
  v_batch integer;
  v_used bigint;
  v_total integer;
  v_room bigint;
  v_fenced boolean := false;
  v_receipt batch_receipts;
  v_row record;
BEGIN
  -- Session.
  PERFORM require_durable_commit();

  -- Replay.
  IF p_resend THEN
    -- A lock on the row is written to the log, so this commit waits for the standby instead of the first try's.
    SELECT * INTO v_receipt FROM batch_receipts r WHERE r.batch_id = b_id[1] FOR SHARE;
    v_fenced := FOUND;
    IF v_receipt.number IS NOT NULL THEN
      RETURN QUERY SELECT 1, 'done', v_receipt.number, v_receipt.marks, v_receipt.daily_cap, NULL::bytea;
      RETURN;
    END IF;
  END IF;

  -- Does not call elapsed_ms(): a function in SQL is planned again at each call.
  SELECT (SELECT e.ms FROM elapsed e), (SELECT e.partitions_end FROM elapsed e),
    array_agg(k.partner_id ORDER BY o.n), array_agg(k.daily_cap ORDER BY o.n),
    array_agg(CASE WHEN k.id IS NULL THEN 'dead_key' ELSE 'done' END ORDER BY o.n)
  INTO v_elapsed_ms, v_end, v_partner, v_cap, v_verdict
  FROM unnest(b_key_id) WITH ORDINALITY AS o(key_id, n)
  LEFT JOIN api_keys k ON k.id = o.key_id AND k.revoked_at IS NULL
    AND (k.expires_at IS NULL OR k.expires_at > v_at);

  v_total := 0;
  FOR i IN 1..v_batches LOOP
    v_first[i] := v_total + 1;
    v_total := v_total + b_positions[i];
    v_last[i] := v_total;
    CONTINUE WHEN b_idempotency[i] IS NULL OR v_verdict[i] <> 'done';
    SELECT * INTO v_receipt FROM remembered_receipt(b_key_id[i], b_idempotency[i], v_at, v_elapsed_ms);
    CONTINUE WHEN NOT FOUND;
    IF v_receipt.body_digest <> b_body[i] THEN
      v_verdict[i] := 'mismatch';
    ELSE
      v_verdict[i] := 'replay';
      PERFORM 1 FROM batch_receipts r WHERE r.batch_id = v_receipt.batch_id FOR SHARE;
      RETURN QUERY SELECT i, 'replay', v_receipt.number, v_receipt.marks, v_receipt.daily_cap, v_receipt.draft;
    END IF;
  END LOOP;

  -- Cap. Near its cap a batch goes alone, and only as far as its quota reaches (D16).
  IF array_remove(v_cap, NULL) <> '{}' THEN
    FOR v_row IN SELECT v_partner[n] AS partner_id, sum(b_candidates[n]) AS size, min(v_cap[n]) AS cap
      FROM generate_series(1, v_batches) AS n WHERE v_verdict[n] = 'done'
      GROUP BY v_partner[n] HAVING min(v_cap[n]) IS NOT NULL
    LOOP
      v_room := v_row.cap - usage_at(v_row.partner_id, v_at);
      CONTINUE WHEN v_row.size <= v_room;
      IF v_batches > 1 THEN
        FOR i IN 1..v_batches LOOP
          IF v_partner[i] = v_row.partner_id AND v_verdict[i] = 'done' THEN v_verdict[i] := 'alone'; END IF;
        END LOOP;
      ELSE
        v_tried := last_tried(v_room, a_follows_open, a_phone, a_id_number);
      END IF;
    END LOOP;
  END IF;

  -- Phones.
  IF 'done' = ANY (v_verdict) AND v_tried > 0 THEN
    v_taking := v_verdict;
    v_total := 0;
    FOR i IN 1..v_batches LOOP
      CONTINUE WHEN v_verdict[i] <> 'done';
      IF b_candidates[i] = 0 OR (b_doubtful[i] AND are_open(ARRAY(
        SELECT a_phone[n] FROM generate_series(v_first[i], least(v_last[i], v_tried)) AS n WHERE a_id_number[n] IS NOT NULL)))
      THEN
        v_taking[i] := 'none';
      ELSE
        v_total := v_total + 1;
      END IF;
    END LOOP;
    -- Reads from elapsed, and takes the sequence's name as text, so that the machine with the table gives the numbers
    -- where the database is spread over machines.
    v_numbers := ARRAY(SELECT nextval('batch_numbers'::text) FROM elapsed, generate_series(1, v_total));
    -- Checked here, because another machine's error would not say that the partition is missing.
    IF v_numbers[v_total] >= v_end THEN
      RAISE EXCEPTION 'no partition for batch %', v_numbers[v_total] USING ERRCODE = 'check_violation';
    END IF;
    v_total := 0;
    FOR i IN 1..v_batches LOOP
      CONTINUE WHEN v_taking[i] <> 'done';
      v_total := v_total + 1;
      v_number[i] := v_numbers[v_total];
    END LOOP;
    v_row := take_phones(v_tried, v_taking, v_number, v_first, a_batch, a_follows_open, a_phone, a_decision);
    v_duplicates := v_row.duplicates || ARRAY(
      SELECT i FROM generate_series(1, v_tried) AS i
      WHERE v_taking[a_batch[i]] = 'none' AND a_id_number[i] IS NOT NULL);
    v_taken := v_row.taken;
    FOR i IN 1..v_batches LOOP
      IF v_verdict[i] = 'done' THEN v_registered[i] := b_candidates[i]; END IF;
    END LOOP;
    FOREACH v_total IN ARRAY v_duplicates LOOP
      v_registered[a_batch[v_total]] := v_registered[a_batch[v_total]] - 1;
    END LOOP;
    IF v_tried < v_positions THEN
      v_registered[1] := v_registered[1] - cardinality(array_remove(a_id_number[v_tried + 1:], NULL));
    END IF;
  END IF;

  -- Usage. Its lock comes after the phones'. A partner without a capped key in this call takes no lock.
  FOR v_row IN SELECT v_partner[n] AS partner_id, array_agg(n ORDER BY n) AS batches, min(v_cap[n]) AS least_cap
    FROM generate_series(1, v_batches) AS n
    WHERE v_tried > 0 AND v_verdict[n] = 'done' AND (v_registered[n] > 0 OR v_cap[n] IS NOT NULL)
    GROUP BY v_partner[n] ORDER BY v_partner[n]
  LOOP
    IF v_row.least_cap IS NOT NULL THEN
      PERFORM 1 FROM usage_totals t WHERE t.partner_id = v_row.partner_id FOR NO KEY UPDATE;
      v_used := usage_at(v_row.partner_id, v_at);
    END IF;
    v_total := 0;
    FOREACH v_batch IN ARRAY v_row.batches LOOP
      v_room := CASE WHEN v_cap[v_batch] IS NOT NULL THEN greatest(v_cap[v_batch] - v_used - v_total, 0) END;
      IF v_room < b_candidates[v_batch] THEN
        IF v_registered[v_batch] < v_room THEN
          -- Another session took a phone that was free, so there is quota left for candidates that were not tried.
          IF v_tried < v_positions THEN RAISE EXCEPTION 'quota is left' USING ERRCODE = 'VN001'; END IF;
        ELSE
          IF v_batches > 1 THEN
            RAISE EXCEPTION 'a batch that shares the call passes its cap' USING ERRCODE = 'VN001';
          END IF;
          -- The first applications that fit are registered (D16); all after them are over quota, duplicates too.
          v_tried := last_that_fits(v_room, v_tried, a_id_number, v_duplicates);
          DELETE FROM open_phones o WHERE o.phone_index = ANY (a_phone[v_tried + 1:])
            AND o.application_id = ANY (v_taken) AND (o.application_id & 127) >= v_tried;
          v_registered[v_batch] := v_room;
        END IF;
      END IF;
      v_total := v_total + v_registered[v_batch];
    END LOOP;
    IF v_total > 0 THEN PERFORM add_usage(v_row.partner_id, v_at, v_total); END IF;
  END LOOP;

  -- Insert. A candidate that is not registered leaves only its mark.
  FOR n IN 1..v_batches LOOP
    CONTINUE WHEN v_verdict[n] <> 'done' OR v_registered[n] = b_positions[n];
    v_marks[n] := marks_of(v_first[n], v_last[n], v_tried, a_id_number, v_duplicates);
    FOR i IN v_first[n]..v_last[n] LOOP
      v_total := i - v_first[n];
      CONTINUE WHEN substr(v_marks[n], v_total + 1, 1) IN ('R', '-');
      a_phone[i] := NULL;
      a_id_number[i] := NULL;
      b_facts[n] := overlay(b_facts[n] PLACING v_no_facts FROM 28 * v_total + 1);
    END LOOP;
  END LOOP;

  INSERT INTO batches (id, created_at, seal_id, partner_id, api_key_id, policy_id, surplus, phones, id_numbers, facts,
    platforms, envelope)
  SELECT v_number[n], v_at, b_id[n], v_partner[n], b_key_id[n], p_policy_id, v_registered[n] < b_candidates[n],
    a_phone[v_first[n]:v_last[n]], a_id_number[v_first[n]:v_last[n]], b_facts[n], b_platforms[n], b_envelope[n]
  FROM generate_series(1, v_batches) AS n
  WHERE v_registered[n] > 0;

  INSERT INTO review_queue (batch_id, partner_id, positions)
  SELECT v_number[a_batch[i]], v_partner[a_batch[i]], array_agg(i - v_first[a_batch[i]] ORDER BY i)
  FROM generate_series(1, v_tried) AS i
  WHERE a_decision[i] = 'in_review' AND a_id_number[i] IS NOT NULL AND v_registered[a_batch[i]] > 0
  GROUP BY a_batch[i];

  -- Messages: one row a batch, see 0005_delivery.sql.
  IF array_remove(a_message, NULL) <> '{}' THEN
    WITH told AS (
      INSERT INTO outbox (batch_id, partner_id, created_at, positions, types)
      SELECT v_number[a_batch[i]], v_partner[a_batch[i]], v_at, array_agg(i - v_first[a_batch[i]] ORDER BY i),
        string_agg(left(a_message[i]::text, 1), '' ORDER BY i)
      FROM generate_series(1, v_tried) AS i
      WHERE a_message[i] IS NOT NULL AND a_id_number[i] IS NOT NULL AND v_registered[a_batch[i]] > 0
      GROUP BY a_batch[i]
      RETURNING cardinality(positions) AS messages
    )
    INSERT INTO message_counts SELECT 'queued', sum(messages) FROM told HAVING count(*) > 0;
    INSERT INTO waiting_rejections (phone_index, message_id, partner_id)
    SELECT a_phone[i], (v_number[a_batch[i]] << 7) + i - v_first[a_batch[i]], v_partner[a_batch[i]]
    FROM unnest(array_positions(a_message, 'rejected')) AS i
    WHERE i <= v_tried AND a_id_number[i] IS NOT NULL AND v_registered[a_batch[i]] > 0;
  END IF;

  INSERT INTO batch_receipts (batch_id, api_key_id, created_at, stored_ms, number, marks, daily_cap,
    idempotency_digest, body_digest, draft, refused)
  SELECT b_id[n], b_key_id[n], v_at, v_elapsed_ms, CASE WHEN v_registered[n] > 0 THEN v_number[n] ELSE 0 END, v_marks[n],
    v_cap[n], b_idempotency[n], b_body[n], b_draft[n],
    -- A resent one stays for its whole time: it also keeps a late try from registering.
    v_registered[n] = 0 AND NOT p_resend
  FROM generate_series(1, v_batches) AS n
  WHERE v_verdict[n] = 'done' AND (v_registered[n] > 0 OR b_idempotency[n] IS NOT NULL OR p_resend)
  ORDER BY b_key_id[n], b_idempotency[n];

  IF p_resend AND v_verdict[1] <> 'done' AND NOT v_fenced THEN
    INSERT INTO batch_receipts (batch_id, api_key_id, created_at, stored_ms)
    VALUES (b_id[1], b_key_id[1], v_at, v_elapsed_ms);
  END IF;

  RETURN QUERY SELECT n, v_verdict[n], coalesce(v_number[n], 0), v_marks[n], v_cap[n], NULL::bytea
  FROM generate_series(1, v_batches) AS n WHERE v_verdict[n] <> 'replay';
END
$$;
