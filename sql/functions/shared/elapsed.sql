-- The elapsed time: a lower bound of what has passed, which no step of a clock moves (D39); and places in the batch
-- numbers that stand beside it.

CREATE OR REPLACE FUNCTION elapsed_ms() RETURNS bigint
LANGUAGE sql STABLE AS $$ SELECT ms FROM elapsed $$;

-- A time in milliseconds, as elapsed_ms() counts them. A day has 24 hours.
CREATE OR REPLACE FUNCTION ms_of(p_time interval) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (extract(epoch FROM p_time) * 1000)::bigint;

-- Moves ms on from p_seen by p_passed_ms, or by what has passed on the database's clock if that is less; by a minute
-- at most. Returns the new value; NULL if the present value is not p_seen.
CREATE OR REPLACE FUNCTION move_elapsed(p_seen bigint, p_passed_ms double precision) RETURNS bigint
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
CREATE OR REPLACE FUNCTION put_partitions_end(p_end bigint) RETURNS void
LANGUAGE sql AS $$ UPDATE elapsed SET partitions_end = p_end $$;

-- Says which batch number is the first one after the closed segments from now on. The caller holds their list.
CREATE OR REPLACE FUNCTION put_open_from(p_number bigint) RETURNS void
LANGUAGE sql AS $$ UPDATE elapsed SET open_from = p_number $$;
