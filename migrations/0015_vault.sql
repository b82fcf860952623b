-- Sealing everything again with another data key, and making all blind indexes again with another index key
-- (src/subjects/vault).

-- The reseal under way, or the last one. One row at most. Any number of processes take its steps in turn.
CREATE TABLE reseals (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  -- The data key that everything is sealed with in the end.
  key_id integer NOT NULL,
  -- Where the next step begins: the kind of sealed values, and the one of them from which it goes on.
  kind text NOT NULL,
  step_from text NOT NULL,
  -- Values that were sealed again, and values that were left because they do not open.
  resealed bigint NOT NULL DEFAULT 0,
  unopened bigint NOT NULL DEFAULT 0,
  -- When the next step may begin. A step under way sets it half a minute ahead, so that another process goes on where
  -- this one dies; then to when the rate allows the next step.
  next_at timestamptz NOT NULL,
  started_at timestamptz NOT NULL,
  finished_at timestamptz
);

-- The reindex under way: one row at most, none where none is. Each step writes its place with what it made again. The
-- keys are fingerprints of the way in which indexes are made (indexOriginsOf in src/seal/vault.ts).
CREATE TABLE reindexes (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  from_key uuid NOT NULL,
  to_key uuid NOT NULL,
  -- Where the next step begins: the kind of indexes, and the one of them from which it goes on.
  kind text NOT NULL,
  step_from text NOT NULL,
  -- Indexes that were made again, and applications that keep the form before because their values do not open.
  written bigint NOT NULL DEFAULT 0,
  unopened bigint NOT NULL DEFAULT 0
);
