-- What has no subject of its own: what the runtime role may do, fingerprints of secrets, elapsed time, the machines of
-- a cluster, probes.

-- What the runtime role may do with each table, view and sequence, and which functions it may call that run as the
-- owner. Other tables and functions of the schema, such as those of a pooler, are no concern of the service. The
-- service connects as that role, and the owner of the tables migrates (docs/roles.md). A partition has no row: a
-- statement that names the whole table needs none.
CREATE TABLE runtime_privileges (
  name text PRIMARY KEY,
  privileges text[] NOT NULL
);

-- Fingerprints of the secrets that the stored data depends on: a start with others is refused.
CREATE TABLE secret_checks (
  name text PRIMARY KEY,
  value uuid NOT NULL,
  -- A service has run with the secret; otherwise only a command has used it.
  confirmed boolean NOT NULL,
  -- Of a data key: when a running service last said that it seals with the key; NULL: none has.
  seals_at timestamptz,
  -- Of a data key: how many values were sealed with it, about; the bound is 2^32 (src/seal/vault.ts).
  seals bigint NOT NULL DEFAULT 0,
  -- Of a data key: when it was proved that no row needs the key any more.
  retired_at timestamptz,
  -- Of a data key: a service started without the key, and nothing needed it. The row has its seals, for the case that
  -- the key comes back.
  forgotten boolean NOT NULL DEFAULT false
);

-- How much time has certainly passed while the service ran: a lower bound, which no step of a clock moves. A row that
-- is old by the database's clock counts no more; it is deleted when it is old by this time as well.
CREATE TABLE elapsed (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  ms bigint NOT NULL DEFAULT 0,
  -- The database's clock when ms was last moved.
  moved_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The batch number at which the last partition of batches ends. It is here because registration reads this row
  -- anyway.
  partitions_end bigint NOT NULL DEFAULT 0,
  -- The first batch number after the closed segments (closed_segments), also where these are deleted by now.
  open_from bigint NOT NULL DEFAULT 0,
  -- Ids of data keys that no batch may be sealed with any more: they are retired, or are just being retired.
  refused_keys integer[] NOT NULL DEFAULT '{}',
  -- The fingerprint of how the stored blind indexes are made: with which index key, and in which form of the values
  -- (indexOriginsOf in src/seal/vault.ts); NULL: no service has run yet. While indexes are made again (vault reindex)
  -- it is that of no key, so that no batch is registered.
  index_key uuid
);
INSERT INTO elapsed DEFAULT VALUES;

-- Stands for the function of sql/functions/shared/elapsed.sql, which replaces it: columns have it as their default, and
-- functions come after all tables.
CREATE FUNCTION elapsed_ms() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT NULL::bigint';
