-- Attempts of pushes: which pushes go out now, and what became of each (D41). The head of migrations/0006_push.sql
-- gives the order of locks.

-- Takes up about p_limit due pushes and leases them for p_lease: for each partner as many as p_most allows beside
-- p_underway, the number that the caller has under way. The partners with the fewest under way come first, so that a
-- new event of one partner does not wait for the backlogs of the others. A push waits for every earlier push of its
-- application. Of a broken endpoint one push goes out when the pause is over, as a probe: the push that has waited the
-- longest since its last attempt.
--
-- The claim looks at the partners one by one through pushes_due, so that a partner with many waiting pushes costs the
-- others nothing.
CREATE OR REPLACE FUNCTION claim_pushes(
  p_partner_ids integer[], p_underway integer[], p_most integer, p_limit integer, p_lease interval
) RETURNS TABLE (partner_id integer, number bigint, attempt smallint, version integer)
LANGUAGE plpgsql ROWS 100
SET jit = off
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
  v_at constant timestamptz := clock_timestamp();
  v_leased_until constant timestamptz := v_at + p_lease;
  v_probe_at timestamptz;
  v_endpoint record;
  v_numbers bigint[];
  v_taken integer := 0;
BEGIN
  FOR v_endpoint IN
    SELECT e.partner_id, e.version, e.broken_at IS NOT NULL AS is_broken, e.probes, p_most - coalesce(u.underway, 0) AS room
    FROM partner_endpoints e
    LEFT JOIN unnest(p_partner_ids, p_underway) AS u(partner_id, underway) ON u.partner_id = e.partner_id
    WHERE e.disabled_at IS NULL AND coalesce(u.underway, 0) < p_most
      AND (e.broken_at IS NULL OR is_probe_time(e.probe_at, v_at))
      -- Most endpoints have nothing to get, and this look is cheaper than a statement for each.
      AND EXISTS (
        SELECT FROM pushes q
        WHERE q.partner_id = e.partner_id
          AND q.due_at <= CASE WHEN e.broken_at IS NULL THEN v_at ELSE 'infinity'::timestamptz END)
    ORDER BY u.underway NULLS FIRST, random()
  LOOP
    IF v_endpoint.is_broken THEN
      PERFORM FROM partner_endpoints e
      WHERE e.partner_id = v_endpoint.partner_id AND e.broken_at IS NOT NULL AND is_probe_time(e.probe_at, v_at)
      FOR NO KEY UPDATE SKIP LOCKED;
      CONTINUE WHEN NOT FOUND;
    END IF;
    v_numbers := ARRAY(
      SELECT q.number FROM pushes q
      WHERE q.partner_id = v_endpoint.partner_id
        AND q.due_at <= CASE WHEN v_endpoint.is_broken THEN 'infinity'::timestamptz ELSE v_at END
        AND (q.leased_until IS NULL OR q.leased_until <= v_at)
        AND NOT EXISTS (
          SELECT FROM pushes f
          WHERE f.partner_id = q.partner_id AND f.application_id = q.application_id AND f.number < q.number)
      ORDER BY q.due_at, q.number
      LIMIT CASE WHEN v_endpoint.is_broken THEN 1 ELSE v_endpoint.room END
      FOR NO KEY UPDATE SKIP LOCKED);
    CONTINUE WHEN cardinality(v_numbers) = 0;
    IF v_endpoint.is_broken THEN
      v_probe_at := v_at + probe_pause(v_endpoint.probes + 1);
      UPDATE partner_endpoints e SET probes = e.probes + 1, probe_at = v_probe_at
      WHERE e.partner_id = v_endpoint.partner_id;
    END IF;
    -- An attempt without a result is not given up, so it may come any number of times.
    RETURN QUERY
    UPDATE pushes q SET leased_until = v_leased_until, set_at = v_at, attempts = least(q.attempts + 1, 32767)
    WHERE q.partner_id = v_endpoint.partner_id AND q.number = ANY (v_numbers)
    RETURNING q.partner_id, q.number, q.attempts, v_endpoint.version;
    v_taken := v_taken + cardinality(v_numbers);
    EXIT WHEN v_taken >= p_limit;
  END LOOP;
END
$$;

-- Deletes pushes that are over after their attempt, and those that have waited since p_old_ms, which are given up. The
-- next pushes of their applications are due. p_ends: whether each push is over. Returns how many were given up, and
-- when the first of these was queued.
CREATE OR REPLACE FUNCTION end_pushes(
  p_partner_id integer, p_numbers bigint[], p_attempts smallint[], p_ends boolean[], p_at timestamptz, p_old_ms bigint,
  OUT given_up integer, OUT given_up_ms bigint
)
LANGUAGE plpgsql AS $$
DECLARE
  v_applications bigint[];
BEGIN
  WITH done AS (
    DELETE FROM pushes q USING unnest(p_numbers, p_attempts, p_ends) AS g(number, attempt, ends)
    WHERE q.partner_id = p_partner_id AND q.number = g.number AND q.attempts = g.attempt
      AND (g.ends OR q.queued_ms <= p_old_ms)
    RETURNING q.application_id, q.queued_ms, g.ends
  )
  SELECT array_agg(DISTINCT d.application_id), count(*) FILTER (WHERE NOT d.ends),
    min(d.queued_ms) FILTER (WHERE NOT d.ends)
  INTO v_applications, given_up, given_up_ms FROM done d;
  IF v_applications IS NOT NULL THEN
    UPDATE pushes q SET due_at = p_at, set_at = p_at
    WHERE q.partner_id = p_partner_id AND q.application_id = ANY (v_applications) AND q.due_at > p_at
      AND q.leased_until IS NULL;
  END IF;
END
$$;

-- Judges an endpoint by attempts of its pushes. Stores what it is now, and returns it. p_has_failed, p_first_failed:
-- whether a push failed after the last success, and how many of these failed at their first attempt; p_given_up_ms: as
-- end_pushes returns it. A disabled endpoint is stored as not broken; the returned one tells whether it was.
CREATE OR REPLACE FUNCTION judge_endpoint(
  p_endpoint partner_endpoints, p_has_success boolean, p_has_failed boolean, p_first_failed bigint, p_last_failure text,
  p_is_gone boolean, p_given_up_ms bigint, p_at timestamptz, p_elapsed_ms bigint, p_old_ms bigint
) RETURNS partner_endpoints
LANGUAGE plpgsql AS $$
DECLARE
  v_after partner_endpoints := p_endpoint;
BEGIN
  IF p_has_success THEN
    v_after.failures := 0;
    v_after.failing_ms := NULL;
    v_after.last_success_at := p_at;
    v_after.broken_at := NULL;
    v_after.probes := 0;
    v_after.probe_at := NULL;
  END IF;
  v_after.failures := v_after.failures + p_first_failed;
  IF p_has_failed THEN v_after.failing_ms := coalesce(v_after.failing_ms, p_elapsed_ms); END IF;
  IF p_last_failure IS NOT NULL THEN
    v_after.last_failure := p_last_failure;
    v_after.last_failure_at := p_at;
  END IF;
  IF v_after.broken_at IS NULL AND v_after.failures >= breaking_failures() THEN
    v_after.broken_at := p_at;
    v_after.probe_at := p_at + probe_pause(0);
  END IF;
  v_after.disabled_reason := CASE
    WHEN p_is_gone THEN 'gone'
    -- A push that is given up has waited for three days, though its first attempt may have come a little later.
    WHEN v_after.failing_ms <= greatest(p_old_ms, p_given_up_ms + ms_of(interval '1 hour')) THEN 'no_success' END;
  IF v_after.disabled_reason IS NOT NULL THEN
    v_after.disabled_at := p_at;
  ELSIF v_after.failing_ms IS NOT NULL
    AND NOT EXISTS (SELECT FROM pushes q WHERE q.partner_id = p_endpoint.partner_id)
  THEN
    -- Time in which nothing waits does not count.
    v_after.failing_ms := NULL;
  END IF;
  UPDATE partner_endpoints e SET failures = v_after.failures, failing_ms = v_after.failing_ms,
    last_failure = v_after.last_failure, last_failure_at = v_after.last_failure_at,
    last_success_at = v_after.last_success_at,
    broken_at = CASE WHEN v_after.disabled_at IS NULL THEN v_after.broken_at END, probes = v_after.probes,
    probe_at = CASE WHEN v_after.disabled_at IS NULL THEN v_after.probe_at END,
    disabled_at = v_after.disabled_at, disabled_reason = v_after.disabled_reason
  WHERE e.partner_id = v_after.partner_id;
  RETURN v_after;
END
$$;

-- Ends the leases of pushes that wait for their next attempt, and sets when it is due. The later pushes of the
-- application wait as long, so that the claim does not find them before.
CREATE OR REPLACE FUNCTION put_off_pushes(
  p_partner_id integer, p_numbers bigint[], p_attempts smallint[], p_ends boolean[], p_due_at timestamptz[],
  p_at timestamptz
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  WITH waiting AS (
    UPDATE pushes q SET due_at = g.due_at, set_at = p_at, leased_until = NULL
    FROM unnest(p_numbers, p_attempts, p_ends, p_due_at) AS g(number, attempt, ends, due_at)
    WHERE q.partner_id = p_partner_id AND q.number = g.number AND q.attempts = g.attempt AND NOT g.ends
    RETURNING q.application_id, q.number, q.due_at
  )
  UPDATE pushes q SET due_at = w.due_at, set_at = p_at FROM waiting w
  WHERE q.partner_id = p_partner_id AND q.application_id = w.application_id AND q.number > w.number
    AND q.due_at < w.due_at AND q.leased_until IS NULL;
END
$$;

-- Keeps what became of attempts, for operators who ask why a partner did not get an event.
CREATE OR REPLACE FUNCTION keep_attempts(
  p_partner_id integer, p_numbers bigint[], p_attempts smallint[], p_results push_result[], p_failures text[],
  p_at timestamptz, p_elapsed_ms bigint
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO push_attempts (partner_id, at, number, attempt, result, failure, stored_ms)
  SELECT p_partner_id, p_at, u.number, u.attempt, u.result, u.failure, p_elapsed_ms
  FROM unnest(p_numbers, p_attempts, p_results, p_failures) AS u(number, attempt, result, failure)
  ON CONFLICT DO NOTHING;
END
$$;

-- Deletes some of a partner's oldest attempts, at most p_most: those of seven days by the clock and by the elapsed time
-- (D39), of a clock that was ahead by the elapsed time alone; and those before its newest p_newest. Returns the number.
CREATE OR REPLACE FUNCTION forget_attempts(p_partner_id integer, p_newest integer, p_most integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := now();
  v_least_ms constant bigint := elapsed_ms() - ms_of(interval '7 days');
  v_last record;
  v_deleted bigint;
BEGIN
  SELECT q.at, q.number, q.attempt INTO v_last FROM push_attempts q WHERE q.partner_id = p_partner_id
  ORDER BY q.at DESC, q.number DESC, q.attempt DESC OFFSET p_newest LIMIT 1;
  DELETE FROM push_attempts r WHERE r.partner_id = p_partner_id
    AND (r.at, r.number, r.attempt) IN (
      SELECT o.at, o.number, o.attempt FROM (
        SELECT q.at, q.number, q.attempt, q.stored_ms FROM push_attempts q WHERE q.partner_id = p_partner_id
        ORDER BY q.at, q.number, q.attempt LIMIT p_most) AS o
      WHERE (o.at, o.number, o.attempt) <= (v_last.at, v_last.number, v_last.attempt)
        OR o.stored_ms <= v_least_ms AND (o.at < v_now - interval '7 days' OR o.at > v_now));
  GET DIAGNOSTICS v_deleted = ROW_COUNT;
  RETURN v_deleted;
END
$$;

-- Records attempts, each only for its own number and for its endpoint as it was claimed: after a new URL an attempt on
-- the old one changes nothing. p_failures: the code of a failure, else NULL. p_waits_ms: how long a push that was not
-- delivered waits for its next attempt.
--
-- Returns what changed on endpoints: 'broken' (five events in a row failed at their first attempt: only probes go out),
-- 'mended', or 'disabled' with the reason 'gone' or 'no_success' (no push succeeded for three days); and how many
-- pushes were given up.
CREATE OR REPLACE FUNCTION record_pushes(
  p_partner_ids integer[], p_versions integer[], p_numbers bigint[], p_attempts smallint[], p_results push_result[],
  p_failures text[], p_waits_ms integer[]
) RETURNS TABLE (partner_id integer, change text, reason text, given_up integer)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_at constant timestamptz := clock_timestamp();
  v_elapsed_ms constant bigint := elapsed_ms();
  v_old_ms constant bigint := v_elapsed_ms - ms_of(interval '3 days');
  v_attempts record;
  v_before partner_endpoints;
  v_after partner_endpoints;
  v_ended record;
  v_has_mended boolean;
BEGIN
  FOR v_attempts IN
    SELECT u.partner_id, u.version, array_agg(u.number ORDER BY u.n) AS numbers, array_agg(u.attempt ORDER BY u.n) AS attempts,
      array_agg(u.result IN ('delivered', 'forgotten') ORDER BY u.n) AS ends,
      array_agg(v_at + u.wait_ms * interval '1 millisecond' ORDER BY u.n) AS due_at,
      bool_or(u.result = 'gone') AS is_gone, bool_or(u.result = 'delivered') AS has_success,
      bool_or(u.result NOT IN ('delivered', 'forgotten')) AS has_waiting,
      -- Only failures after the last success count.
      bool_or(u.is_failure AND u.n > u.last_success) AS has_failed,
      count(*) FILTER (WHERE u.is_failure AND u.n > u.last_success AND u.attempt = 1) AS first_failed,
      (array_agg(u.failure ORDER BY u.n DESC) FILTER (WHERE u.is_failure))[1] AS last_failure,
      array_agg(u.result ORDER BY u.n) AS results, array_agg(u.failure ORDER BY u.n) AS failures
    FROM (
      SELECT g.*, g.result IN ('failed', 'gone') AS is_failure,
        coalesce(max(g.n) FILTER (WHERE g.result = 'delivered') OVER (PARTITION BY g.partner_id, g.version), 0) AS last_success
      FROM unnest(p_partner_ids, p_versions, p_numbers, p_attempts, p_results, p_failures, p_waits_ms)
        WITH ORDINALITY AS g(partner_id, version, number, attempt, result, failure, wait_ms, n)) AS u
    GROUP BY u.partner_id, u.version ORDER BY u.partner_id
  LOOP
    SELECT * INTO v_before FROM partner_endpoints e
    WHERE e.partner_id = v_attempts.partner_id AND e.version = v_attempts.version AND e.disabled_at IS NULL
    FOR NO KEY UPDATE;
    CONTINUE WHEN NOT FOUND;
    partner_id := v_attempts.partner_id;
    PERFORM keep_attempts(partner_id, v_attempts.numbers, v_attempts.attempts, v_attempts.results, v_attempts.failures, v_at,
      v_elapsed_ms);
    v_ended := end_pushes(partner_id, v_attempts.numbers, v_attempts.attempts, v_attempts.ends, v_at, v_old_ms);
    given_up := v_ended.given_up;
    v_after := judge_endpoint(v_before, v_attempts.has_success, v_attempts.has_failed, v_attempts.first_failed,
      v_attempts.last_failure, v_attempts.is_gone, v_ended.given_up_ms, v_at, v_elapsed_ms, v_old_ms);
    v_has_mended := v_before.broken_at IS NOT NULL AND v_after.broken_at IS NULL;
    IF v_attempts.has_waiting THEN
      -- The pauses of the endpoint take the place of the push's own wait while the endpoint is broken.
      PERFORM put_off_pushes(partner_id, v_attempts.numbers, v_attempts.attempts, v_attempts.ends,
        CASE WHEN v_after.broken_at IS NULL THEN v_attempts.due_at
          ELSE array_fill(v_at, ARRAY[cardinality(v_attempts.numbers)]) END, v_at);
    END IF;
    IF v_has_mended THEN
      UPDATE pushes q SET due_at = v_at, set_at = v_at
      WHERE q.partner_id = v_attempts.partner_id AND q.due_at > v_at AND q.leased_until IS NULL;
    END IF;
    reason := coalesce(v_after.disabled_reason, v_attempts.last_failure);
    change := CASE
      WHEN v_after.disabled_at IS NOT NULL THEN 'disabled'
      WHEN v_after.broken_at IS NOT NULL AND v_before.broken_at IS NULL THEN 'broken'
      WHEN v_has_mended THEN 'mended' END;
    IF change IS NOT NULL OR given_up > 0 THEN RETURN NEXT; END IF;
  END LOOP;
END
$$;
