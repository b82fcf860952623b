-- What operators watch: the jobs of the upkeep, the flow of messages, the partitions ahead. Nothing depends on it.

-- Notes the ends of the jobs of one turn of the upkeep, and forgets jobs that no process has run for two days: those of
-- a version before, or of a setting that was taken away.
CREATE OR REPLACE FUNCTION note_upkeep(p_jobs text[], p_took_ms integer[], p_succeeded boolean[], p_why text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := now();
BEGIN
  INSERT INTO upkeep_jobs AS j (job, succeeded_at, took_ms, failed_at, failed_why)
  SELECT g.job, CASE WHEN g.succeeded THEN v_now END, g.took_ms, CASE WHEN NOT g.succeeded THEN v_now END, g.why
  FROM unnest(p_jobs, p_took_ms, p_succeeded, p_why) AS g(job, took_ms, succeeded, why)
  ORDER BY g.job
  ON CONFLICT (job) DO UPDATE SET
    succeeded_at = coalesce(excluded.succeeded_at, j.succeeded_at),
    took_ms = excluded.took_ms,
    failed_at = coalesce(excluded.failed_at, j.failed_at),
    failed_why = CASE WHEN excluded.failed_at IS NULL THEN j.failed_why ELSE excluded.failed_why END;
  DELETE FROM upkeep_jobs j WHERE greatest(j.succeeded_at, j.failed_at) < v_now - interval '2 days';
END
$$;

-- Remembers the counts of the running hour, unless a process did, and forgets those of the day before.
CREATE OR REPLACE FUNCTION remember_message_counts() RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_hour constant timestamptz := date_trunc('hour', now(), 'UTC');
BEGIN
  IF NOT EXISTS (SELECT FROM message_count_hours h WHERE h.hour = v_hour) THEN
    INSERT INTO message_count_hours (hour, status, count)
    SELECT v_hour, c.status, sum(c.count)
    FROM (
      SELECT m.status, m.count FROM message_counts m
      -- An hour without messages is known too.
      UNION ALL SELECT 'queued'::message_status, 0
    ) AS c GROUP BY c.status
    ON CONFLICT DO NOTHING;
  END IF;
  -- Hours after this one were remembered while the clock was ahead.
  DELETE FROM message_count_hours h WHERE h.hour < v_hour - interval '24 hours' OR h.hour > v_hour;
END
$$;

-- The messages that the channel accepted, and of none of them said that it was delivered, since the newest hour that
-- was counted at least an hour ago. 0 where it delivered one.
CREATE OR REPLACE FUNCTION undelivered_messages(OUT messages bigint, OUT since timestamptz)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_hour timestamptz;
  v_accepted bigint;
  v_delivered bigint;
BEGIN
  messages := 0;
  SELECT h.hour, h.counted_at INTO v_hour, since FROM message_count_hours h
  WHERE h.counted_at <= now() - interval '1 hour' ORDER BY h.hour DESC LIMIT 1;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT coalesce(sum(c.change) FILTER (WHERE c.status IN ('accepted', 'sent')), 0),
    coalesce(sum(c.change) FILTER (WHERE c.status IN ('delivered', 'read')), 0)
  INTO v_accepted, v_delivered
  FROM (
    SELECT m.status, m.count AS change FROM message_counts m
    UNION ALL SELECT h.status, -h.count FROM message_count_hours h WHERE h.hour = v_hour
  ) AS c;
  IF v_delivered <= 0 THEN messages := greatest(v_accepted, 0); END IF;
END
$$;

-- How many partitions of batch numbers are made and not used up. The upkeep keeps it above 1.
CREATE OR REPLACE FUNCTION partitions_ahead() RETURNS double precision
LANGUAGE plpgsql AS $$
BEGIN
  IF is_worker() THEN RETURN on_coordinator('SELECT partitions_ahead()'); END IF;
  RETURN (SELECT (e.partitions_end - n.last_value)::double precision / partition_width()
    FROM elapsed e CROSS JOIN batch_numbers n);
END
$$;
