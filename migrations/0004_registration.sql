-- Registers batches: the one round trip of POST /PRO.

-- What a batch's answer was, for 24 hours: so that an answer that got lost is given again instead of the
-- batch being registered again (D15, D36). batch_id is a version 7 UUID, so the key is also the order of age.
CREATE TABLE batch_receipts (
  batch_id uuid PRIMARY KEY,
  api_key_id integer NOT NULL,
  created_at timestamptz NOT NULL,
  -- By candidate: the application's id, 0 for a duplicate, -1 for over quota.
  outcomes bigint[] NOT NULL,
  daily_cap integer,
  -- Keyed hashes of the Idempotency-Key and of the body's bytes; NULL where the client sent no key.
  idempotency_digest uuid,
  body_digest uuid,
  -- What the answer is rendered from, sealed. Personal data.
  draft bytea
);
CREATE UNIQUE INDEX batch_receipts_idempotency ON batch_receipts (api_key_id, idempotency_digest)
  WHERE idempotency_digest IS NOT NULL;

-- Takes several batches at once: b_* has one element a batch, a_* one an application ("candidate"), batch
-- after batch in submission order. No phone and no Idempotency-Key may occur in two batches of one call.
-- a_turn says how a candidate stands to the earlier ones of its batch with the same phone (D17):
-- 1 it is the first (or has no phone), 2 all before it will come out rejected, 0 one before it is open.
--
-- Returns a row a batch. verdict: 'done'; 'replay' (outcomes and draft of the first time), 'mismatch' (its
-- Idempotency-Key came with another body), 'dead_key', or 'alone' (too near its cap to share a call: call
-- again with this batch only). outcomes: as in batch_receipts.
--
-- Raises VN001 where a batch that shares the call turns out to pass its cap, and unique_violation where the
-- same batch or Idempotency-Key was registered meanwhile; nothing is stored then.
--
-- Waiting for other sessions happens in one order everywhere, or two calls deadlock: phones by phone_index,
-- then partners by id, then receipts by key.
CREATE FUNCTION register_batches(
  p_policy_id smallint,
  b_id uuid[], b_key_id integer[], b_idempotency uuid[], b_body uuid[], b_draft bytea[], b_size integer[],
  a_batch smallint[], a_position smallint[], a_turn smallint[], a_phone uuid[], a_id_number uuid[],
  a_decision decision[], a_message message_type[], a_score smallint[], a_payment_capacity smallint[],
  a_channel smallint[], a_debt_age_points smallint[], a_num_debts_points smallint[],
  a_prior_history_points smallint[], a_optin boolean[], a_num_debts text[], a_debt_age text[],
  a_prior_history text[], a_currency text[], a_platform text[], a_income numeric[], a_debt_amount numeric[],
  a_sealed bytea[]
) RETURNS TABLE (batch integer, verdict text, outcomes bigint[], daily_cap integer, draft bytea)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
  v_at constant timestamptz := clock_timestamp();
  v_alone constant boolean := cardinality(b_id) = 1;
  v_partner integer[];
  v_cap integer[];
  v_verdict text[];
  v_draft bytea[] := array_fill(NULL::bytea, ARRAY[cardinality(b_id)]);
  v_ids bigint[];
  v_inserted bigint[] := '{}';
  v_gated uuid[] := '{}';
  v_some bigint[];
  v_excess bigint[];
  v_outcomes bigint[];
  v_registered integer[] := array_fill(0, ARRAY[cardinality(b_id)]);
  v_used bigint;
  v_total integer;
  v_receipt batch_receipts;
  v_row record;
BEGIN
  SELECT array_agg(k.partner_id ORDER BY o.n), array_agg(k.daily_cap ORDER BY o.n),
    array_agg(CASE WHEN k.id IS NULL THEN 'dead_key' ELSE 'done' END ORDER BY o.n)
  INTO v_partner, v_cap, v_verdict
  FROM unnest(b_key_id) WITH ORDINALITY AS o(key_id, n)
  LEFT JOIN api_keys k ON k.id = o.key_id AND k.revoked_at IS NULL
    AND (k.expires_at IS NULL OR k.expires_at > v_at);

  -- An answer that is remembered is given again.
  FOR i IN 1..cardinality(b_id) LOOP
    CONTINUE WHEN b_idempotency[i] IS NULL OR v_verdict[i] <> 'done';
    SELECT * INTO v_receipt FROM batch_receipts r
    WHERE r.api_key_id = b_key_id[i] AND r.idempotency_digest = b_idempotency[i];
    CONTINUE WHEN NOT FOUND;
    IF v_receipt.created_at <= v_at - interval '24 hours' THEN
      DELETE FROM batch_receipts r WHERE r.batch_id = v_receipt.batch_id;
    ELSIF v_receipt.body_digest <> b_body[i] THEN
      v_verdict[i] := 'mismatch';
    ELSE
      v_verdict[i] := 'replay';
      RETURN QUERY SELECT i, 'replay', v_receipt.outcomes, v_receipt.daily_cap, v_receipt.draft;
    END IF;
  END LOOP;

  -- Near its cap a batch goes alone, and at its cap it is answered without a write.
  FOR v_row IN SELECT p.partner_id, sum(b_size[p.n]) AS size, min(v_cap[p.n]) AS cap
    FROM unnest(v_partner) WITH ORDINALITY AS p(partner_id, n)
    WHERE v_verdict[p.n] = 'done' GROUP BY p.partner_id HAVING min(v_cap[p.n]) IS NOT NULL
  LOOP
    v_used := usage_at(v_row.partner_id, v_at);
    CONTINUE WHEN v_used + v_row.size <= v_row.cap;
    IF NOT v_alone THEN
      FOR i IN 1..cardinality(b_id) LOOP
        IF v_partner[i] = v_row.partner_id AND v_verdict[i] = 'done' THEN v_verdict[i] := 'alone'; END IF;
      END LOOP;
    ELSIF v_used >= v_row.cap THEN
      SELECT array_agg(CASE WHEN a.id IS NULL THEN -1 ELSE 0 END ORDER BY c.n) INTO v_outcomes
      FROM unnest(a_phone) WITH ORDINALITY AS c(phone_index, n)
      LEFT JOIN applications a ON a.phone_index = c.phone_index
        AND a.phone_index IS NOT NULL AND a.status IN ('pending_signature', 'in_review');
      IF b_idempotency[1] IS NOT NULL THEN
        INSERT INTO batch_receipts VALUES (b_id[1], b_key_id[1], v_at, v_outcomes, v_row.cap,
          b_idempotency[1], b_body[1], b_draft[1]);
      END IF;
      RETURN QUERY SELECT 1, 'done', v_outcomes, v_row.cap, NULL::bytea;
      RETURN;
    END IF;
  END LOOP;

  -- The candidates. A rejected one with a phone enters as an open one, so that it waits for whoever is just
  -- taking the phone and is waited for; it becomes rejected before anybody sees it.
  v_ids := ARRAY(SELECT nextval('application_ids') FROM generate_series(1, cardinality(a_batch)));
  FOR v_turn IN 1..CASE WHEN 2 = ANY (a_turn) THEN 2 ELSE 1 END LOOP
    WITH candidates AS MATERIALIZED (
      SELECT * FROM unnest(v_ids, a_batch, a_position, a_turn, a_phone, a_id_number, a_decision, a_message,
        a_score, a_payment_capacity, a_channel, a_debt_age_points, a_num_debts_points, a_prior_history_points,
        a_optin, a_num_debts, a_debt_age, a_prior_history, a_currency, a_platform, a_income, a_debt_amount,
        a_sealed) AS c(id, batch, position, turn, phone_index, id_number_index, decision, message, score,
        payment_capacity, channel, debt_age_points, num_debts_points, prior_history_points, optin, num_debts,
        debt_age, prior_history, currency, platform, income, debt_amount, sealed)
      WHERE c.turn = v_turn AND v_verdict[c.batch] = 'done'
        AND (v_turn = 1 OR c.phone_index = ANY (v_gated))
    ), inserted AS (
      INSERT INTO applications (id, created_at, phone_index, id_number_index, batch_id, partner_id,
        api_key_id, policy_id, position, score, payment_capacity_points, channel_points, debt_age_points,
        num_debts_points, prior_history_points, decision, status, messaging_optin, num_debts, debt_age,
        prior_history, currency, platform, income, debt_amount, sealed)
      SELECT c.id, v_at, c.phone_index, c.id_number_index, b_id[c.batch], v_partner[c.batch],
        b_key_id[c.batch], p_policy_id, c.position, c.score, c.payment_capacity, c.channel,
        c.debt_age_points, c.num_debts_points, c.prior_history_points, c.decision,
        CASE c.decision
          WHEN 'approved' THEN 'pending_signature'::application_status
          WHEN 'in_review' THEN 'in_review'
          ELSE CASE WHEN v_turn = 1 AND c.phone_index IS NOT NULL THEN 'in_review'
            ELSE 'rejected'::application_status END
        END,
        c.optin, c.num_debts, c.debt_age, c.prior_history, c.currency, c.platform, c.income, c.debt_amount,
        c.sealed
      FROM candidates c ORDER BY c.phone_index
      ON CONFLICT (phone_index) WHERE phone_index IS NOT NULL
        AND status IN ('pending_signature', 'in_review') DO NOTHING
      RETURNING id
    ), noted AS (
      INSERT INTO messages (application_id, created_at, type)
      SELECT c.id, v_at, c.message FROM candidates c JOIN inserted USING (id) WHERE c.message IS NOT NULL
    )
    SELECT array_agg(i.id) INTO v_some FROM inserted i;
    v_inserted := v_inserted || v_some;

    IF v_turn = 1 AND 'rejected' = ANY (a_decision) THEN
      UPDATE applications a SET status = 'rejected'
      FROM unnest(v_ids, a_decision, a_phone, a_turn) AS c(id, decision, phone_index, turn)
      WHERE a.id = c.id AND c.decision = 'rejected' AND c.phone_index IS NOT NULL AND c.turn = 1;
    END IF;
    IF v_turn = 1 AND 2 = ANY (a_turn) THEN
      SELECT array_agg(c.phone_index) INTO v_gated
      FROM unnest(v_ids, a_phone) AS c(id, phone_index) JOIN unnest(v_inserted) AS i(id) USING (id);
    END IF;
  END LOOP;

  SELECT array_agg(coalesce(i.id, 0) ORDER BY c.n) INTO v_outcomes
  FROM unnest(v_ids) WITH ORDINALITY AS c(id, n) LEFT JOIN unnest(v_inserted) AS i(id) ON i.id = c.id;
  IF v_alone THEN
    v_registered[1] := cardinality(v_inserted);
  ELSE
    FOR v_row IN SELECT c.batch, count(*) AS count FROM unnest(a_batch, v_outcomes) AS c(batch, outcome)
      WHERE c.outcome > 0 GROUP BY c.batch
    LOOP v_registered[v_row.batch] := v_row.count; END LOOP;
  END IF;

  -- Usage, last of what other batches wait for. A partner without a capped key in this call takes no lock.
  FOR v_row IN SELECT p.partner_id, array_agg(p.n ORDER BY p.n) AS batches, min(v_cap[p.n]) AS least_cap
    FROM unnest(v_partner) WITH ORDINALITY AS p(partner_id, n)
    WHERE v_registered[p.n] > 0 GROUP BY p.partner_id ORDER BY p.partner_id
  LOOP
    IF v_row.least_cap IS NOT NULL THEN
      PERFORM 1 FROM usage_totals t WHERE t.partner_id = v_row.partner_id FOR NO KEY UPDATE;
      v_used := usage_at(v_row.partner_id, v_at);
    END IF;
    v_total := 0;
    FOR i IN 1..cardinality(v_row.batches) LOOP
      DECLARE
        b constant integer := v_row.batches[i];
        room constant bigint := CASE WHEN v_cap[b] IS NOT NULL THEN greatest(v_cap[b] - v_used - v_total, 0) END;
      BEGIN
        IF v_registered[b] > room THEN
          IF NOT v_alone THEN
            RAISE EXCEPTION 'a batch that shares the call passes its cap' USING ERRCODE = 'VN001';
          END IF;
          -- The first ones that fit stay (D16). A duplicate of one that does not is over quota as well.
          v_excess := ARRAY(SELECT o FROM unnest(v_outcomes) WITH ORDINALITY AS x(o, n)
            WHERE o > 0 ORDER BY n OFFSET room);
          DELETE FROM messages m WHERE m.application_id = ANY (v_excess);
          DELETE FROM applications a WHERE a.id = ANY (v_excess);
          v_outcomes := ARRAY(
            SELECT CASE WHEN c.outcome = ANY (v_excess) THEN -1
              WHEN c.outcome = 0 AND c.phone_index IN (SELECT e.phone_index
                FROM unnest(v_outcomes, a_phone) AS e(id, phone_index) WHERE e.id = ANY (v_excess)) THEN -1
              ELSE c.outcome END
            FROM unnest(v_outcomes, a_phone) WITH ORDINALITY AS c(outcome, phone_index, n) ORDER BY c.n);
          v_registered[b] := room;
        END IF;
        v_total := v_total + v_registered[b];
      END;
    END LOOP;
    IF v_total > 0 THEN
      INSERT INTO usage_entries AS u (partner_id, second, slot, count)
      VALUES (v_row.partner_id, date_trunc('second', v_at) + interval '1 second', pg_backend_pid() % 8, v_total)
      ON CONFLICT (partner_id, second, slot) DO UPDATE SET count = u.count + excluded.count;
    END IF;
  END LOOP;

  RETURN QUERY
  WITH done AS (
    SELECT b.n::integer AS batch, coalesce(o.outcomes, '{}') AS outcomes
    FROM unnest(v_verdict) WITH ORDINALITY AS b(verdict, n)
    LEFT JOIN (
      SELECT c.batch, array_agg(c.outcome ORDER BY c.n) AS outcomes
      FROM unnest(a_batch, v_outcomes) WITH ORDINALITY AS c(batch, outcome, n) GROUP BY c.batch
    ) o ON o.batch = b.n
    WHERE b.verdict = 'done'
  ), kept AS (
    INSERT INTO batch_receipts (batch_id, api_key_id, created_at, outcomes, daily_cap, idempotency_digest,
      body_digest, draft)
    SELECT b_id[d.batch], b_key_id[d.batch], v_at, d.outcomes, v_cap[d.batch], b_idempotency[d.batch],
      b_body[d.batch], b_draft[d.batch]
    FROM done d WHERE v_registered[d.batch] > 0 OR b_idempotency[d.batch] IS NOT NULL
    ORDER BY b_key_id[d.batch], b_idempotency[d.batch]
  )
  SELECT b.n::integer, b.verdict, d.outcomes, v_cap[b.n], NULL::bytea
  FROM unnest(v_verdict) WITH ORDINALITY AS b(verdict, n) LEFT JOIN done d ON d.batch = b.n
  WHERE b.verdict <> 'replay';
END
$$;
