-- The sender: how many messages may go out, whether the channel works, and times that a clock ahead of time left
-- behind. The head of 0005_delivery.sql gives the order of locks.
--
-- Functions that take rows of a table have a text as their body (AS $$ ... $$). Of a parsed body (RETURN ...)
-- PostgreSQL records which columns it needs. Then Citus makes the table twice on a machine that is added, the second
-- time without the functions.

-- The tokens of the sender at p_at: they fill by p_rate a second, up to one second's worth. After the clock stepped
-- back there is one second's worth at once.
CREATE FUNCTION sender_tokens(s sender, p_rate double precision, p_at timestamptz) RETURNS double precision
LANGUAGE sql IMMUTABLE AS $$
  SELECT least(p_rate, s.tokens + p_rate * CASE WHEN s.refilled_at > p_at + interval '1 second' THEN 1
    ELSE greatest(extract(epoch FROM p_at - s.refilled_at), 0) END)
$$;

-- How many messages may go out at p_at before the channel has answered for more. Each message takes one, each answer
-- about a message gives two back, and an answer that says nothing about its message gives none: a working channel
-- doubles the credit with every round, a dead one gets few messages. After five seconds without an answer the credit
-- is ten at most; up to ten it fills by itself, one a second. It never exceeds a second's worth of p_rate.
CREATE FUNCTION sender_credit(s sender, p_rate double precision, p_at timestamptz) RETURNS double precision
LANGUAGE sql STABLE AS $$
  SELECT least(greatest(coalesce(p_rate, 1000), 10), CASE
    WHEN c.credit >= 10 THEN c.credit
    -- The absolute value, because the clock may have stepped either way.
    ELSE least(10, c.credit + abs(extract(epoch FROM p_at - s.refilled_at))) END)
  FROM (SELECT CASE WHEN s.alive_at > p_at - interval '5 seconds' THEN s.credit ELSE least(s.credit, 10) END) AS c(credit)
$$;

-- Whether a probe may go out. A probe time further away than the longest pause of 15 minutes comes from before a step
-- back of the clock. The minute more is for a session that read the clock before another one set the longest pause.
CREATE FUNCTION is_probe_due(s sender, p_at timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT s.broken_at IS NOT NULL AND (s.probe_at <= p_at OR s.probe_at > p_at + interval '16 minutes')
$$;

-- How many messages may go out at p_at.
CREATE FUNCTION sender_room(s sender, p_rate double precision, p_at timestamptz) RETURNS double precision
LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN s.paused_at IS NOT NULL THEN 0
    WHEN is_probe_due(s, p_at) THEN greatest(floor(least(sender_tokens(s, p_rate, p_at), 1)), 0)
    WHEN s.broken_at IS NOT NULL THEN 0
    ELSE greatest(floor(least(sender_tokens(s, p_rate, p_at), sender_credit(s, p_rate, p_at))), 0) END
$$;

-- The partners that have used up their share. p_recipients phones may get messages in 24 hours; each partner with a
-- live key has an equal share of these. Reads all recipients: 0.1 s for a million.
CREATE FUNCTION sated_partners(p_recipients integer, p_at timestamptz) RETURNS integer[]
LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_partners constant bigint := (SELECT count(DISTINCT k.partner_id) FROM api_keys k
    WHERE k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > p_at));
BEGIN
  RETURN ARRAY(SELECT r.partner_id FROM recipients r WHERE r.sent_at > p_at - interval '24 hours'
    GROUP BY r.partner_id HAVING count(*) >= p_recipients / greatest(v_partners, 1));
END
$$;

-- Counts answers of the channel: p_alive answers about their message, and since the last one of those p_failing
-- answers that say nothing about it, the last of them for p_reason. Five in a row, of any number of workers, break
-- the channel: from then on only probes go out, the first after 15 seconds. An answer mends it, and the credit begins
-- again.
--
-- Returns the change: 'broken', 'mended' or NULL.
CREATE FUNCTION note_answers(p_alive integer, p_failing integer, p_reason text) RETURNS text
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
  IF v.broken_at IS NULL AND v.failures >= 5 THEN
    v.broken_at := v_at;
    v.broken_reason := p_reason;
    v.probe_at := v_at + interval '15 seconds';
  END IF;
  UPDATE sender SET alive_at = v.alive_at, failures = v.failures, credit = v.credit, broken_at = v.broken_at,
    broken_reason = v.broken_reason, probes = v.probes, probe_at = v.probe_at;
  RETURN CASE
    WHEN v.broken_at IS NOT NULL AND NOT v_was_broken THEN 'broken'
    WHEN v.broken_at IS NULL AND v_was_broken THEN 'mended' END;
END
$$;

-- Corrects times that were written while the clock was ahead, and that would wait for that time: a recipient counts
-- as sent to now, a contact window is checked again, and any other wait begins again, also the wait until an operator
-- may settle. p_after: the waiting message at which the last call stopped, 0 at first. Returns NULL if the clock has not
-- stepped back, 0 if all is corrected, and otherwise the message after which the next call goes on.
CREATE FUNCTION mend_leap(p_after bigint) RETURNS bigint
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  -- The same in UTC: where the database is spread over machines, an UPDATE can add only to a time without a zone.
  v_utc constant timestamp := v_now AT TIME ZONE 'UTC';
  -- Most rows of a table that one call changes, because a statement has 3 seconds.
  v_most constant integer := 5000;
  v_leases bigint[];
  v_messages bigint[];
  v_phones bigint[];
  v_last bigint[];
  v_found integer;
  v_answered bigint[];
BEGIN
  IF (SELECT latest_at <= v_now + interval '1 second' FROM sender) THEN
    UPDATE sender SET latest_at = v_now WHERE latest_at < v_now;
    RETURN NULL;
  END IF;
  v_leases := ARRAY(SELECT id FROM leases WHERE begun_at > v_now ORDER BY id LIMIT v_most);
  UPDATE leases SET begun_at = v_now, lost_at = (v_utc + (lost_at - begun_at)) AT TIME ZONE 'UTC'
  WHERE id IN (SELECT id FROM leases WHERE id = ANY (v_leases) AND begun_at > v_now ORDER BY id FOR NO KEY UPDATE);
  v_messages := nullif(of_few_partitions(ARRAY(
    -- Reads each status by its own part of the index.
    SELECT w.message_id FROM (
      (SELECT * FROM waiting_messages w WHERE w.status = 'queued' AND w.message_id > p_after
        AND w.due_at > v_now
      ORDER BY w.message_id LIMIT v_most)
      UNION ALL (SELECT * FROM waiting_messages w WHERE w.status = 'uncertain' AND w.message_id > p_after
        AND w.due_at > v_now
      ORDER BY w.message_id LIMIT v_most)) AS w
    ORDER BY w.message_id LIMIT v_most)), '{}');
  UPDATE message_records SET changed_at = v_now,
    due_at = CASE WHEN reason = 'contact_window' THEN v_now ELSE (v_utc + (due_at - changed_at)) AT TIME ZONE 'UTC' END
  WHERE message_id = ANY (v_messages) AND message_id = ANY (ARRAY(
    SELECT message_id FROM message_records
    WHERE message_id = ANY (v_messages)
      AND status IN ('queued', 'uncertain') AND due_at > v_now AND changed_at > v_now
    ORDER BY message_id FOR NO KEY UPDATE));
  UPDATE sender SET refilled_at = least(refilled_at, v_now), alive_at = least(alive_at, v_now);
  SELECT array_agg(r.phone_index), array_agg(r.message_id), count(*) INTO v_phones, v_last, v_found
  FROM (SELECT * FROM recipients WHERE sent_at > v_now LIMIT v_most) AS r;
  IF v_found > 0 THEN
    SELECT array_agg(u.phone), array_agg(u.id) INTO v_phones, v_last FROM unnest(v_phones, v_last) AS u(phone, id)
    WHERE u.id = ANY (of_few_partitions(v_last));
  END IF;
  v_answered := ARRAY(
    SELECT m.message_id FROM message_records m
    WHERE m.message_id = ANY (v_last) AND m.status NOT IN ('queued', 'sending'));
  -- The earlier messages are not later than the last one.
  UPDATE recipients SET sent_at = v_now,
    earlier_at = CASE WHEN earlier_at IS NOT NULL THEN ARRAY(
      SELECT least(e.at, v_now) FROM unnest(earlier_at) WITH ORDINALITY AS e(at, n) ORDER BY e.n) END,
    answered_at = CASE WHEN message_id = ANY (v_answered) THEN v_now ELSE least(answered_at, v_now) END
  WHERE phone_index IN (
    SELECT phone_index FROM recipients WHERE phone_index = ANY (v_phones) AND sent_at > v_now
    ORDER BY phone_index FOR NO KEY UPDATE);
  -- Counts found rows instead of changed ones: another session may have corrected the same rows.
  IF v_messages IS NOT NULL THEN RETURN v_messages[cardinality(v_messages)]; END IF;
  IF greatest(cardinality(v_leases), v_found) = v_most OR cardinality(v_phones) < v_found THEN
    RETURN greatest(p_after, 1);
  END IF;
  UPDATE sender SET latest_at = v_now;
  RETURN 0;
END
$$;
