-- The leanest statement that writes the same rows and indexes as register_batches, just as durably. It checks no
-- key, no duplicate, no quota and no replay.
CREATE OR REPLACE FUNCTION bench_ceiling(
  b_id uuid[], b_envelope bytea[], b_facts bytea[], b_platforms text[], b_positions integer[],
  a_batch smallint[], a_phone bigint[], a_id_number bigint[], a_decision decision[], a_message message_type[]
) RETURNS bigint[] LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_number bigint[];
  v_first integer[];
  v_total integer := 0;
BEGIN
  FOR n IN 1..cardinality(b_id) LOOP
    v_number[n] := nextval('batch_numbers');
    v_first[n] := v_total + 1;
    v_total := v_total + b_positions[n];
  END LOOP;
  INSERT INTO open_phones (phone_index, application_id)
  SELECT a_phone[i], (v_number[a_batch[i]] << 7) + i - v_first[a_batch[i]]
  FROM generate_series(1, v_total) AS i WHERE a_decision[i] <> 'rejected' AND a_phone[i] IS NOT NULL;
  INSERT INTO batches (id, created_at, seal_id, partner_id, api_key_id, policy_id, surplus, phones, id_numbers, facts,
    platforms, envelope)
  SELECT v_number[n], now(), b_id[n], 1, 1, 1, false, a_phone[v_first[n]:v_first[n] + b_positions[n] - 1],
    a_id_number[v_first[n]:v_first[n] + b_positions[n] - 1], b_facts[n], b_platforms[n], b_envelope[n]
  FROM generate_series(1, cardinality(b_id)) AS n;
  INSERT INTO review_queue (batch_id, partner_id, positions)
  SELECT v_number[a_batch[i]], 1, array_agg(i - v_first[a_batch[i]])
  FROM generate_series(1, v_total) AS i WHERE a_decision[i] = 'in_review' GROUP BY a_batch[i];
  INSERT INTO outbox (batch_id, partner_id, created_at, positions, types)
  SELECT v_number[a_batch[i]], 1, now(), array_agg(i - v_first[a_batch[i]] ORDER BY i),
    string_agg(left(a_message[i]::text, 1), '' ORDER BY i)
  FROM generate_series(1, v_total) AS i WHERE a_message[i] IS NOT NULL GROUP BY a_batch[i];
  INSERT INTO waiting_rejections (phone_index, message_id, partner_id)
  SELECT a_phone[i], (v_number[a_batch[i]] << 7) + i - v_first[a_batch[i]], 1
  FROM unnest(array_positions(a_message, 'rejected')) AS i;
  INSERT INTO usage_entries AS u (partner_id, second, slot, count)
  VALUES (1, date_trunc('second', now()), pg_backend_pid() % 8, v_total)
  ON CONFLICT (partner_id, second, slot) DO UPDATE SET count = u.count + excluded.count;
  INSERT INTO batch_receipts (batch_id, api_key_id, created_at, stored_ms, number)
  SELECT b_id[n], 1, now(), 0, v_number[n] FROM generate_series(1, cardinality(b_id)) AS n;
  RETURN v_number;
END
$$;
