-- Registers batches: the one round trip of POST /PRO. The parts of register_batches come first, but for those that
-- decide (decide.sql).

-- Makes this transaction's commit durable, whatever a URL, a default of the role or database, or a pooler says. Raises
-- VN002 if the transaction is not at READ COMMITTED.
CREATE OR REPLACE FUNCTION require_durable_commit() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'registration needs transactions at READ COMMITTED, and this one is at %',
      upper(current_setting('transaction_isolation')) USING ERRCODE = 'VN002';
  END IF;
  IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')
    OR current_setting('client_min_messages') = 'error' THEN
    IF current_setting('synchronous_commit') <> 'remote_apply' THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    -- PostgreSQL warns of a commit that did not wait for its standby; the warning has to reach the client.
    PERFORM set_config('client_min_messages', 'warning', true);
  END IF;
END
$$;

-- The outcomes at the positions p_first to p_last, as in batch_receipts.
CREATE OR REPLACE FUNCTION outcomes_of(
  p_first integer, p_last integer, p_tried integer, a_id_number bigint[], p_duplicates integer[]
) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
  RETURN (
    SELECT string_agg(CASE WHEN a_id_number[i] IS NULL THEN '-' WHEN i > p_tried THEN 'Q'
      WHEN i = ANY (p_duplicates) THEN 'D' ELSE 'R' END, '' ORDER BY i)
    FROM generate_series(p_first, p_last) AS i);
END
$$;

-- Strikes out the candidates that are not registered, which leave only their outcome. Returns the outcomes of each
-- batch, as in batch_receipts, and what is stored: the phones, ID numbers and facts of the others.
CREATE OR REPLACE FUNCTION strike_unregistered(
  p_verdict text[], p_registered integer[], p_first integer[], p_tried integer, p_duplicates integer[],
  b_positions integer[], OUT outcomes text[], INOUT facts bytea[], INOUT phones bigint[], INOUT id_numbers bigint[]
)
LANGUAGE plpgsql AS $$
DECLARE
  v_no_facts constant bytea := decode(repeat('00', 28), 'hex');
BEGIN
  outcomes := array_fill(NULL::text, ARRAY[cardinality(p_verdict)]);
  FOR n IN 1..cardinality(p_verdict) LOOP
    CONTINUE WHEN p_verdict[n] <> 'done' OR p_registered[n] = b_positions[n];
    outcomes[n] := outcomes_of(p_first[n], p_first[n] + b_positions[n] - 1, p_tried, id_numbers, p_duplicates);
    FOR i IN 0..b_positions[n] - 1 LOOP
      CONTINUE WHEN substr(outcomes[n], i + 1, 1) IN ('R', '-');
      phones[p_first[n] + i] := NULL;
      id_numbers[p_first[n] + i] := NULL;
      facts[n] := overlay(facts[n] PLACING v_no_facts FROM 28 * i + 1);
    END LOOP;
  END LOOP;
END
$$;

-- Stores the batches that registered an application: their rows, which of their applications wait for a review, and the
-- messages (one row a batch, see 0004_messages.sql). Returns the outcomes of each batch, as in batch_receipts. p_tried,
-- p_duplicates: as decide_candidates returns them.
CREATE OR REPLACE FUNCTION store_batches(
  p_at timestamptz, p_policy_id smallint, p_number bigint[], p_partner integer[], p_verdict text[],
  p_registered integer[], p_first integer[], p_tried integer, p_duplicates integer[], b_id uuid[],
  b_key_id integer[], b_envelope bytea[], b_facts bytea[], b_platforms text[], b_positions integer[],
  b_candidates integer[], a_batch smallint[], a_phone bigint[], a_id_number bigint[], a_decision decision[],
  a_message message_type[]
) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
  v_outcomes text[];
  v_struck record;
BEGIN
  IF p_registered <> b_positions THEN
    v_struck := strike_unregistered(p_verdict, p_registered, p_first, p_tried, p_duplicates, b_positions, b_facts, a_phone,
      a_id_number);
    v_outcomes := v_struck.outcomes;
    b_facts := v_struck.facts;
    a_phone := v_struck.phones;
    a_id_number := v_struck.id_numbers;
  END IF;

  INSERT INTO batches (id, created_at, seal_id, partner_id, api_key_id, policy_id, surplus, phones, id_numbers, facts,
    platforms, envelope)
  SELECT p_number[n], p_at, b_id[n], p_partner[n], b_key_id[n], p_policy_id, p_registered[n] < b_candidates[n],
    a_phone[p_first[n]:p_first[n] + b_positions[n] - 1], a_id_number[p_first[n]:p_first[n] + b_positions[n] - 1],
    b_facts[n], b_platforms[n], b_envelope[n]
  FROM generate_series(1, cardinality(b_id)) AS n
  WHERE p_registered[n] > 0;

  INSERT INTO review_queue (batch_id, partner_id, positions)
  SELECT p_number[a_batch[i]], p_partner[a_batch[i]], array_agg(i - p_first[a_batch[i]] ORDER BY i)
  FROM generate_series(1, p_tried) AS i
  WHERE a_decision[i] = 'in_review' AND a_id_number[i] IS NOT NULL AND p_registered[a_batch[i]] > 0
  GROUP BY a_batch[i];

  IF array_remove(a_message, NULL) <> '{}' THEN
    PERFORM queue_first_messages(p_at, p_number, p_partner, p_registered, p_first, p_tried, a_batch, a_phone, a_id_number,
      a_message);
  END IF;
  RETURN v_outcomes;
END
$$;

-- Stores the receipts of batches whose answer may be asked for again: those that registered an application, those with
-- an Idempotency-Key, and resent ones. p_fence: the call's one batch is resent, was answered otherwise, and must not be
-- registered any more.
CREATE OR REPLACE FUNCTION store_receipts(
  p_at timestamptz, p_elapsed_ms bigint, p_resend boolean, p_fence boolean, p_verdict text[], p_number bigint[],
  p_outcomes text[], p_cap integer[], p_registered integer[], b_id uuid[], b_key_id integer[], b_idempotency uuid[],
  b_body uuid[], b_draft bytea[]
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_refused_number bigint[];
BEGIN
  -- A resent one stays for its whole time: it also keeps a late try from registering.
  IF NOT p_resend AND 0 = ANY (p_registered) AND array_remove(b_idempotency, NULL) <> '{}' THEN
    -- On the machine with the table, as in number_batches.
    v_refused_number := ARRAY(
      SELECT nextval('refused_numbers'::text) FROM elapsed, generate_series(1, cardinality(b_id)));
  END IF;

  INSERT INTO batch_receipts (batch_id, api_key_id, created_at, stored_ms, number, outcomes, daily_cap,
    idempotency_digest, body_digest, draft, refused_number)
  SELECT b_id[n], b_key_id[n], p_at, p_elapsed_ms, CASE WHEN p_registered[n] > 0 THEN p_number[n] ELSE 0 END, p_outcomes[n],
    p_cap[n], b_idempotency[n], b_body[n], b_draft[n], CASE WHEN p_registered[n] = 0 THEN v_refused_number[n] END
  FROM generate_series(1, cardinality(b_id)) AS n
  WHERE p_verdict[n] = 'done' AND (p_registered[n] > 0 OR b_idempotency[n] IS NOT NULL OR p_resend)
  ORDER BY b_key_id[n], b_idempotency[n];

  IF p_fence THEN
    INSERT INTO batch_receipts (batch_id, api_key_id, created_at, stored_ms)
    VALUES (b_id[1], b_key_id[1], p_at, p_elapsed_ms);
  END IF;
END
$$;

-- The first position of each batch in a_*: the positions of a batch follow those of the batch before.
CREATE OR REPLACE FUNCTION first_positions(b_positions integer[]) RETURNS integer[]
LANGUAGE plpgsql AS $$
DECLARE
  v_first integer[] := '{}';
  v_next integer := 1;
BEGIN
  FOR n IN 1..cardinality(b_positions) LOOP
    v_first[n] := v_next;
    v_next := v_next + b_positions[n];
  END LOOP;
  RETURN v_first;
END
$$;

-- Raises VN004 if an envelope is sealed with one of these data keys: its first byte is the id of its key.
CREATE OR REPLACE FUNCTION refuse_keys(b_envelope bytea[], p_keys integer[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  FOR n IN 1..cardinality(b_envelope) LOOP
    IF get_byte(b_envelope[n], 0) = ANY (p_keys) THEN
      RAISE EXCEPTION 'this process seals with data key %, which is retired', get_byte(b_envelope[n], 0)
        USING ERRCODE = 'VN004';
    END IF;
  END LOOP;
END
$$;

-- Registers several batches at once: b_* has one element a batch, a_* one a position of each batch, batch after
-- batch. A position without a valid application has no a_id_number; the others are "candidates". No phone and no
-- Idempotency-Key may occur in two batches of one call. a_follows_open says that an earlier candidate of the batch
-- has the same phone and comes out open: whether that one registers or is a duplicate itself, this one is a duplicate
-- (D17). b_refused_before: the last batch of the same key registered nothing, so this batch probably registers nothing
-- either. Then its phones are looked at before it takes a number, so that such batches do not use up the numbers of a
-- partition.
--
-- Returns a row a batch. verdict: 'done'; 'replay' (number, outcomes and draft of the first time), 'idempotency_reuse'
-- (its Idempotency-Key came with another body), 'dead_key', 'policy_changed' (p_policy_id is not the live policy by
-- now, and no answer is remembered: score again; before a store's first activation every policy is right), or 'alone'
-- (too near its cap to share a call: call again with this batch only). number, outcomes: as in batch_receipts.
--
-- p_resend: an earlier try of this batch may be registered, or may still arrive. If it is registered, its answer is
-- given; if not, it cannot be registered any more after this call has committed, whatever this call's verdict is.
-- Takes one batch.
--
-- A call that reports a registration always writes to the log, so its commit waits for a synchronous standby: no
-- answer tells of a registration that the standby does not have.
--
-- Raises VN001 if a decision before the partner's lock no longer holds (call again with this batch only), VN002 if the
-- transaction is not at READ COMMITTED, VN004 if a batch is sealed with a retired data key, VN005 if p_index_key (a
-- fingerprint) is not the index key of the stored blind indexes, check_violation if the partition of a batch is missing
-- (make it and call again), and unique_violation if the same batch or Idempotency-Key was registered meanwhile (call
-- again); then nothing is stored.
--
-- Locks are taken in one order everywhere, or two calls would deadlock: phones by phone_index, then partners by id,
-- then receipts by key.
CREATE OR REPLACE FUNCTION register_batches(
  p_policy_id smallint, p_index_key uuid, p_resend boolean,
  b_id uuid[], b_key_id integer[], b_idempotency uuid[], b_body uuid[], b_draft bytea[], b_envelope bytea[],
  b_facts bytea[], b_platforms text[], b_positions integer[], b_candidates integer[], b_refused_before boolean[],
  a_batch smallint[], a_follows_open boolean[], a_phone bigint[], a_id_number bigint[], a_decision decision[],
  a_message message_type[]
) RETURNS TABLE (batch integer, verdict text, number bigint, outcomes text, daily_cap integer, draft bytea)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
  v_at constant timestamptz := clock_timestamp();
  v_elapsed_ms bigint;
  v_partitions_end bigint;
  v_refused_keys integer[];
  v_index_key uuid;
  v_policy_id smallint;
  v_partner integer[];
  v_cap integer[];
  v_verdict text[];
  v_first constant integer[] := first_positions(b_positions);
  v_decided record;
  v_outcomes text[];
  v_receipt batch_receipts;
  v_is_fenced boolean := false;
BEGIN
  PERFORM require_durable_commit();
  IF b_id = '{}' THEN RETURN; END IF;
  IF p_resend THEN
    -- A lock on the row is written to the log, so this commit waits for the standby instead of the first try's.
    SELECT * INTO v_receipt FROM batch_receipts r WHERE r.batch_id = b_id[1] FOR SHARE;
    v_is_fenced := FOUND;
    IF v_receipt.number IS NOT NULL THEN
      RETURN QUERY SELECT 1, 'done', v_receipt.number, v_receipt.outcomes, v_receipt.daily_cap, NULL::bytea;
      RETURN;
    END IF;
  END IF;
  -- Does not call elapsed_ms(): a function in SQL is planned again at each call.
  SELECT (SELECT e.ms FROM elapsed e), (SELECT e.partitions_end FROM elapsed e), (SELECT e.refused_keys FROM elapsed e),
    (SELECT e.index_key FROM elapsed e), (SELECT l.policy_id FROM policy_live l), array_agg(k.partner_id ORDER BY o.n),
    array_agg(k.daily_cap ORDER BY o.n), array_agg(CASE WHEN k.id IS NULL THEN 'dead_key' ELSE 'done' END ORDER BY o.n)
  INTO v_elapsed_ms, v_partitions_end, v_refused_keys, v_index_key, v_policy_id, v_partner, v_cap, v_verdict
  FROM unnest(b_key_id) WITH ORDINALITY AS o(key_id, n)
  LEFT JOIN api_keys k ON k.id = o.key_id AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > v_at);
  IF v_index_key <> p_index_key THEN PERFORM require_index_key(p_index_key); END IF;
  IF v_refused_keys <> '{}' THEN PERFORM refuse_keys(b_envelope, v_refused_keys); END IF;
  FOR n IN 1..cardinality(b_id) LOOP
    CONTINUE WHEN b_idempotency[n] IS NULL OR v_verdict[n] <> 'done';
    SELECT * INTO v_receipt FROM remembered_receipt(b_key_id[n], b_idempotency[n], v_at, v_elapsed_ms);
    CONTINUE WHEN NOT FOUND;
    v_verdict[n] := CASE WHEN v_receipt.body_digest <> b_body[n] THEN 'idempotency_reuse' ELSE 'replay' END;
    CONTINUE WHEN v_verdict[n] = 'idempotency_reuse';
    PERFORM 1 FROM batch_receipts r WHERE r.batch_id = v_receipt.batch_id FOR SHARE;
    RETURN QUERY SELECT n, 'replay', v_receipt.number, v_receipt.outcomes, v_receipt.daily_cap, v_receipt.draft;
  END LOOP;

  IF v_policy_id <> p_policy_id THEN v_verdict := array_replace(v_verdict, 'done', 'policy_changed'); END IF;
  v_decided := decide_candidates(v_at, v_partitions_end, v_verdict, v_partner, v_cap, v_first, b_positions, b_candidates,
    b_refused_before, a_batch, a_follows_open, a_phone, a_id_number, a_decision);
  v_outcomes := store_batches(v_at, p_policy_id, v_decided.number, v_partner, v_decided.verdict, v_decided.registered, v_first,
    v_decided.tried, v_decided.duplicates, b_id, b_key_id, b_envelope, b_facts, b_platforms, b_positions, b_candidates,
    a_batch, a_phone, a_id_number, a_decision, a_message);
  PERFORM store_receipts(v_at, v_elapsed_ms, p_resend, p_resend AND v_decided.verdict[1] <> 'done' AND NOT v_is_fenced,
    v_decided.verdict, v_decided.number, v_outcomes, v_cap, v_decided.registered, b_id, b_key_id, b_idempotency, b_body,
    b_draft);
  RETURN QUERY SELECT n, v_decided.verdict[n], coalesce(v_decided.number[n], 0), v_outcomes[n], v_cap[n], NULL::bytea
  FROM generate_series(1, cardinality(b_id)) AS n WHERE v_decided.verdict[n] <> 'replay';
END
$$;
