-- Receipts of registered batches, and the parts of `register_batches` (0013_register_batches.sql).

-- Receipts: a batch's answer, kept for 24 hours, so that a lost answer is given again instead of the batch being
-- registered again (D15, D36). batch_id is a version 7 UUID only so that new rows lie together: the clock in it
-- decides nothing. Bound: the upkeep deletes what was stored 25 elapsed hours ago. Of the answers that registered
-- nothing only the newest of each API key stay (src/storage/refused-receipts.ts).
CREATE TABLE batch_receipts (
  batch_id uuid PRIMARY KEY,
  api_key_id integer NOT NULL,
  created_at timestamptz NOT NULL,
  -- elapsed_ms() when the receipt was stored.
  stored_ms bigint NOT NULL,
  -- The number of the batch, which gives an application's id together with a position. 0: nothing was registered. NULL:
  -- a fence, which prevents that a late try registers a batch that was answered otherwise meanwhile.
  number bigint,
  -- By position: R registered, D duplicate, Q over quota, - invalid. NULL: all are registered.
  marks text,
  daily_cap integer,
  -- Keyed hashes of the Idempotency-Key and of the body's bytes; NULL if the client sent no key.
  idempotency_digest uuid,
  body_digest uuid,
  -- With the body, the answer is made from this again (src/storage/draft.ts).
  draft bytea,
  -- True: registered nothing, and may be forgotten early (D36).
  refused boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX batch_receipts_idempotency ON batch_receipts (api_key_id, idempotency_digest)
  WHERE idempotency_digest IS NOT NULL;
CREATE INDEX batch_receipts_stored ON batch_receipts (stored_ms);
CREATE INDEX batch_receipts_refused ON batch_receipts (api_key_id, stored_ms, created_at) WHERE refused;

-- Parts of register_batches, in the order of their calls.

-- Makes this transaction's commit durable, whatever a URL, a default of the role or database, or a pooler says. Raises
-- VN002 if the transaction is not at READ COMMITTED.
CREATE FUNCTION require_durable_commit() RETURNS void
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

-- The receipt of an Idempotency-Key; no row if there is none. Deletes a receipt that is over instead of giving it.
CREATE FUNCTION remembered_receipt(p_key_id integer, p_idempotency uuid, p_at timestamptz, p_elapsed_ms bigint)
RETURNS SETOF batch_receipts
LANGUAGE plpgsql ROWS 1 AS $$
DECLARE
  v_receipt batch_receipts;
BEGIN
  SELECT * INTO v_receipt FROM batch_receipts r
  WHERE r.api_key_id = p_key_id AND r.idempotency_digest = p_idempotency;
  IF NOT FOUND THEN RETURN; END IF;
  IF v_receipt.created_at <= p_at - interval '24 hours' AND v_receipt.stored_ms <= p_elapsed_ms - 24 * 3600000 THEN
    DELETE FROM batch_receipts r WHERE r.batch_id = v_receipt.batch_id;
  ELSE
    RETURN NEXT v_receipt;
  END IF;
END
$$;

-- The last position of a batch that is tried if p_room applications fit (D16). An invalid one or a duplicate needs no
-- room.
CREATE FUNCTION last_tried(p_room bigint, a_follows_open boolean[], a_phone bigint[], a_id_number bigint[])
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

-- Whether all these phones have an open application; false where one is NULL.
CREATE FUNCTION are_open(p_phones bigint[]) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  RETURN p_phones <@ ARRAY(SELECT o.phone_index FROM open_phones o WHERE o.phone_index = ANY (p_phones));
END
$$;

-- Looks at the phones of the candidates up to p_tried in batches whose verdict is 'done'. An open application takes its
-- phone or finds it taken, and waits for a session that is just taking it. A rejected one takes nothing: it is a
-- duplicate if it finds an open one there. It looks first, so that it does not find open ones of its own batch that come
-- after it. Returns the positions in a_* of duplicates, and the applications that took their phone.
CREATE FUNCTION take_phones(
  p_tried integer, p_verdict text[], p_number bigint[], p_first integer[],
  a_batch smallint[], a_follows_open boolean[], a_phone bigint[], a_decision decision[],
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
      AND (a_follows_open[i] OR (a_decision[i] = 'rejected' AND a_phone[i] = ANY (v_held))));

  WITH open AS (
    SELECT a_phone[i] AS phone_index, (p_number[a_batch[i]] << 7) + i - p_first[a_batch[i]] AS application_id
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
        AND p_verdict[a_batch[i]] = 'done' AND (p_number[a_batch[i]] << 7) + i - p_first[a_batch[i]] <> ALL (taken));
  END IF;
END
$$;

-- The position of the last application that fits into p_room, out of those up to p_tried; 0 if none does.
CREATE FUNCTION last_that_fits(p_room bigint, p_tried integer, a_id_number bigint[], p_duplicates integer[])
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

-- Adds applications to the partner's usage.
CREATE FUNCTION add_usage(p_partner_id integer, p_at timestamptz, p_count integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_entries AS u (partner_id, second, slot, count)
  VALUES (p_partner_id, date_trunc('second', p_at) + interval '1 second', pg_backend_pid() % 8, p_count)
  ON CONFLICT (partner_id, second, slot) DO UPDATE SET count = u.count + excluded.count;
END
$$;

-- The marks of the positions p_first to p_last, as in batch_receipts.
CREATE FUNCTION marks_of(
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
