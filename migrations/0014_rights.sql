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

-- The phones of each erasure: a restored store suppresses them again, also where it has none of the applications. Each
-- is a blind index. Bound: that of erasures, with a row a phone.
CREATE TABLE erased_phones (
  erasure_id uuid NOT NULL,
  phone_index bigint NOT NULL,
  PRIMARY KEY (erasure_id, phone_index)
);
