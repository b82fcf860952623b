-- The usage ledger (D18, D39): a partner's registrations by second, and a running total of a part of them.

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
  -- The first batch number after the closed segments (0010_look_up.sql), also where these are deleted by now.
  open_from bigint NOT NULL DEFAULT 0
);
INSERT INTO elapsed DEFAULT VALUES;

CREATE FUNCTION elapsed_ms() RETURNS bigint
LANGUAGE sql STABLE AS $$ SELECT ms FROM elapsed $$;

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

-- Failures in a row that break the channel or an endpoint: from then on only probes go out, until one gets through.
CREATE FUNCTION breaking_failures() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 5;

-- The pause before the next probe after p_probes of them: 15 seconds at first, then twice as long each time, 15 minutes at
-- most.
CREATE FUNCTION probe_pause(p_probes integer) RETURNS interval LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN least(interval '15 seconds' * 2 ^ least(p_probes, 10), interval '15 minutes');

-- Whether it is time for a probe. A time further away than the longest pause was written while the clock was ahead. The
-- minute more is for a session that read the clock before another one set the longest pause.
CREATE FUNCTION is_probe_time(p_probe_at timestamptz, p_at timestamptz) RETURNS boolean LANGUAGE sql STABLE
RETURN p_probe_at <= p_at OR p_probe_at > p_at + interval '16 minutes';

-- New entries. `second` is the end of the second in which the applications came: an entry counts while second > now -
-- 24 hours, so for at least a whole day and at most a second more. `slot` lets two sessions of a partner without a
-- cap write different rows, so that they do not wait for each other. Bound: the upkeep moves entries to
-- usage_counted.
CREATE TABLE usage_entries (
  partner_id integer NOT NULL,
  second timestamptz NOT NULL,
  slot smallint NOT NULL,
  count integer NOT NULL CHECK (count > 0),
  PRIMARY KEY (partner_id, second, slot)
) WITH (fillfactor = 70);

-- Entries that the upkeep has taken into account. Bound: it deletes those that were stored 25 elapsed hours ago.
CREATE TABLE usage_counted (
  partner_id integer NOT NULL,
  second timestamptz NOT NULL,
  count integer NOT NULL,
  -- elapsed_ms() of the last addition.
  stored_ms bigint NOT NULL,
  PRIMARY KEY (partner_id, second)
);
CREATE INDEX usage_counted_stored ON usage_counted (partner_id, stored_ms);

-- total = the sum of usage_counted with second > since. A capped batch is counted under a lock on this row, which is
-- made with its partner.
CREATE TABLE usage_totals (
  partner_id integer PRIMARY KEY REFERENCES partners,
  total bigint NOT NULL DEFAULT 0,
  since timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50);

-- The applications that count for the partner at p_at: all with a second later than 24 hours before, also those that
-- are later than now because the clock stepped back. The result is exact for any p_at; the last run of the upkeep
-- only decides how many rows are read.
CREATE FUNCTION usage_at(p_partner_id integer, p_at timestamptz) RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT t.total
    - coalesce((SELECT sum(c.count) FROM usage_counted c
        WHERE c.partner_id = t.partner_id AND c.second > t.since AND c.second <= p_at - interval '24 hours'), 0)
    + coalesce((SELECT sum(c.count) FROM usage_counted c
        WHERE c.partner_id = t.partner_id AND c.second > p_at - interval '24 hours' AND c.second <= t.since), 0)
    + coalesce((SELECT sum(e.count) FROM usage_entries e
        WHERE e.partner_id = t.partner_id AND e.second > p_at - interval '24 hours'), 0)
  FROM usage_totals t WHERE t.partner_id = p_partner_id
$$;

-- Takes a partner's new entries into account, and moves the running total to the present beginning of the window,
-- forward or back. Any number of sessions may do this at once.
CREATE FUNCTION advance_usage(p_partner_id integer) RETURNS void
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
  v_since := date_trunc('second', clock_timestamp()) - interval '24 hours';

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
    WHERE c.partner_id = p_partner_id AND c.stored_ms <= v_elapsed_ms - 25 * 3600000
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
