-- Suppressions: opt-outs and resumes, of the channel and of operators. The head of migrations/0004_messages.sql gives
-- the order of locks.

-- How far the channel's clock may differ from the database's.
CREATE OR REPLACE FUNCTION clock_doubt() RETURNS interval LANGUAGE sql IMMUTABLE RETURN interval '15 minutes';

-- Applies opt-outs (stops) and resumes of the channel. In doubt the phone is suppressed:
-- - of a stop and a resume of the same time the stop holds;
-- - a resume lifts no suppression of an operator;
-- - after an operator's lift a stop holds, unless it was known then, or is older by more than clock_doubt();
-- - a time in the future counts as now, and for a stop as at most a while from now, so that no wrong time of the
--   channel overrules a later change.
--
-- Returns a row a phone: whether it was suppressed before, and whether it is now.
CREATE OR REPLACE FUNCTION apply_opt_out_changes(p_phones bigint[], p_stops boolean[], p_sources text[], p_at timestamptz[])
RETURNS TABLE (was boolean, "is" boolean)
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  v_elapsed_ms constant bigint := elapsed_ms();
  w record;
  s suppressions;
  v_stop timestamptz;
  v_active boolean;
BEGIN
  FOR w IN
    SELECT u.phone_index, max(u.at) FILTER (WHERE u.stops) AS stop, max(u.at) FILTER (WHERE NOT u.stops) AS resume,
      (array_agg(u.source ORDER BY u.at DESC) FILTER (WHERE u.stops))[1] AS source
    FROM (SELECT g.phone_index, g.stops, g.source,
        least(g.at, CASE WHEN g.stops THEN v_now + clock_doubt() ELSE v_now END) AS at
      FROM unnest(p_phones, p_stops, p_sources, p_at) AS g(phone_index, stops, source, at)) u
    GROUP BY u.phone_index ORDER BY u.phone_index
  LOOP
    INSERT INTO suppressions AS t (phone_index, active, source, heard_ms)
    VALUES (w.phone_index, false, 'channel', v_elapsed_ms)
    ON CONFLICT (phone_index) DO UPDATE SET source = t.source RETURNING t.* INTO s;
    v_stop := greatest(s.stopped_at, w.stop);
    v_active := CASE
      WHEN s.active AND s.source = 'operator' THEN true
      WHEN w.stop >= coalesce(greatest(s.resumed_at, w.resume), '-infinity') AND (s.lifted_at IS NULL
        OR w.stop > coalesce(s.lifted_stop, '-infinity') AND w.stop >= least(s.lifted_at, v_now) - clock_doubt())
        THEN true
      WHEN w.resume > coalesce(v_stop, '-infinity') THEN false
      ELSE s.active END;
    UPDATE suppressions SET
      active = v_active,
      source = CASE WHEN v_active AND NOT s.active THEN w.source ELSE s.source END,
      created_at = CASE WHEN NOT v_active OR w.stop IS NULL THEN s.created_at
        WHEN s.active THEN greatest(s.created_at, w.stop) ELSE w.stop END,
      changed_at = CASE WHEN v_active = s.active THEN s.changed_at ELSE v_now END,
      stopped_at = v_stop,
      resumed_at = greatest(s.resumed_at, w.resume),
      heard_ms = v_elapsed_ms
    WHERE phone_index = w.phone_index;
    RETURN QUERY SELECT s.active, v_active;
  END LOOP;
END
$$;

-- Suppresses the phones of applications. Overrules earlier changes; the time is now, by the database's clock.
CREATE OR REPLACE FUNCTION suppress_applicants(p_ids bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  v_elapsed_ms constant bigint := elapsed_ms();
  -- Read before the change: on a cluster a statement about a table of the coordinator may not ask other machines.
  v_phones constant bigint[] := ARRAY(
    SELECT DISTINCT a.phone_index FROM phones_of(p_ids) AS a WHERE a.phone_index IS NOT NULL);
BEGIN
  INSERT INTO suppressions AS s (phone_index, source, created_at, changed_at, stopped_at, heard_ms)
  SELECT u.phone_index, 'channel', v_now, v_now, v_now, v_elapsed_ms FROM unnest(v_phones) AS u(phone_index)
  ORDER BY u.phone_index
  ON CONFLICT (phone_index) DO UPDATE SET
    active = true,
    source = CASE WHEN s.active THEN s.source ELSE excluded.source END,
    created_at = CASE WHEN s.active THEN s.created_at ELSE excluded.created_at END,
    changed_at = CASE WHEN s.active THEN s.changed_at ELSE excluded.changed_at END,
    stopped_at = greatest(s.stopped_at, excluded.stopped_at),
    heard_ms = excluded.heard_ms;
END
$$;

-- Suppresses a phone for an operator, which is stronger than any other suppression. Returns false if the phone was
-- suppressed already.
CREATE OR REPLACE FUNCTION add_suppression(p_phone_index bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz;
  v_elapsed_ms constant bigint := elapsed_ms();
  v_changed_at timestamptz;
BEGIN
  PERFORM FROM suppressions s WHERE s.phone_index = p_phone_index FOR NO KEY UPDATE;
  -- The time is read after the wait for the lock.
  v_now := clock_timestamp();
  INSERT INTO suppressions AS s (phone_index, source, created_at, changed_at, heard_ms)
  VALUES (p_phone_index, 'operator', v_now, v_now, v_elapsed_ms)
  ON CONFLICT (phone_index) DO UPDATE SET
    active = true,
    source = excluded.source,
    created_at = excluded.created_at,
    changed_at = CASE WHEN s.active THEN s.changed_at ELSE excluded.changed_at END,
    heard_ms = excluded.heard_ms
  RETURNING s.changed_at INTO v_changed_at;
  RETURN v_changed_at = v_now;
END
$$;

-- Lifts a suppression for an operator, whatever its source. Returns false if there is none.
CREATE OR REPLACE FUNCTION lift_suppression(p_phone_index bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz;
  v_elapsed_ms constant bigint := elapsed_ms();
BEGIN
  PERFORM FROM suppressions s WHERE s.phone_index = p_phone_index FOR NO KEY UPDATE;
  -- The time is read after the wait for the lock.
  v_now := clock_timestamp();
  UPDATE suppressions s SET active = false, lifted_at = v_now, lifted_stop = s.stopped_at, changed_at = v_now,
    heard_ms = v_elapsed_ms
  WHERE s.phone_index = p_phone_index AND s.active;
  RETURN FOUND;
END
$$;
