-- The usage ledger (D18, D39).

-- How long a registration counts (D16).
CREATE OR REPLACE FUNCTION usage_window() RETURNS interval LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN interval '24 hours';

-- The applications that count for the partner at p_at: all with a second later than 24 hours before, also those that
-- are later than now because the clock stepped back. The result is exact for any p_at; the last run of the upkeep
-- only decides how many rows are read.
CREATE OR REPLACE FUNCTION usage_at(p_partner_id integer, p_at timestamptz) RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT t.total
    - coalesce((SELECT sum(c.count) FROM usage_counted c
        WHERE c.partner_id = t.partner_id AND c.second > t.since AND c.second <= p_at - usage_window()), 0)
    + coalesce((SELECT sum(c.count) FROM usage_counted c
        WHERE c.partner_id = t.partner_id AND c.second > p_at - usage_window() AND c.second <= t.since), 0)
    + coalesce((SELECT sum(e.count) FROM usage_entries e
        WHERE e.partner_id = t.partner_id AND e.second > p_at - usage_window()), 0)
  FROM usage_totals t WHERE t.partner_id = p_partner_id
$$;

-- Adds applications to the partner's usage.
CREATE OR REPLACE FUNCTION add_usage(p_partner_id integer, p_at timestamptz, p_count integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_entries AS u (partner_id, second, slot, count)
  VALUES (p_partner_id, date_trunc('second', p_at) + interval '1 second', pg_backend_pid() % 8, p_count)
  ON CONFLICT (partner_id, second, slot) DO UPDATE SET count = u.count + excluded.count;
END
$$;

-- Takes a partner's new entries into account, and moves the running total to the present beginning of the window,
-- forward or back. Any number of sessions may do this at once.
CREATE OR REPLACE FUNCTION advance_usage(p_partner_id integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_elapsed_ms constant bigint := elapsed_ms();
  v_held usage_totals;
  v_since timestamptz;
  v_taken bigint;
  v_deleted bigint;
BEGIN
  -- Each statement below sees everything that was committed before this lock was taken.
  SELECT * INTO v_held FROM usage_totals t WHERE t.partner_id = p_partner_id FOR NO KEY UPDATE;
  v_since := date_trunc('second', clock_timestamp()) - usage_window();

  -- An entry that another session is changing is taken the next time.
  WITH taken AS (
    DELETE FROM usage_entries WHERE (partner_id, second, slot) IN (
      SELECT e.partner_id, e.second, e.slot FROM usage_entries e WHERE e.partner_id = p_partner_id
      FOR UPDATE SKIP LOCKED)
    RETURNING second, count
  ), stored AS (
    INSERT INTO usage_counted AS c (partner_id, second, count, stored_ms)
    SELECT p_partner_id, t.second, sum(t.count), v_elapsed_ms FROM taken t GROUP BY t.second
    ON CONFLICT (partner_id, second) DO UPDATE SET count = c.count + excluded.count, stored_ms = excluded.stored_ms
  )
  SELECT coalesce(sum(t.count), 0) INTO v_taken FROM taken t WHERE t.second > v_held.since;

  WITH deleted AS (
    DELETE FROM usage_counted c
    WHERE c.partner_id = p_partner_id AND c.stored_ms <= v_elapsed_ms - ms_of(usage_window() + interval '1 hour')
    RETURNING c.second, c.count
  )
  SELECT coalesce(sum(d.count), 0) INTO v_deleted FROM deleted d WHERE d.second > v_held.since;

  UPDATE usage_totals t SET since = v_since, total = v_held.total + v_taken - v_deleted
    - coalesce((SELECT sum(c.count) FROM usage_counted c
        WHERE c.partner_id = p_partner_id AND c.second > v_held.since AND c.second <= v_since), 0)
    + coalesce((SELECT sum(c.count) FROM usage_counted c
        WHERE c.partner_id = p_partner_id AND c.second > v_since AND c.second <= v_held.since), 0)
  WHERE t.partner_id = p_partner_id;
END
$$;
