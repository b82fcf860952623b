-- Outcomes of each key's applications, by hour.

-- True if a key's hour looks as if phones were tried to learn which have an open application: 500 refusals of valid
-- applications, and more of them than were registered.
CREATE OR REPLACE FUNCTION looks_like_sweep(registered bigint, duplicate bigint, over_quota bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN duplicate + over_quota >= 500 AND duplicate + over_quota > registered;

-- Adds to the running hour of keys. Returns the rows that look like a sweep by this addition, and did not before.
CREATE OR REPLACE FUNCTION add_key_outcomes(
  p_keys integer[], p_registered bigint[], p_duplicate bigint[], p_over_quota bigint[], p_invalid bigint[],
  p_unauthorized bigint[], p_remembered bigint[], p_forgotten bigint[]
) RETURNS SETOF key_outcomes
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := now();
  v_hour constant timestamptz := date_trunc('hour', v_now, 'UTC');
  v_elapsed_ms constant bigint := elapsed_ms();
BEGIN
  INSERT INTO key_outcomes AS o
    (hour, api_key_id, registered, duplicate, over_quota, invalid, unauthorized, remembered, forgotten, stored_ms)
  SELECT v_hour, g.id, g.registered, g.duplicate, g.over_quota, g.invalid, g.unauthorized, g.remembered, g.forgotten,
    v_elapsed_ms
  FROM unnest(p_keys, p_registered, p_duplicate, p_over_quota, p_invalid, p_unauthorized, p_remembered, p_forgotten)
    AS g(id, registered, duplicate, over_quota, invalid, unauthorized, remembered, forgotten)
  ORDER BY g.id
  ON CONFLICT (hour, api_key_id) DO UPDATE SET
    registered = o.registered + excluded.registered,
    duplicate = o.duplicate + excluded.duplicate,
    over_quota = o.over_quota + excluded.over_quota,
    invalid = o.invalid + excluded.invalid,
    unauthorized = o.unauthorized + excluded.unauthorized,
    remembered = o.remembered + excluded.remembered,
    forgotten = o.forgotten + excluded.forgotten,
    stored_ms = excluded.stored_ms;
  INSERT INTO key_totals AS t (api_key_id, registered, duplicate, over_quota, invalid, unauthorized)
  SELECT g.id, g.registered, g.duplicate, g.over_quota, g.invalid, g.unauthorized
  FROM unnest(p_keys, p_registered, p_duplicate, p_over_quota, p_invalid, p_unauthorized)
    AS g(id, registered, duplicate, over_quota, invalid, unauthorized)
  ORDER BY g.id
  ON CONFLICT (api_key_id) DO UPDATE SET
    registered = t.registered + excluded.registered,
    duplicate = t.duplicate + excluded.duplicate,
    over_quota = t.over_quota + excluded.over_quota,
    invalid = t.invalid + excluded.invalid,
    unauthorized = t.unauthorized + excluded.unauthorized;
  RETURN QUERY UPDATE key_outcomes o SET sweep_at = v_now
  WHERE o.hour = v_hour AND o.api_key_id = ANY (p_keys) AND o.sweep_at IS NULL
    AND looks_like_sweep(o.registered, o.duplicate, o.over_quota)
  RETURNING o.*;
END
$$;
