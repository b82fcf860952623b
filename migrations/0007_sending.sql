-- What a message goes through: it is claimed, its sending begins, and what came of that is recorded.
-- The order of locks stands at the head of 0005_delivery.sql.

-- Locks up to p_limit messages that are due and that nobody else has locked; no more than the sender may send at
-- p_rate (NULL: any number), and none where it is paused: they would only be put off again. For a probe, as many as
-- there may be: the first of them need not be one that may go out.
--
-- The planner guesses too few due messages, and would read and sort all of them for each claim; in the order of
-- the index it reads as many as it takes.
CREATE FUNCTION claim_due(p_limit integer, p_rate double precision)
RETURNS TABLE (application_id bigint, type message_type, attempts smallint, tries smallint)
LANGUAGE plpgsql ROWS 100
SET enable_bitmapscan = off
SET enable_seqscan = off
SET enable_sort = off
AS $$
#variable_conflict use_column
DECLARE
  v_sender sender;
  v_room double precision;
BEGIN
  SELECT * INTO v_sender FROM sender;
  v_room := sender_room(v_sender, p_rate, clock_timestamp());
  IF v_room < 1 THEN RETURN; END IF;
  IF v_sender.broken_at IS NOT NULL THEN v_room := p_limit; END IF;
  RETURN QUERY SELECT m.application_id, m.type, m.attempts, m.tries FROM messages m
  WHERE m.status = 'queued' AND m.due_at <= now()
  ORDER BY m.due_at
  LIMIT least(p_limit, v_room)
  FOR NO KEY UPDATE SKIP LOCKED;
END
$$;

-- The moment of sending: decides for messages that the caller has locked and found queued whether each goes out
-- now, and marks those that do as 'sending' before anything is sent.
--
-- verdict: 'send', 'wait' (queued again until due_at) or 'cancelled'; reason as in messages.
--
-- p_rate: messages a second, with bursts of as many; p_pair: least time between two messages to one phone, from the
-- answer to the first, or the last moment at which it can come, to the second; p_recipients: most different phones in 24 hours; NULL: no such limit. The sender's row is locked, so that any
-- number of workers keep the limits together.
CREATE FUNCTION begin_sending(
  p_ids bigint[], p_templates text[], p_rate double precision, p_pair interval, p_recipients integer,
  p_answer_within interval
) RETURNS TABLE (id bigint, verdict text, attempt smallint, reason text)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
  v_elapsed_ms constant bigint := elapsed_ms();
  v_at timestamptz;
  v_sender sender;
  v_room double precision;
  v_fresh bigint;
  v_fresh_at timestamptz;
  v_sent integer;
BEGIN
  SELECT * INTO v_sender FROM sender s FOR NO KEY UPDATE;
  -- After the wait for the lock.
  v_at := clock_timestamp();
  v_room := sender_room(v_sender, p_rate, v_at);
  IF p_recipients IS NOT NULL THEN
    SELECT greatest(p_recipients - count(*), 0), least(min(r.sent_at), v_at) + interval '24 hours' INTO v_fresh, v_fresh_at
    FROM recipients r WHERE r.sent_at > v_at - interval '24 hours';
  END IF;

  RETURN QUERY
  WITH given AS (
    SELECT m.application_id, m.type, a.status AS application_status, a.phone_index, g.template, g.n,
      row_number() OVER (PARTITION BY a.phone_index ORDER BY g.n) AS turn
    FROM unnest(p_ids, p_templates) WITH ORDINALITY AS g(id, template, n)
    JOIN messages m ON m.application_id = g.id
    JOIN applications_of(p_ids) a ON a.id = g.id
  ), checked AS MATERIALIZED (
    SELECT g.application_id, g.phone_index, g.n,
      r.sent_at IS NULL OR r.sent_at <= v_at - interval '24 hours' AS fresh,
      CASE
        WHEN g.type <> 'rejected' AND g.application_status IN ('rejected', 'disbursed') THEN 'application_closed'
        WHEN EXISTS (SELECT FROM suppressions s WHERE s.phone_index = g.phone_index AND s.active) THEN 'suppressed'
        WHEN v_sender.paused_at IS NOT NULL THEN 'sender_paused'
        WHEN EXISTS (SELECT FROM paused_templates t WHERE t.name = g.template) THEN 'template_paused'
        WHEN g.turn > 1 OR r.sent_by > v_at - p_pair THEN 'pair_limit'
      END AS reason,
      -- What is not answered yet is looked at again: the answer may be there long before it has to.
      greatest(least(r.sent_by, v_at) + p_pair, v_at + CASE WHEN g.turn > 1 THEN p_pair * (g.turn - 1) END)
        AS free_at
    FROM given g LEFT JOIN recipients r ON r.phone_index = g.phone_index
  ), ranked AS (
    SELECT c.*, count(*) FILTER (WHERE c.reason IS NULL) OVER (ORDER BY c.n) AS place,
      count(*) FILTER (WHERE c.reason IS NULL AND c.fresh) OVER (ORDER BY c.n) AS fresh_place
    FROM checked c
  ), judged AS MATERIALIZED (
    SELECT c.application_id, c.phone_index, c.n, c.place, c.free_at,
      CASE
        WHEN c.reason IS NOT NULL THEN c.reason
        WHEN c.fresh AND c.fresh_place > v_fresh THEN 'recipient_limit'
        WHEN c.place > v_room THEN 'rate'
      END AS reason
    FROM ranked c
  ), moved AS (
    UPDATE messages m SET
      status = CASE
        WHEN j.reason IS NULL THEN 'sending'::message_status
        WHEN j.reason IN ('application_closed', 'suppressed') THEN 'cancelled'
        ELSE 'queued' END,
      attempts = CASE WHEN j.reason IS NULL THEN m.attempts + 1 ELSE m.attempts END,
      tries = CASE WHEN j.reason IS NULL THEN m.tries + 1 ELSE m.tries END,
      -- That of an earlier attempt would pass for this one's.
      channel_message_id = CASE WHEN j.reason IS NULL THEN NULL ELSE m.channel_message_id END,
      reason = j.reason,
      changed_at = v_at,
      due_at = CASE j.reason
        WHEN 'pair_limit' THEN j.free_at
        WHEN 'rate' THEN v_at + coalesce((j.place - v_room) / p_rate, 1) * interval '1 second'
        WHEN 'recipient_limit' THEN greatest(v_fresh_at, v_at + interval '10 minutes')
        WHEN 'sender_paused' THEN v_at + interval '1 minute'
        -- Resuming it makes them due.
        WHEN 'template_paused' THEN v_at + interval '1 hour'
        ELSE v_at + p_answer_within END
    FROM judged j WHERE m.application_id = j.application_id
    RETURNING m.application_id, m.status, m.attempts, m.reason, j.phone_index
  ), noted AS (
    INSERT INTO recipients AS r (phone_index, sent_at, sent_ms, sent_by)
    SELECT x.phone_index, v_at, v_elapsed_ms, v_at + p_answer_within FROM moved x WHERE x.status = 'sending'
    ORDER BY x.phone_index
    ON CONFLICT (phone_index) DO UPDATE SET sent_at = excluded.sent_at, sent_ms = excluded.sent_ms,
      sent_by = excluded.sent_by
  )
  SELECT x.application_id,
    CASE x.status WHEN 'sending' THEN 'send' WHEN 'cancelled' THEN 'cancelled' ELSE 'wait' END,
    x.attempts, x.reason
  FROM moved x;

  SELECT count(*) INTO v_sent FROM messages m WHERE m.application_id = ANY (p_ids) AND m.status = 'sending'
    AND m.changed_at = v_at;
  UPDATE sender s SET
    tokens = coalesce(sender_tokens(v_sender, p_rate, v_at) - v_sent, 0),
    credit = sender_credit(v_sender, p_rate, v_at) - v_sent,
    refilled_at = v_at,
    latest_at = greatest(s.latest_at, v_at);
  IF v_sender.broken_at IS NOT NULL AND v_sent > 0 THEN
    UPDATE sender s SET probes = s.probes + 1,
      probe_at = v_at + least(interval '15 seconds' * 2 ^ least(s.probes + 1, 10), interval '15 minutes');
  END IF;
END
$$;

-- Records what came of attempts, each with the blind index of the channel's id if there is one, and when the message is
-- due again, or may be settled, in milliseconds from now. A status event may have come first and knows better: only what
-- is still open is written. The answer is also the moment from which the next message to the phone keeps its distance.
--
-- What has early events is left alone, and returned. That no event becomes early meanwhile is the lock's doing: see
-- src/storage/early-events.ts.
CREATE FUNCTION record_attempts(
  p_ids bigint[], p_attempts smallint[], p_statuses message_status[], p_channel_ids uuid[], p_reasons text[],
  p_after_ms float8[]
) RETURNS TABLE (id bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
-- Rows are changed in the order of the subquery, and so locked in it: to lock them before would cost as much again.
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
  v_early uuid[];
BEGIN
  LOCK TABLE early_events IN ROW SHARE MODE;
  v_early := ARRAY(SELECT e.channel_message_id FROM early_events e WHERE e.channel_message_id = ANY (p_channel_ids));

  UPDATE messages m SET status = r.status, channel_message_id = coalesce(r.channel_message_id, m.channel_message_id),
    reason = r.reason, due_at = now() + r.after_ms * interval '1 millisecond', changed_at = now()
  FROM (
    SELECT * FROM unnest(p_ids, p_attempts, p_statuses, p_channel_ids, p_reasons, p_after_ms)
      AS g(id, attempt, status, channel_message_id, reason, after_ms)
    WHERE (g.channel_message_id = ANY (v_early)) IS NOT TRUE
    ORDER BY g.id
  ) AS r
  WHERE m.application_id = r.id AND m.attempts = r.attempt AND m.status IN ('sending', 'uncertain');

  -- A statement of its own: within one, nobody says which table is locked first.
  UPDATE recipients p SET sent_by = now()
  FROM (
    SELECT a.phone_index FROM unnest(p_ids, p_attempts, p_channel_ids) AS g(id, attempt, channel_message_id)
    JOIN messages m ON m.application_id = g.id AND m.attempts = g.attempt
    JOIN applications_of(p_ids) a ON a.id = g.id
    WHERE (g.channel_message_id = ANY (v_early)) IS NOT TRUE
    ORDER BY a.phone_index
  ) AS r
  WHERE p.phone_index = r.phone_index;

  RETURN QUERY SELECT r.id FROM unnest(p_ids, p_channel_ids) AS r(id, channel_message_id)
  WHERE r.channel_message_id = ANY (v_early);
END
$$;
