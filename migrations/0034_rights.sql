-- What one person may ask for (src/subjects/rights, docs/subject.md).

-- The erasures: they are done again where an older backup is restored. A row has no personal data.
-- Bound: one row an erasure, for ever, because a backup may be as old as the store.
CREATE TABLE erasures (
  id uuid PRIMARY KEY,
  -- In the order in which they were stored, about; a gap means nothing.
  number bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  erased_at timestamptz NOT NULL,
  -- The applications, and what the envelope of the batch of each one is bound to. After a restore a batch number may be
  -- given again, and then to a batch with another seal_id.
  application_ids bigint[] NOT NULL,
  seal_ids uuid[] NOT NULL
);

-- Raises where the erasure is not of all these applications. A function that runs as the owner deletes what only an
-- erasure may delete: its caller can make an erasure, and cannot take it back, so that it tells of the deletion.
CREATE FUNCTION require_erasure(p_erasure uuid, p_application_ids bigint[]) RETURNS void
LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF EXISTS (
    SELECT unnest(p_application_ids) EXCEPT SELECT unnest(e.application_ids) FROM erasures e WHERE e.id = p_erasure)
  THEN
    RAISE EXCEPTION 'no erasure of these applications is stored' USING ERRCODE = '42501';
  END IF;
END
$$;

-- The phones of each erasure: a restored store suppresses them again, also where it has none of the applications. Each
-- is a blind index. Bound: that of erasures, with a row a phone.
CREATE TABLE erased_phones (
  erasure_id uuid NOT NULL,
  phone_index bigint NOT NULL,
  PRIMARY KEY (erasure_id, phone_index)
);

-- What the runtime role may do (0001_shared.sql).
SELECT runtime_may('SELECT, INSERT', 'erasures');
SELECT runtime_may('SELECT, INSERT, UPDATE', 'erased_phones');
