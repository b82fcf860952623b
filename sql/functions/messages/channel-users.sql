-- Persons at the channel whose phone the channel does not always tell. The head of migrations/0004_messages.sql gives
-- the order of locks.

-- Notes the phones of persons, and applies what these persons wanted before their phone was known. Returns as
-- apply_opt_out_changes does.
CREATE OR REPLACE FUNCTION learn_channel_users(p_users bigint[], p_phones bigint[]) RETURNS TABLE (was boolean, "is" boolean)
LANGUAGE plpgsql AS $$
DECLARE
  v_heard_ms constant bigint := elapsed_ms() / ms_of(interval '30 days') * ms_of(interval '30 days');
  v_users bigint[];
  v_phones bigint[];
  v_stops boolean[];
  v_sources text[];
  v_at timestamptz[];
BEGIN
  WITH learnt AS (
    INSERT INTO channel_users AS u (user_index, phone_index, heard_ms)
    SELECT DISTINCT ON (g.user_index) g.user_index, g.phone_index, v_heard_ms
    FROM unnest(p_users, p_phones) AS g(user_index, phone_index) ORDER BY g.user_index
    ON CONFLICT (user_index) DO UPDATE SET phone_index = excluded.phone_index, heard_ms = excluded.heard_ms
    WHERE u.phone_index IS DISTINCT FROM excluded.phone_index OR u.heard_ms < excluded.heard_ms
    RETURNING u.*
  )
  SELECT array_agg(l.user_index), array_agg(l.phone_index), array_agg(w.stops),
    array_agg(CASE WHEN w.stops THEN l.stop_source ELSE 'channel' END), array_agg(w.at)
  INTO v_users, v_phones, v_stops, v_sources, v_at
  FROM learnt l CROSS JOIN LATERAL (VALUES (true, l.stopped_at), (false, l.resumed_at)) AS w(stops, at)
  WHERE w.at IS NOT NULL;
  IF v_users IS NULL THEN RETURN; END IF;
  -- Each is applied once, so that none overrules a later word of the channel or of an operator.
  UPDATE channel_users u SET stopped_at = NULL, stop_source = NULL, resumed_at = NULL
  WHERE u.user_index = ANY (v_users);
  RETURN QUERY SELECT h.was, h.is FROM apply_opt_out_changes(v_phones, v_stops, v_sources, v_at) AS h;
END
$$;

-- Applies opt-outs (stops) and resumes of persons whom the channel names by its own ids alone. Where the phone of the
-- person is known, it does what apply_opt_out_changes does. Otherwise it keeps them until the phone is known. Returns
-- as apply_opt_out_changes does, and NULLs for each person whose phone is not known.
CREATE OR REPLACE FUNCTION hear_channel_users(p_users bigint[], p_stops boolean[], p_sources text[], p_at timestamptz[])
RETURNS TABLE (was boolean, "is" boolean)
LANGUAGE plpgsql AS $$
DECLARE
  v_heard_ms constant bigint := elapsed_ms();
  v_users bigint[];
  v_phones bigint[];
BEGIN
  -- A row of its own for each person first, so that a session that learns the phone meanwhile waits, or is waited for.
  WITH heard AS (
    INSERT INTO channel_users AS u (user_index, stopped_at, stop_source, resumed_at, heard_ms)
    SELECT g.user_index, max(g.at) FILTER (WHERE g.stops),
      (array_agg(g.source ORDER BY g.at DESC) FILTER (WHERE g.stops))[1], max(g.at) FILTER (WHERE NOT g.stops), v_heard_ms
    FROM unnest(p_users, p_stops, p_sources, p_at) AS g(user_index, stops, source, at)
    GROUP BY g.user_index ORDER BY g.user_index
    ON CONFLICT (user_index) DO UPDATE SET
      stopped_at = CASE WHEN u.phone_index IS NULL THEN greatest(u.stopped_at, excluded.stopped_at) END,
      stop_source = CASE WHEN u.phone_index IS NULL THEN coalesce(excluded.stop_source, u.stop_source) END,
      resumed_at = CASE WHEN u.phone_index IS NULL THEN greatest(u.resumed_at, excluded.resumed_at) END,
      heard_ms = excluded.heard_ms
    RETURNING u.user_index, u.phone_index
  )
  SELECT array_agg(h.user_index), array_agg(h.phone_index) INTO v_users, v_phones FROM heard h;
  RETURN QUERY SELECT NULL::boolean, NULL::boolean FROM unnest(v_phones) AS p(phone_index) WHERE p.phone_index IS NULL;
  RETURN QUERY SELECT h.was, h.is FROM (
    SELECT array_agg(k.phone_index) AS phones, array_agg(g.stops) AS stops, array_agg(g.source) AS sources,
      array_agg(g.at) AS at
    FROM unnest(p_users, p_stops, p_sources, p_at) AS g(user_index, stops, source, at)
    JOIN unnest(v_users, v_phones) AS k(user_index, phone_index) ON k.user_index = g.user_index
    WHERE k.phone_index IS NOT NULL
  ) AS w CROSS JOIN LATERAL apply_opt_out_changes(w.phones, w.stops, w.sources, w.at) AS h;
END
$$;
