-- The machines of a Citus cluster (docs/scale.md).

-- Runs a command with one result on the coordinator, in a transaction of its own.
CREATE OR REPLACE FUNCTION on_coordinator(p_command text) RETURNS text
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
CREATE OR REPLACE FUNCTION prepared_transactions() RETURNS text[]
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

-- True in a session on a worker of Citus: the sequence of the batches is on the coordinator, which also makes all
-- tables.
CREATE OR REPLACE FUNCTION is_worker() RETURNS boolean
LANGUAGE sql STABLE
RETURN to_regclass('batch_numbers') IS NULL;

-- Ends every wait for a lock in the rest of this transaction after p_limit, also on the other machines of a cluster,
-- which would wait without an end. Call it by PERFORM: Citus passes a setting on only where a statement runs inside
-- another one, and a function that an assignment calls is none.
CREATE OR REPLACE FUNCTION limit_lock_waits(p_limit text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL citus.propagate_set_commands = 'local';
  EXECUTE format('SET LOCAL lock_timeout = %L', p_limit);
END
$$;
