-- Registers batches: the one round trip of POST /PRO.

-- What a batch's answer was, for 24 hours: so that an answer that got lost is given again instead of the
-- batch being registered again (D15, D36). batch_id is a version 7 UUID only so that new rows lie together: the
-- clock that made it decides nothing. Bound: the upkeep deletes what was stored 25 elapsed hours ago.
CREATE TABLE batch_receipts (
  batch_id uuid PRIMARY KEY,
  api_key_id integer NOT NULL,
  created_at timestamptz NOT NULL,
  -- elapsed_ms() when it was stored.
  stored_ms bigint NOT NULL,
  -- Of the batch: with a position it gives an application's id. NULL: a fence, which keeps a try that is still on its
  -- way from registering what was answered otherwise meanwhile.
  number bigint,
  -- By position: R registered, D duplicate, Q over quota, - invalid. NULL: all are registered.
  marks text,
  daily_cap integer,
  -- Keyed hashes of the Idempotency-Key and of the body's bytes; NULL where the client sent no key.
  idempotency_digest uuid,
  body_digest uuid,
  -- What the answer is rendered from, sealed. Personal data.
  draft bytea
);
CREATE UNIQUE INDEX batch_receipts_idempotency ON batch_receipts (api_key_id, idempotency_digest)
  WHERE idempotency_digest IS NOT NULL;
CREATE INDEX batch_receipts_stored ON batch_receipts (stored_ms);

-- Takes several batches at once: b_* has one element a batch, a_* one a position of each batch, batch after batch. A
-- position without a valid application has no a_id_number; the others are "candidates". No phone and no
-- Idempotency-Key may occur in two batches of one call. a_follows_open says that an earlier candidate of the batch has
-- the same phone and comes out open: whether that one registers or is a duplicate itself, this one is a duplicate (D17).
--
-- Returns a row a batch. verdict: 'done'; 'replay' (number, marks and draft of the first time), 'mismatch' (its
-- Idempotency-Key came with another body), 'dead_key', or 'alone' (too near its cap to share a call: call
-- again with this batch only). number, marks: as in batch_receipts.
--
-- p_resend: a try of this batch may have been registered, or may still be on its way. If it has, its answer is
-- given; if not, it cannot be any more once this call has committed, whatever this call's verdict is. Takes one
-- batch.
--
-- An answer commits something to wait for wherever it tells of something registered, so that with a synchronous
-- standby no answer is given of what the standby does not have.
--
-- Raises VN001 where what was decided before the partner's lock no longer holds (call again with this batch only),
-- VN002 where the transaction is not at READ COMMITTED, check_violation where the partition of a batch is missing (make
-- it and call again), and unique_violation where the same batch or Idempotency-Key was registered meanwhile (call
-- again); nothing is stored then.
--
-- Waiting for other sessions happens in one order everywhere, or two calls deadlock: phones by phone_index,
-- then partners by id, then receipts by key.
CREATE FUNCTION register_batches(
  p_policy_id smallint, p_resend boolean,
  b_id uuid[], b_key_id integer[], b_idempotency uuid[], b_body uuid[], b_draft bytea[], b_envelope bytea[],
  b_facts bytea[], b_platforms text[], b_positions integer[], b_candidates integer[],
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
  -- The candidates after this position are over quota, and their phones are not looked at.
  v_tried integer := cardinality(a_batch);
  v_partner integer[];
  v_cap integer[];
  v_verdict text[];
  -- Where each batch's positions begin and end in a_*, and how many of its candidates are registered.
  v_first integer[] := array_fill(1, ARRAY[v_batches]);
  v_last integer[] := array_fill(0, ARRAY[v_batches]);
  v_registered integer[] := array_fill(0, ARRAY[v_batches]);
  v_number bigint[] := array_fill(NULL::bigint, ARRAY[v_batches]);
  v_marks text[] := array_fill(NULL::text, ARRAY[v_batches]);
  v_duplicates integer[] := '{}';
  v_no_facts constant bytea := decode(repeat('00', 28), 'hex');
  v_open integer;
  v_held bigint[];
  v_taken bigint[];
  v_batch integer;
  v_used bigint;
  v_total integer;
  v_room bigint;
  v_fenced boolean := false;
  v_receipt batch_receipts;
  v_row record;
BEGIN
  -- Neither a URL, a default of the role or database nor a pooler decides what an answer is worth.
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'registration needs transactions at READ COMMITTED, and this one is at %',
      upper(current_setting('transaction_isolation')) USING ERRCODE = 'VN002';
  END IF;
  IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')
    OR current_setting('client_min_messages') = 'error' THEN
    IF current_setting('synchronous_commit') <> 'remote_apply' THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    -- The warning of a commit that did not wait for its standby has to reach the client.
    PERFORM set_config('client_min_messages', 'warning', true);
  END IF;

  IF p_resend THEN
    -- A lock on the row is written to the log, so that this commit waits for the standby in the first try's stead.
    SELECT * INTO v_receipt FROM batch_receipts r WHERE r.batch_id = b_id[1] FOR SHARE;
    v_fenced := FOUND;
    IF v_receipt.number IS NOT NULL THEN
      RETURN QUERY SELECT 1, 'done', v_receipt.number, v_receipt.marks, v_receipt.daily_cap, NULL::bytea;
      RETURN;
    END IF;
  END IF;

  -- Not elapsed_ms(): a function in SQL is planned anew at each call.
  SELECT (SELECT e.ms FROM elapsed e), (SELECT e.partitions_end FROM elapsed e), array_agg(k.partner_id ORDER BY o.n), array_agg(k.daily_cap ORDER BY o.n),
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
    -- An answer that is remembered is given again.
    SELECT * INTO v_receipt FROM batch_receipts r
    WHERE r.api_key_id = b_key_id[i] AND r.idempotency_digest = b_idempotency[i];
    CONTINUE WHEN NOT FOUND;
    IF v_receipt.created_at <= v_at - interval '24 hours' AND v_receipt.stored_ms <= v_elapsed_ms - 24 * 3600000 THEN
      DELETE FROM batch_receipts r WHERE r.batch_id = v_receipt.batch_id;
    ELSIF v_receipt.body_digest <> b_body[i] THEN
      v_verdict[i] := 'mismatch';
    ELSE
      v_verdict[i] := 'replay';
      PERFORM 1 FROM batch_receipts r WHERE r.batch_id = v_receipt.batch_id FOR SHARE;
      RETURN QUERY SELECT i, 'replay', v_receipt.number, v_receipt.marks, v_receipt.daily_cap, v_receipt.draft;
    END IF;
  END LOOP;

  -- Near its cap a batch goes alone, and only as far as its quota reaches (D16).
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
        v_tried := 0;
        WHILE v_room > 0 AND v_tried < v_positions LOOP
          v_tried := v_tried + 1;
          -- What is invalid or a duplicate uses none.
          CONTINUE WHEN a_id_number[v_tried] IS NULL OR a_follows_open[v_tried]
            OR EXISTS (SELECT FROM open_phones o WHERE o.phone_index = a_phone[v_tried]);
          v_room := v_room - 1;
        END LOOP;
      END IF;
    END LOOP;
  END IF;

  -- The candidates. An open one takes its phone or finds it taken, waiting for whoever is just taking it. A rejected one
  -- takes nothing: it only may not find an open one there. It is asked first, so that it does not find those that come
  -- after it in its batch.
  IF 'done' = ANY (v_verdict) AND v_tried > 0 THEN
    -- From that table, and with the sequence's name as text: so the numbers are taken where the table is, also where the
    -- database is spread over machines.
    v_number := ARRAY(SELECT nextval('batch_numbers'::text) FROM elapsed, generate_series(1, v_batches));
    -- Where the database is spread over machines, another one's error would not say that it is this.
    IF v_number[v_batches] >= v_end THEN
      RAISE EXCEPTION 'no partition for batch %', v_number[v_batches] USING ERRCODE = 'check_violation';
    END IF;
    v_held := ARRAY(
      SELECT a_phone[i] FROM generate_series(1, v_tried) AS i
      WHERE a_decision[i] = 'rejected' AND a_phone[i] IS NOT NULL AND v_verdict[a_batch[i]] = 'done');
    IF v_held <> '{}' THEN
      v_held := ARRAY(SELECT o.phone_index FROM open_phones o WHERE o.phone_index = ANY (v_held));
    END IF;
    v_duplicates := ARRAY(
      SELECT i FROM generate_series(1, v_tried) AS i
      WHERE v_verdict[a_batch[i]] = 'done'
        AND (a_follows_open[i] OR (a_decision[i] = 'rejected' AND a_phone[i] = ANY (v_held))));

    WITH open AS (
      SELECT a_phone[i] AS phone_index, (v_number[a_batch[i]] << 7) + i - v_first[a_batch[i]] AS application_id
      FROM generate_series(1, v_tried) AS i
      WHERE a_phone[i] IS NOT NULL AND a_decision[i] <> 'rejected' AND NOT a_follows_open[i]
        AND v_verdict[a_batch[i]] = 'done'
    ), taken AS (
      INSERT INTO open_phones (phone_index, application_id)
      SELECT o.phone_index, o.application_id FROM open o ORDER BY o.phone_index
      ON CONFLICT (phone_index) DO NOTHING
      RETURNING application_id
    ) SELECT (SELECT count(*) FROM open), coalesce(array_agg(t.application_id), '{}') INTO v_open, v_taken FROM taken t;

    IF cardinality(v_taken) < v_open THEN
      v_duplicates := v_duplicates || ARRAY(
        SELECT i FROM generate_series(1, v_tried) AS i
        WHERE a_phone[i] IS NOT NULL AND a_decision[i] <> 'rejected' AND NOT a_follows_open[i]
          AND v_verdict[a_batch[i]] = 'done' AND (v_number[a_batch[i]] << 7) + i - v_first[a_batch[i]] <> ALL (v_taken));
    END IF;
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

  -- Usage, last of what other batches wait for. A partner without a capped key in this call takes no lock.
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
          -- Another session took a phone that was free, and what was not tried has quota after all.
          IF v_tried < v_positions THEN RAISE EXCEPTION 'quota is left' USING ERRCODE = 'VN001'; END IF;
        ELSE
          IF v_batches > 1 THEN
            RAISE EXCEPTION 'a batch that shares the call passes its cap' USING ERRCODE = 'VN001';
          END IF;
          -- The first ones that fit stay (D16); what comes after them is over quota, duplicates too.
          SELECT coalesce(min(x.i), 0) INTO v_tried FROM (
            SELECT i, count(*) FILTER (WHERE a_id_number[i] IS NOT NULL AND i <> ALL (v_duplicates)) OVER (ORDER BY i)
              AS used
            FROM generate_series(1, v_tried) AS i) AS x
          WHERE x.used = v_room AND v_room > 0;
          DELETE FROM open_phones o WHERE o.phone_index = ANY (a_phone[v_tried + 1:])
            AND o.application_id = ANY (v_taken) AND (o.application_id & 127) >= v_tried;
          v_registered[v_batch] := v_room;
        END IF;
      END IF;
      v_total := v_total + v_registered[v_batch];
    END LOOP;
    IF v_total > 0 THEN
      INSERT INTO usage_entries AS u (partner_id, second, slot, count)
      VALUES (v_row.partner_id, date_trunc('second', v_at) + interval '1 second', pg_backend_pid() % 8, v_total)
      ON CONFLICT (partner_id, second, slot) DO UPDATE SET count = u.count + excluded.count;
    END IF;
  END LOOP;

  -- What is not registered leaves nothing but its mark.
  FOR n IN 1..v_batches LOOP
    CONTINUE WHEN v_verdict[n] <> 'done' OR v_registered[n] = b_positions[n];
    v_marks[n] := (
      SELECT string_agg(CASE WHEN a_id_number[i] IS NULL THEN '-' WHEN i > v_tried THEN 'Q'
        WHEN i = ANY (v_duplicates) THEN 'D' ELSE 'R' END, '' ORDER BY i)
      FROM generate_series(v_first[n], v_last[n]) AS i);
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

  -- One row a batch: see 0005_delivery.sql.
  IF array_remove(a_message, NULL) <> '{}' THEN
    WITH told AS (
      INSERT INTO outbox (batch_id, created_at, positions, types)
      SELECT v_number[a_batch[i]], v_at, array_agg(i - v_first[a_batch[i]] ORDER BY i),
        string_agg(left(a_message[i]::text, 1), '' ORDER BY i)
      FROM generate_series(1, v_tried) AS i
      WHERE a_message[i] IS NOT NULL AND a_id_number[i] IS NOT NULL AND v_registered[a_batch[i]] > 0
      GROUP BY a_batch[i]
      RETURNING cardinality(positions) AS messages
    )
    INSERT INTO message_counts SELECT 'queued', sum(messages) FROM told HAVING count(*) > 0;
  END IF;

  INSERT INTO batch_receipts (batch_id, api_key_id, created_at, stored_ms, number, marks, daily_cap,
    idempotency_digest, body_digest, draft)
  SELECT b_id[n], b_key_id[n], v_at, v_elapsed_ms, coalesce(v_number[n], 0), v_marks[n], v_cap[n],
    b_idempotency[n], b_body[n], b_draft[n]
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
