-- The same rows, indexes and durability as register_batches writes, by the leanest statement: no key, no
-- duplicate, no quota, no replay is looked at.
CREATE OR REPLACE FUNCTION bench_ceiling(
  b uuid, a_position smallint[], a_phone uuid[], a_id_number uuid[], a_decision decision[],
  a_message message_type[], a_score smallint[], p1 smallint[], p2 smallint[], p3 smallint[], p4 smallint[],
  p5 smallint[], a_optin boolean[], a_num_debts text[], a_debt_age text[], a_prior_history text[],
  a_currency text[], a_platform text[], a_income numeric[], a_debt_amount numeric[], v_envelope bytea
) RETURNS bigint[] LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_ids bigint[];
  v_number constant bigint := nextval('batch_numbers');
BEGIN
  WITH inserted AS (
    INSERT INTO applications (id, created_at, phone_index, id_number_index, batch_id, partner_id, api_key_id,
      policy_id, position, score, payment_capacity_points, channel_points, debt_age_points, num_debts_points,
      prior_history_points, decision, status, messaging_optin, num_debts, debt_age, prior_history, currency,
      platform, income, debt_amount)
    SELECT v_number * 128 + a_position[i], now(), a_phone[i], a_id_number[i], b, 1, 1, 1, a_position[i],
      a_score[i], p1[i], p2[i], p3[i], p4[i], p5[i], a_decision[i],
      CASE a_decision[i] WHEN 'approved' THEN 'pending_signature'::application_status
        WHEN 'in_review' THEN 'in_review' ELSE 'rejected' END,
      a_optin[i], a_num_debts[i], a_debt_age[i], a_prior_history[i], a_currency[i], a_platform[i],
      a_income[i], a_debt_amount[i]
    FROM generate_series(1, cardinality(a_position)) AS i
    RETURNING id
  ) SELECT array_agg(id) INTO v_ids FROM inserted;
  INSERT INTO batches (id, envelope, surplus) VALUES (b, v_envelope, false);
  INSERT INTO messages (application_id, created_at, type)
  SELECT v_ids[i], now(), a_message[i] FROM generate_series(1, cardinality(v_ids)) AS i
  WHERE a_message[i] IS NOT NULL;
  INSERT INTO usage_entries AS u (partner_id, second, slot, count)
  VALUES (1, date_trunc('second', now()), pg_backend_pid() % 8, cardinality(v_ids))
  ON CONFLICT (partner_id, second, slot) DO UPDATE SET count = u.count + excluded.count;
  INSERT INTO batch_receipts (batch_id, api_key_id, created_at, stored_ms, outcomes) VALUES (b, 1, now(), 0, v_ids);
  RETURN v_ids;
END
$$;
