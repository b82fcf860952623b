-- Who wants messages: stops and resumes, of the channel and of operators.
-- The order of locks stands at the head of 0005_delivery.sql.

-- What is known of each phone's wish for messages, by blind index. One row a phone, so that whoever speaks of it waits
-- for the word before, and the last one to commit is the last word. Operators' words hold as they come. Those of the
-- channel carry its own time and come late, doubled and in any order: they are held against each other by that time.
-- Bound: while active, kept, for an opt-out does not expire; else the upkeep deletes 30 days after the last word; the
-- channel repeats its events for 7.
CREATE TABLE suppressions (
  phone_index bigint PRIMARY KEY,
  -- No message goes out.
  active boolean NOT NULL DEFAULT true,
  -- Who asked for it: keyword, channel or operator.
  source text NOT NULL,
  -- When they last asked.
  created_at timestamptz NOT NULL DEFAULT now(),
  -- By the database's clock: when it was last suppressed or lifted.
  changed_at timestamptz NOT NULL DEFAULT now(),
  -- By the channel's clock: the latest word of either kind that is known.
  stopped_at timestamptz,
  resumed_at timestamptz,
  -- By the database's clock: when an operator last lifted it; and the latest stop that was known then.
  lifted_at timestamptz,
  lifted_stop timestamptz,
  -- elapsed_ms() of the last word.
  heard_ms bigint NOT NULL DEFAULT elapsed_ms()
);
CREATE INDEX suppressions_newest ON suppressions (created_at, phone_index);

-- How far the channel's clock may be from the database's.
CREATE FUNCTION clock_doubt() RETURNS interval LANGUAGE sql IMMUTABLE RETURN interval '15 minutes';

-- Takes in words of the channel: stops and resumes of phones. In doubt the phone is suppressed:
--   - of a stop and a resume of the same time the stop holds;
--   - a resume lifts no suppression of an operator's;
--   - after an operator's lift a stop holds unless it was known then, or is older by more than the doubt;
--   - what is said to come is taken to be said now, a stop to be said in a while at most, so that no wrong time of the
--     channel silences a later word.
-- A row a phone: whether it was suppressed before, and is now.
CREATE FUNCTION hear_wishes(p_phones bigint[], p_stops boolean[], p_sources text[], p_at timestamptz[])
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

-- Suppresses the phones of applications. Holds whatever was said before, and is of now by the database's clock.
CREATE FUNCTION suppress_applicants(p_ids bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  v_elapsed_ms constant bigint := elapsed_ms();
BEGIN
  INSERT INTO suppressions AS s (phone_index, source, created_at, changed_at, stopped_at, heard_ms)
  SELECT DISTINCT a.phone_index, 'channel', v_now, v_now, v_now, v_elapsed_ms FROM phones_of(p_ids) AS a
  WHERE a.phone_index IS NOT NULL ORDER BY a.phone_index
  ON CONFLICT (phone_index) DO UPDATE SET
    active = true,
    source = CASE WHEN s.active THEN s.source ELSE excluded.source END,
    created_at = CASE WHEN s.active THEN s.created_at ELSE excluded.created_at END,
    changed_at = CASE WHEN s.active THEN s.changed_at ELSE excluded.changed_at END,
    stopped_at = greatest(s.stopped_at, excluded.stopped_at),
    heard_ms = excluded.heard_ms;
END
$$;

-- Suppresses a phone for an operator: stronger than what is there. False where it was suppressed already.
CREATE FUNCTION add_suppression(p_phone_index bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz;
  v_elapsed_ms constant bigint := elapsed_ms();
  v_changed_at timestamptz;
BEGIN
  PERFORM FROM suppressions s WHERE s.phone_index = p_phone_index FOR NO KEY UPDATE;
  -- After the wait for the lock.
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

-- Lifts a suppression for an operator, whoever asked for it; false where there is none.
CREATE FUNCTION lift_suppression(p_phone_index bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz;
  v_elapsed_ms constant bigint := elapsed_ms();
BEGIN
  PERFORM FROM suppressions s WHERE s.phone_index = p_phone_index FOR NO KEY UPDATE;
  -- After the wait for the lock.
  v_now := clock_timestamp();
  UPDATE suppressions s SET active = false, lifted_at = v_now, lifted_stop = s.stopped_at, changed_at = v_now,
    heard_ms = v_elapsed_ms
  WHERE s.phone_index = p_phone_index AND s.active;
  RETURN FOUND;
END
$$;
