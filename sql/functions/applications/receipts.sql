-- Receipts of registered batches.

-- How long an answer is given again (D36).
CREATE OR REPLACE FUNCTION receipt_life() RETURNS interval LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN interval '24 hours';

-- The receipt of an Idempotency-Key; no row if there is none. Deletes a receipt that is over instead of giving it.
CREATE OR REPLACE FUNCTION remembered_receipt(p_key_id integer, p_idempotency uuid, p_at timestamptz, p_elapsed_ms bigint)
RETURNS SETOF batch_receipts
LANGUAGE plpgsql ROWS 1 AS $$
DECLARE
  v_receipt batch_receipts;
BEGIN
  SELECT * INTO v_receipt FROM batch_receipts r
  WHERE r.api_key_id = p_key_id AND r.idempotency_digest = p_idempotency;
  IF NOT FOUND THEN RETURN; END IF;
  IF v_receipt.created_at <= p_at - receipt_life() AND v_receipt.stored_ms <= p_elapsed_ms - ms_of(receipt_life()) THEN
    DELETE FROM batch_receipts r WHERE r.batch_id = v_receipt.batch_id;
  ELSE
    RETURN NEXT v_receipt;
  END IF;
END
$$;
