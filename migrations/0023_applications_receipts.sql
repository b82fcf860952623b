-- Receipts of registered batches.

-- Numbers the receipts that may be forgotten early: no clock says which of them is the older one (D39).
CREATE SEQUENCE refused_numbers AS bigint;
SELECT runtime_may('USAGE', 'refused_numbers');

-- Receipts: a batch's answer, kept for 24 hours, so that a lost answer is given again instead of the batch being
-- registered again (D15, D36). batch_id is a version 7 UUID only so that new rows lie together: the clock in it
-- decides nothing. Bound: the upkeep deletes what was stored 25 elapsed hours ago. Of the answers that registered
-- nothing only the newest of each API key stay (src/subjects/applications/sql/refused-receipts.ts).
CREATE TABLE batch_receipts (
  batch_id uuid PRIMARY KEY,
  api_key_id integer NOT NULL,
  created_at timestamptz NOT NULL,
  -- elapsed_ms() when the receipt was stored.
  stored_ms bigint NOT NULL,
  -- The number of the batch, which gives an application's id together with a position. 0: nothing was registered. NULL:
  -- a fence, which prevents that a late try registers a batch that was answered otherwise meanwhile.
  number bigint,
  -- The outcomes, a letter a position: R registered, D duplicate, Q over_quota, - invalid. NULL: all are registered.
  outcomes text,
  daily_cap integer,
  -- Keyed hashes of the Idempotency-Key and of the body's bytes; NULL if the client sent no key.
  idempotency_digest uuid,
  body_digest uuid,
  -- The answer is made again from the draft and the body (src/subjects/applications/sql/draft.ts).
  draft bytea,
  -- The batch registered nothing, and the receipt may be forgotten early (D36): of an API key, those with the least
  -- numbers first. NULL: it stays for its whole time.
  refused_number bigint
);
CREATE UNIQUE INDEX batch_receipts_idempotency ON batch_receipts (api_key_id, idempotency_digest)
  WHERE idempotency_digest IS NOT NULL;
CREATE INDEX batch_receipts_stored ON batch_receipts (stored_ms);
CREATE INDEX batch_receipts_refused ON batch_receipts (api_key_id, stored_ms, refused_number) WHERE refused_number IS NOT NULL;

-- How long an answer is given again (D36).
CREATE FUNCTION receipt_life() RETURNS interval LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN interval '24 hours';

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
  IF v_receipt.created_at <= p_at - receipt_life() AND v_receipt.stored_ms <= p_elapsed_ms - ms_of(receipt_life()) THEN
    DELETE FROM batch_receipts r WHERE r.batch_id = v_receipt.batch_id;
  ELSE
    RETURN NEXT v_receipt;
  END IF;
END
$$;

-- What the runtime role may do (0001_shared.sql).
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'batch_receipts');
