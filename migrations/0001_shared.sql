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

-- Says so. The owner grants it at the end of the migrations (grant_runtime).
CREATE FUNCTION runtime_may(p_privileges text, p_name text) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO runtime_privileges AS r (name, privileges) VALUES (p_name, string_to_array(p_privileges, ', '))
  ON CONFLICT (name) DO UPDATE SET privileges = excluded.privileges
$$;
SELECT runtime_may('SELECT', 'runtime_privileges');
SELECT runtime_may('SELECT', 'schema_migrations');

-- Lets a function run with the owner's rights, whoever calls it: the runtime role may call it, and nobody else. For
-- functions that make or drop tables, or change rows that the runtime role may not. Such a function checks its
-- arguments. It finds no table of the caller's: the schema of the store comes first, and the caller's temporary tables
-- come last.
CREATE FUNCTION runs_as_owner(p_function regprocedure) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM runtime_may('EXECUTE', p_function::text);
  EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path TO %I, pg_temp', p_function, current_schema());
  EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', p_function);
END
$$;

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
SELECT runtime_may('SELECT, INSERT, UPDATE', 'secret_checks');

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
  -- The first batch number after the closed segments (0027_applications_look_up.sql), also where these are deleted by
  -- now.
  open_from bigint NOT NULL DEFAULT 0,
  -- Ids of data keys that no batch may be sealed with any more: they are retired, or are just being retired.
  refused_keys integer[] NOT NULL DEFAULT '{}',
  -- The fingerprint of how the stored blind indexes are made: with which index key, and in which form of the values
  -- (indexOriginsOf in src/seal/vault.ts); NULL: no service has run yet. While indexes are made again (vault reindex)
  -- it is that of no key, so that no batch is registered.
  index_key uuid
);
INSERT INTO elapsed DEFAULT VALUES;
SELECT runtime_may('SELECT, UPDATE', 'elapsed');

-- Lets no batch that is sealed with a data key be registered from now on, or lets it again.
CREATE FUNCTION refuse_data_key(p_id integer, p_is_refused boolean) RETURNS void
LANGUAGE sql AS $$
  UPDATE elapsed SET refused_keys = array_remove(refused_keys, p_id) || CASE WHEN p_is_refused THEN ARRAY[p_id] END
$$;

-- Says which index key the stored blind indexes are made with from now on, by its fingerprint.
CREATE FUNCTION put_index_key(p_key uuid) RETURNS void
LANGUAGE sql AS $$
  UPDATE elapsed SET index_key = p_key WHERE index_key IS DISTINCT FROM p_key
$$;

-- Raises VN005 where the stored blind indexes are made with another index key, or in another form: a process that a
-- vault reindex passed by would find nobody.
CREATE FUNCTION require_index_key(p_key uuid) RETURNS void
LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF EXISTS (SELECT FROM elapsed e WHERE e.index_key <> p_key) THEN
    RAISE EXCEPTION 'the stored blind indexes are not those of this process: a vault reindex began after its start'
      USING ERRCODE = 'VN005';
  END IF;
END
$$;

-- Whether a data key may seal what is stored now. Not in SQL: Citus computes the call of a function before it sends an
-- UPDATE to other machines, and refuses a subquery in its place.
CREATE FUNCTION may_seal(p_id integer) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN NOT EXISTS (SELECT FROM elapsed e WHERE p_id = ANY (e.refused_keys));
END
$$;

CREATE FUNCTION elapsed_ms() RETURNS bigint
LANGUAGE sql STABLE AS $$ SELECT ms FROM elapsed $$;

-- A time in milliseconds, as elapsed_ms() counts them. A day has 24 hours.
CREATE FUNCTION ms_of(p_time interval) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (extract(epoch FROM p_time) * 1000)::bigint;

-- Moves ms on from p_seen by p_passed_ms, or by what has passed on the database's clock if that is less; by a minute
-- at most. Returns the new value; NULL if the present value is not p_seen.
CREATE FUNCTION move_elapsed(p_seen bigint, p_passed_ms double precision) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz;
  v_ms bigint;
BEGIN
  PERFORM 1 FROM elapsed e FOR NO KEY UPDATE;
  v_now := clock_timestamp();
  SELECT e.ms + floor(greatest(0, least(p_passed_ms, 60000, extract(epoch FROM v_now - e.moved_at) * 1000)))::bigint
  INTO v_ms FROM elapsed e WHERE e.ms = p_seen;
  IF FOUND THEN UPDATE elapsed SET moved_at = v_now, ms = v_ms WHERE ms = p_seen; END IF;
  RETURN v_ms;
END
$$;

-- Says where the last partition of batches ends from now on. The caller makes the partitions, one session at a time.
CREATE FUNCTION put_partitions_end(p_end bigint) RETURNS void
LANGUAGE sql AS $$ UPDATE elapsed SET partitions_end = p_end $$;

-- Says which batch number is the first one after the closed segments from now on. The caller holds their list.
CREATE FUNCTION put_open_from(p_number bigint) RETURNS void
LANGUAGE sql AS $$ UPDATE elapsed SET open_from = p_number $$;

-- Runs a command with one result on the coordinator, in a transaction of its own.
CREATE FUNCTION on_coordinator(p_command text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  v_done record;
BEGIN
  SELECT c.success, c.result INTO STRICT v_done FROM run_command_on_coordinator(p_command) AS c;
  IF NOT v_done.success THEN RAISE EXCEPTION 'on the coordinator: %', v_done.result; END IF;
  RETURN nullif(v_done.result, '');
END
$$;

-- The names of the transactions that a machine of a Citus cluster has prepared, and has neither committed nor undone.
-- NULL where the database is on one machine.
CREATE FUNCTION prepared_transactions() RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
  v_machine record;
  v_names text[] := '{}';
BEGIN
  IF to_regclass('pg_dist_node') IS NULL THEN RETURN NULL; END IF;
  FOR v_machine IN SELECT c.success, c.result FROM run_command_on_all_nodes(
    'SELECT array_agg(gid) FROM pg_prepared_xacts WHERE database = current_database()') AS c
  LOOP
    IF NOT v_machine.success THEN
      RAISE EXCEPTION 'a machine does not answer: %', v_machine.result USING ERRCODE = 'connection_failure';
    END IF;
    v_names := v_names || coalesce(nullif(v_machine.result, '')::text[], '{}');
  END LOOP;
  RETURN v_names;
END
$$;

-- Failures in a row that break the channel or an endpoint: from then on only probes go out, until one gets through.
CREATE FUNCTION breaking_failures() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 5;

-- The pause before the next probe after p_probes of them: 15 seconds at first, then twice as long each time, 15 minutes
-- at most.
CREATE FUNCTION probe_pause(p_probes integer) RETURNS interval LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN least(interval '15 seconds' * 2 ^ least(p_probes, 10), interval '15 minutes');

-- Whether it is time for a probe. A time further away than the longest pause was written while the clock was ahead. The
-- minute more is for a session that read the clock before another one set the longest pause.
CREATE FUNCTION is_probe_time(p_probe_at timestamptz, p_at timestamptz) RETURNS boolean LANGUAGE sql STABLE
RETURN p_probe_at <= p_at OR p_probe_at > p_at + interval '16 minutes';
