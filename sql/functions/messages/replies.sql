-- Replies: answers to what persons wrote, a class of messages of their own (docs/messages.md). The head of
-- migrations/0004_messages.sql gives the order of locks.

-- Queues replies; a turn that has a reply keeps it. Returns whether each turn has one: a content that is sealed with a
-- retired data key is left out. Sorted, so that two transactions do not wait for each other in a circle.
CREATE OR REPLACE FUNCTION queue_replies(
  p_application_ids bigint[], p_turns integer[], p_partner_ids integer[], p_phones bigint[], p_contents bytea[],
  p_window_until timestamptz[]
) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  v_queued integer;
BEGIN
  -- ROW_COUNT on a cluster counts what is there too.
  WITH added AS (
    INSERT INTO replies (application_id, turn, partner_id, phone_index, content, window_until, due_at)
    SELECT g.*, v_now
    FROM unnest(p_application_ids, p_turns, p_partner_ids, p_phones, p_contents, p_window_until)
      AS g(application_id, turn, partner_id, phone_index, content, window_until)
    WHERE may_seal(get_byte(g.content, 0)) ORDER BY g.application_id, g.turn
    ON CONFLICT (application_id, turn) DO NOTHING RETURNING 1)
  SELECT count(*) INTO v_queued FROM added;
  RETURN v_queued = cardinality(p_turns) OR NOT EXISTS (
    SELECT FROM unnest(p_application_ids, p_turns) AS g(application_id, turn)
    WHERE NOT EXISTS (SELECT FROM replies r WHERE r.application_id = g.application_id AND r.turn = g.turn));
END
$$;

-- The replies of these turns, as the rules see them. PL/pgSQL, because a cluster refuses a function of SQL in FROM.
CREATE OR REPLACE FUNCTION told_replies(p_application_id bigint, p_turns integer[])
RETURNS TABLE (turn integer, fate text, arrived_at timestamptz)
LANGUAGE plpgsql STABLE ROWS 4 AS $$
BEGIN
  RETURN QUERY SELECT r.turn, CASE
      WHEN r.delivered_at IS NOT NULL OR r.read_at IS NOT NULL OR r.status IN ('accepted', 'sent', 'delivered', 'read')
        THEN 'taken'
      WHEN r.status IN ('queued', 'sending') THEN r.status::text ELSE 'lost' END, least(r.delivered_at, r.read_at)
  FROM replies r WHERE r.application_id = p_application_id AND r.turn = ANY (p_turns);
END
$$;

-- Of the status of a newest reply: `never`: it will not arrive; `maybe`: it may not have; NULL: neither.
CREATE OR REPLACE FUNCTION untold_as(p_status message_status) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN p_status = 'uncertain' THEN 'maybe' WHEN p_status IN ('failed', 'cancelled') THEN 'never' END;

-- The first due replies that no other session has locked, locked. Of an application a later reply waits for the
-- earlier ones.
CREATE OR REPLACE FUNCTION claim_replies(p_limit integer, p_rate double precision) RETURNS SETOF replies
LANGUAGE plpgsql ROWS 10
SET jit = off
SET enable_seqscan = off
AS $$
DECLARE
  v_sender sender;
  v_room double precision;
  -- For a probe as many as there are, because the first one may be a reply that may not go out.
  v_limit integer;
BEGIN
  IF NOT EXISTS (SELECT FROM replies r WHERE r.status = 'queued' AND r.due_at <= now()) THEN RETURN; END IF;
  SELECT * INTO v_sender FROM sender;
  v_room := reply_room(v_sender, p_rate, clock_timestamp());
  IF v_room < 1 THEN RETURN; END IF;
  v_limit := CASE WHEN v_sender.broken_at IS NULL THEN least(p_limit, v_room) ELSE p_limit END;
  RETURN QUERY SELECT r.* FROM replies r
  WHERE r.status = 'queued' AND r.due_at <= now() AND NOT EXISTS (
    -- Not by replies_waiting, which would read all replies that wait for each of them.
    SELECT FROM (SELECT e.status FROM replies e WHERE e.application_id = r.application_id AND e.turn < r.turn
      OFFSET 0) AS earlier WHERE earlier.status IN ('queued', 'sending'))
  ORDER BY r.due_at
  LIMIT v_limit
  FOR NO KEY UPDATE OF r SKIP LOCKED;
END
$$;

-- The moment of sending: decides whether each reply that the caller has locked and found queued goes out now, marks
-- those that do as sending before any of them is sent, and returns them. Of the others some wait and some are
-- cancelled. The gap between two messages to one phone does not hold: an answer may have several parts. The sender's
-- rate, pause and breaker do. p_rate, p_answer_within: as in begin_sending.
CREATE OR REPLACE FUNCTION begin_replies(p_ids bigint[], p_rate double precision, p_answer_within interval) RETURNS SETOF bigint
LANGUAGE plpgsql
SET jit = off
SET enable_seqscan = off
AS $$
DECLARE
  v_sender sender;
  v_at timestamptz;
  v_ids bigint[];
  v_reasons text[];
  v_due_at timestamptz[];
  v_sent bigint[];
BEGIN
  SELECT * INTO v_sender FROM sender s FOR NO KEY UPDATE;
  -- The time is read after the wait for the lock.
  v_at := clock_timestamp();
  -- Decided before the change: on a cluster an UPDATE computes no times.
  SELECT array_agg(d.id), array_agg(d.reason), array_agg(CASE d.reason WHEN 'rate' THEN v_at + interval '1 second'
      WHEN 'sender_paused' THEN least(v_at + interval '1 minute', d.window_until)
      ELSE v_at + p_answer_within END)
  INTO v_ids, v_reasons, v_due_at FROM (
    SELECT o.id, o.window_until, CASE WHEN o.obstacle IS NOT NULL THEN o.obstacle
      WHEN count(*) FILTER (WHERE o.obstacle IS NULL) OVER (ORDER BY o.n) > reply_room(v_sender, p_rate, v_at)
        THEN 'rate' END AS reason
    FROM (
      SELECT r.id, r.window_until, g.n, CASE
        -- The test uses no EXISTS, which the planner may turn into a hash of the whole table.
        WHEN (SELECT s.active FROM suppressions s WHERE s.phone_index = r.phone_index) THEN 'suppressed'
        WHEN r.window_until <= v_at THEN 'window_closed'
        WHEN v_sender.paused_at IS NOT NULL THEN 'sender_paused' END AS obstacle
      FROM unnest(p_ids) WITH ORDINALITY AS g(id, n) JOIN replies r ON r.id = g.id WHERE r.status = 'queued') AS o
  ) AS d;
  UPDATE replies r SET reason = g.reason, changed_at = v_at, due_at = g.due_at,
    status = CASE WHEN g.reason IS NULL THEN 'sending'::message_status
      WHEN g.reason IN ('suppressed', 'window_closed') THEN 'cancelled' ELSE 'queued' END,
    attempts = r.attempts + CASE WHEN g.reason IS NULL THEN 1 ELSE 0 END,
    -- The id of an earlier attempt would pass for this attempt's.
    channel_message_id = CASE WHEN g.reason IS NULL THEN NULL ELSE r.channel_message_id END
  FROM unnest(v_ids, v_reasons, v_due_at) AS g(id, reason, due_at) WHERE r.id = g.id;
  SELECT array_agg(g.id) INTO v_sent FROM unnest(v_ids, v_reasons) AS g(id, reason) WHERE g.reason IS NULL;
  IF v_sent IS NULL THEN RETURN; END IF;
  PERFORM charge_sender(v_sender, cardinality(v_sent), 0, p_rate, NULL, v_at);
  RETURN QUERY SELECT u.id FROM unnest(v_sent) AS u(id);
END
$$;

-- Writes what became of replies: the results of sends, or what holds them back. Only a reply is written that is in one
-- of the statuses p_from of its attempt: a status event may have come first and knows better. A wait ends with the
-- channel's window.
CREATE OR REPLACE FUNCTION record_replies(
  p_from message_status[], p_ids bigint[], p_attempts smallint[], p_statuses message_status[], p_channel_ids bigint[],
  p_reasons text[], p_after_ms float8[]
) RETURNS void
LANGUAGE plpgsql
SET jit = off
SET enable_seqscan = off
AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  v_ids bigint[];
  v_due_at timestamptz[];
  v_sent_at timestamptz[];
  v_statuses message_status[];
  v_reasons text[];
BEGIN
  -- Computed before the change: on a cluster an UPDATE computes no times.
  SELECT array_agg(h.id), array_agg(least(v_now + g.after_ms * interval '1 millisecond', greatest(h.window_until, v_now))),
    array_agg(coalesce(h.sent_at, CASE WHEN g.status = 'accepted' THEN v_now END)),
    array_agg(CASE WHEN g.status = 'queued' AND h.never_again THEN 'cancelled' ELSE g.status END),
    array_agg(CASE WHEN g.status = 'queued' AND h.never_again THEN 'wrong_person' ELSE g.reason END)
  INTO v_ids, v_due_at, v_sent_at, v_statuses, v_reasons FROM (
    SELECT r.* FROM replies r WHERE r.id = ANY (p_ids) ORDER BY r.id FOR NO KEY UPDATE) AS h
  JOIN unnest(p_ids, p_attempts, p_statuses, p_reasons, p_after_ms) AS g(id, attempt, status, reason, after_ms)
    ON h.id = g.id AND h.attempts = g.attempt
  WHERE h.status = ANY (p_from);
  UPDATE replies r SET status = k.status, reason = k.reason, changed_at = v_now, due_at = k.due_at, sent_at = k.sent_at,
    channel_message_id = coalesce(g.channel_id, r.channel_message_id)
  FROM unnest(v_ids, v_due_at, v_sent_at, v_statuses, v_reasons) AS k(id, due_at, sent_at, status, reason)
  JOIN unnest(p_ids, p_channel_ids) AS g(id, channel_id) ON g.id = k.id
  WHERE r.id = k.id;
END
$$;

-- Makes replies uncertain whose process died between sending and recording. Returns how many.
CREATE OR REPLACE FUNCTION settle_lost_replies() RETURNS bigint
LANGUAGE plpgsql
SET jit = off
SET enable_seqscan = off
AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  v_lost constant bigint[] := ARRAY(
    SELECT r.id FROM replies r WHERE r.status = 'sending' AND r.due_at <= v_now
    ORDER BY r.id LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED);
BEGIN
  UPDATE replies SET status = 'uncertain', reason = 'no_record', changed_at = v_now WHERE id = ANY (v_lost);
  RETURN cardinality(v_lost);
END
$$;

-- Corrects the times of waiting replies that were written while the clock was ahead (D39): their waits begin again.
-- Returns how many rows it corrected, 1,000 at most.
CREATE OR REPLACE FUNCTION mend_replies() RETURNS bigint
LANGUAGE plpgsql
SET jit = off
SET enable_seqscan = off
AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  -- In UTC: where the database is spread over machines, an UPDATE can add only to a time without a zone.
  v_utc constant timestamp := v_now AT TIME ZONE 'UTC';
  v_mended constant bigint[] := ARRAY(
    SELECT r.id FROM replies r WHERE r.status IN ('queued', 'sending') AND r.changed_at > v_now + interval '1 second'
    ORDER BY r.id LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED);
BEGIN
  UPDATE replies SET due_at = (v_utc + (due_at - changed_at)) AT TIME ZONE 'UTC', changed_at = v_now
  WHERE id = ANY (v_mended);
  RETURN cardinality(v_mended);
END
$$;

-- Deletes the replies of these applications. Raises object_in_use where one of them is being sent, unless
-- p_nobody_sends says that no worker runs: its result must find its record.
CREATE OR REPLACE FUNCTION erase_replies(p_application_ids bigint[], p_phones bigint[], p_nobody_sends boolean) RETURNS void
LANGUAGE plpgsql
SET jit = off
SET enable_seqscan = off
AS $$
DECLARE
  v_ids bigint[];
BEGIN
  SELECT array_agg(h.id) INTO v_ids FROM (
    SELECT r.id FROM replies r WHERE r.application_id = ANY (p_application_ids) OR r.phone_index = ANY (p_phones)
    ORDER BY r.id FOR UPDATE) AS h;
  IF EXISTS (SELECT FROM replies r WHERE r.id = ANY (v_ids) AND r.status = 'sending') AND NOT p_nobody_sends THEN
    RAISE EXCEPTION 'a reply to the person is being sent' USING ERRCODE = 'object_in_use';
  END IF;
  DELETE FROM replies r WHERE r.id = ANY (v_ids);
END
$$;
