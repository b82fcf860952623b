-- The sender: how many messages may go out, and whether the channel works. The head of migrations/0004_messages.sql
-- gives the order of locks.
--
-- Functions that take rows of a table have a text as their body (AS $$ ... $$). Of a parsed body (RETURN ...)
-- PostgreSQL records which columns it needs. Then Citus makes the table twice on a machine that is added, the second
-- time without the functions.

-- The tokens of the sender at p_at: they fill by p_rate a second, up to one second's worth. After the clock stepped
-- back there is one second's worth at once.
CREATE OR REPLACE FUNCTION sender_tokens(s sender, p_rate double precision, p_at timestamptz) RETURNS double precision
LANGUAGE sql IMMUTABLE AS $$
  SELECT least(p_rate, s.tokens + p_rate * CASE WHEN s.refilled_at > p_at + interval '1 second' THEN 1
    ELSE greatest(extract(epoch FROM p_at - s.refilled_at), 0) END)
$$;

-- How many messages may go out at p_at before the channel has answered for more. Each message takes one, each answer
-- about a message gives two back, and an answer that says nothing about its message gives none: a working channel
-- doubles the credit with every round, a dead one gets few messages. After five seconds without an answer the credit
-- is ten at most; up to ten it fills by itself, one a second. It never exceeds a second's worth of p_rate.
CREATE OR REPLACE FUNCTION sender_credit(s sender, p_rate double precision, p_at timestamptz) RETURNS double precision
LANGUAGE sql STABLE AS $$
  SELECT least(greatest(coalesce(p_rate, 1000), 10), CASE
    WHEN c.credit >= 10 THEN c.credit
    -- The absolute value, because the clock may have stepped either way.
    ELSE least(10, c.credit + abs(extract(epoch FROM p_at - s.refilled_at))) END)
  FROM (SELECT CASE WHEN s.alive_at > p_at - interval '5 seconds' THEN s.credit ELSE least(s.credit, 10) END) AS c(credit)
$$;

-- Whether a probe may go out.
CREATE OR REPLACE FUNCTION is_probe_due(s sender, p_at timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT s.broken_at IS NOT NULL AND is_probe_time(s.probe_at, p_at)
$$;

-- How many messages may go out at p_at.
CREATE OR REPLACE FUNCTION sender_room(s sender, p_rate double precision, p_at timestamptz) RETURNS double precision
LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN s.paused_at IS NOT NULL THEN 0
    WHEN is_probe_due(s, p_at) THEN greatest(floor(least(sender_tokens(s, p_rate, p_at), 1)), 0)
    WHEN s.broken_at IS NOT NULL THEN 0
    ELSE greatest(floor(least(sender_tokens(s, p_rate, p_at), sender_credit(s, p_rate, p_at))), 0) END
$$;

-- How many replies may go out at p_at. A person waits for each, so replies may take a quarter of a second's worth of
-- p_rate ahead, which the other messages then wait for.
CREATE OR REPLACE FUNCTION reply_room(s sender, p_rate double precision, p_at timestamptz) RETURNS double precision
LANGUAGE sql STABLE AS $$
  SELECT CASE
    -- So that each reply is looked at: it waits, or its window has closed.
    WHEN s.paused_at IS NOT NULL THEN 1000
    WHEN is_probe_due(s, p_at) THEN 1
    WHEN s.broken_at IS NOT NULL THEN 0
    ELSE greatest(floor(least(sender_tokens(s, p_rate, p_at) + greatest(p_rate / 4, 1), sender_credit(s, p_rate, p_at))), 0)
    END
$$;

-- The partners that have used up their share. p_recipients phones may get messages in 24 hours; each partner with a
-- live key has an equal share of these. Reads all recipients: 0.1 s for a million.
CREATE OR REPLACE FUNCTION sated_partners(p_recipients integer, p_at timestamptz) RETURNS integer[]
LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_partners constant bigint := (SELECT count(DISTINCT k.partner_id) FROM api_keys k
    WHERE k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > p_at));
BEGIN
  RETURN ARRAY(SELECT r.partner_id FROM recipients r WHERE r.sent_at > p_at - recipient_window()
    GROUP BY r.partner_id HAVING count(*) >= p_recipients / greatest(v_partners, 1));
END
$$;

-- Counts answers of the channel: p_alive answers about their message, and since the last one of those p_failing
-- answers that say nothing about it, the last of them for p_reason. Some in a row (breaking_failures), of any number of
-- workers, break the channel: from then on only probes go out. An answer mends it, and the credit begins again.
--
-- Returns the change: 'broken', 'mended' or NULL.
CREATE OR REPLACE FUNCTION note_answers(p_alive integer, p_failing integer, p_reason text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  v sender;
  v_was_broken boolean;
  v_at timestamptz;
BEGIN
  SELECT * INTO v FROM sender FOR NO KEY UPDATE;
  v_at := clock_timestamp();
  v_was_broken := v.broken_at IS NOT NULL;
  IF p_alive > 0 THEN
    v.alive_at := v_at;
    v.failures := 0;
    v.credit := CASE WHEN v_was_broken THEN 10 ELSE least(v.credit + 2 * p_alive, 1000) END;
    v.broken_at := NULL;
    v.broken_reason := NULL;
    v.probes := 0;
    v.probe_at := NULL;
  END IF;
  v.failures := v.failures + p_failing;
  IF v.broken_at IS NULL AND v.failures >= breaking_failures() THEN
    v.broken_at := v_at;
    v.broken_reason := p_reason;
    v.probe_at := v_at + probe_pause(0);
  END IF;
  UPDATE sender SET alive_at = v.alive_at, failures = v.failures, credit = v.credit, broken_at = v.broken_at,
    broken_reason = v.broken_reason, probes = v.probes, probe_at = v.probe_at;
  RETURN CASE
    WHEN v.broken_at IS NOT NULL AND NOT v_was_broken THEN 'broken'
    WHEN v.broken_at IS NULL AND v_was_broken THEN 'mended' END;
END
$$;
