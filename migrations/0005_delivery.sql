-- Delivery of the outbox: when each message is due, what the channel said, whom and what may not be sent to.
--
-- The order of locks. A transaction takes the locks on rows in this order of tables, and within one table in the order
-- of its key; or with SKIP LOCKED, which waits for nobody. So no two wait for each other in a circle:
--   early_events (the whole table), applications, messages, sender, paused_templates, recipients, suppressions.
--
-- Times are the database's own, and its clock may step. A time that lies in the future without having been asked for is
-- one of a clock that was ahead: nothing waits for it, and the upkeep mends it (mend_leap).

ALTER TABLE messages
  -- queued: when it may be claimed next. sending: the end of the lease, when it is taken to be lost. uncertain:
  -- from when an operator may settle it.
  ADD COLUMN due_at timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN attempts smallint NOT NULL DEFAULT 0,
  -- Those since an operator queued it again, or all: too many end in failed.
  ADD COLUMN tries smallint NOT NULL DEFAULT 0,
  -- Blind index of the channel's own id of the last attempt. The id itself may hold the phone.
  ADD COLUMN channel_message_id uuid,
  -- Why it waits, failed, is uncertain or was cancelled; a code, never personal data.
  ADD COLUMN reason text,
  ADD COLUMN changed_at timestamptz NOT NULL DEFAULT now();

CREATE INDEX messages_due ON messages (due_at) WHERE status IN ('queued', 'sending');
-- What an operator may settle, by the thousand.
CREATE INDEX messages_ended ON messages (status, application_id) WHERE status IN ('failed', 'uncertain');
-- Not unique: should a channel give one id twice, the records of other messages must not fail by it.
CREATE INDEX messages_channel_id ON messages (channel_message_id) WHERE channel_message_id IS NOT NULL;

-- When the applicant tapped "I am interested", the first time.
ALTER TABLE applications ADD COLUMN interested_at timestamptz;

-- What is known of each phone's wish for messages, by blind index. One row a phone, so that whoever speaks of it waits
-- for the word before, and the last one to commit is the last word. Operators' words hold as they come. Those of the
-- channel carry its own time and come late, doubled and in any order: they are held against each other by that time.
-- Bound: while active, kept, for an opt-out does not expire; else the upkeep deletes 30 days after the last word; the
-- channel repeats its events for 7.
CREATE TABLE suppressions (
  phone_index uuid PRIMARY KEY,
  -- No message goes out.
  active boolean NOT NULL DEFAULT true,
  -- Who asked for it: keyword, channel or operator.
  source text NOT NULL,
  -- When they last asked.
  created_at timestamptz NOT NULL DEFAULT now(),
  -- By the database's clock: when it was last suppressed or lifted.
  changed_at timestamptz NOT NULL DEFAULT now(),
  -- By the channel's clock: the latest word of either kind that is known.
  stopped_at timestamptz,
  resumed_at timestamptz,
  -- By the database's clock: when an operator last lifted it; and the latest stop that was known then.
  lifted_at timestamptz,
  lifted_stop timestamptz,
  -- elapsed_ms() of the last word.
  heard_ms bigint NOT NULL DEFAULT elapsed_ms()
);
CREATE INDEX suppressions_newest ON suppressions (created_at, phone_index);

-- How far the channel's clock may be from the database's.
CREATE FUNCTION clock_doubt() RETURNS interval LANGUAGE sql IMMUTABLE RETURN interval '15 minutes';

-- Takes in words of the channel: stops and resumes of phones. In doubt the phone is suppressed:
--   - of a stop and a resume of the same time the stop holds;
--   - a resume lifts no suppression of an operator's;
--   - after an operator's lift a stop holds unless it was known then, or is older by more than the doubt;
--   - what is said to come is taken to be said now, a stop to be said in a while at most, so that no wrong time of the
--     channel silences a later word.
-- A row a phone: whether it was suppressed before, and is now.
CREATE FUNCTION hear_wishes(p_phones uuid[], p_stops boolean[], p_sources text[], p_at timestamptz[])
RETURNS TABLE (was boolean, "is" boolean)
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  w record;
  s suppressions;
  v_stop timestamptz;
  v_active boolean;
BEGIN
  FOR w IN
    SELECT u.phone_index, max(u.at) FILTER (WHERE u.stops) AS stop, max(u.at) FILTER (WHERE NOT u.stops) AS resume,
      (array_agg(u.source ORDER BY u.at DESC) FILTER (WHERE u.stops))[1] AS source
    FROM (SELECT g.phone_index, g.stops, g.source,
        least(g.at, CASE WHEN g.stops THEN v_now + clock_doubt() ELSE v_now END) AS at
      FROM unnest(p_phones, p_stops, p_sources, p_at) AS g(phone_index, stops, source, at)) u
    GROUP BY u.phone_index ORDER BY u.phone_index
  LOOP
    INSERT INTO suppressions AS t (phone_index, active, source) VALUES (w.phone_index, false, 'channel')
    ON CONFLICT (phone_index) DO UPDATE SET source = t.source RETURNING t.* INTO s;
    v_stop := greatest(s.stopped_at, w.stop);
    v_active := CASE
      WHEN s.active AND s.source = 'operator' THEN true
      WHEN w.stop >= coalesce(greatest(s.resumed_at, w.resume), '-infinity') AND (s.lifted_at IS NULL
        OR w.stop > coalesce(s.lifted_stop, '-infinity') AND w.stop >= least(s.lifted_at, v_now) - clock_doubt())
        THEN true
      WHEN w.resume > coalesce(v_stop, '-infinity') THEN false
      ELSE s.active END;
    UPDATE suppressions SET
      active = v_active,
      source = CASE WHEN v_active AND NOT s.active THEN w.source ELSE s.source END,
      created_at = CASE WHEN NOT v_active OR w.stop IS NULL THEN s.created_at
        WHEN s.active THEN greatest(s.created_at, w.stop) ELSE w.stop END,
      changed_at = CASE WHEN v_active = s.active THEN s.changed_at ELSE v_now END,
      stopped_at = v_stop,
      resumed_at = greatest(s.resumed_at, w.resume),
      heard_ms = elapsed_ms()
    WHERE phone_index = w.phone_index;
    RETURN QUERY SELECT s.active, v_active;
  END LOOP;
END
$$;

-- Whom was sent to in the last 24 hours, for the pair limit and the limit of different recipients. Bound: the
-- upkeep deletes what is older.
CREATE TABLE recipients (
  phone_index uuid PRIMARY KEY,
  sent_at timestamptz NOT NULL,
  -- elapsed_ms() then.
  sent_ms bigint NOT NULL DEFAULT 0,
  -- By when the message was at the channel for sure: when its answer came; until then, when it can come at the latest.
  sent_by timestamptz NOT NULL
);
CREATE INDEX recipients_sent_at ON recipients (sent_at);

-- The sender: its rate as a token bucket, how far the channel is trusted, and whether it is paused. One row, and the
-- lock of who sends next.
CREATE TABLE sender (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  tokens double precision NOT NULL DEFAULT 0,
  refilled_at timestamptz NOT NULL DEFAULT now(),
  -- The latest time that anybody has seen: where the clock is behind it, it has stepped back.
  latest_at timestamptz NOT NULL DEFAULT now(),
  paused_at timestamptz,
  paused_reason text,
  -- Messages that may go out before the channel has answered for more: see sender_credit.
  credit double precision NOT NULL DEFAULT 10,
  -- When the channel last gave an answer about a message, whatever it was.
  alive_at timestamptz,
  -- Answers since then, and those that never came, that tell nothing of their messages.
  failures integer NOT NULL DEFAULT 0,
  -- Since when there were too many of them, and only probes go out; how many have, and when the next one does.
  broken_at timestamptz,
  broken_reason text,
  probes integer NOT NULL DEFAULT 0,
  probe_at timestamptz
);
INSERT INTO sender DEFAULT VALUES;

-- Status events without our callback that came before the record of their message. Bound: the upkeep deletes what is
-- older than an hour; a record comes within minutes of its send.
CREATE TABLE early_events (
  -- Blind index.
  channel_message_id uuid NOT NULL,
  status text NOT NULL,
  at timestamptz NOT NULL,
  -- What a failure means; NULL for the other statuses.
  disposition jsonb,
  -- elapsed_ms() when it came.
  came_ms bigint NOT NULL,
  PRIMARY KEY (channel_message_id, status)
);
CREATE INDEX early_events_came ON early_events (came_ms);

-- Templates that the channel refuses, until an operator resumes them.
CREATE TABLE paused_templates (
  name text PRIMARY KEY,
  reason text NOT NULL,
  paused_at timestamptz NOT NULL DEFAULT now()
);

-- What the sender may send at p_at: it fills with p_rate tokens a second, up to one second's worth. Where the clock has
-- stepped back it does not wait for it: that gives one second's worth.
CREATE FUNCTION sender_tokens(s sender, p_rate double precision, p_at timestamptz) RETURNS double precision
LANGUAGE sql IMMUTABLE
RETURN least(p_rate, s.tokens + p_rate * CASE WHEN s.refilled_at > p_at + interval '1 second' THEN 1
  ELSE greatest(extract(epoch FROM p_at - s.refilled_at), 0) END);

-- How many messages may go out at p_at before the channel has answered for more. Each one that goes takes one, each
-- answer about a message gives two back, and one that tells nothing gives none: a channel that works doubles it with
-- every round, one that is dead is told to few. After five seconds without an answer it begins at ten again, and up
-- to ten it fills by itself, one a second. It is bounded by a second's worth of p_rate.
CREATE FUNCTION sender_credit(s sender, p_rate double precision, p_at timestamptz) RETURNS double precision
LANGUAGE sql STABLE
RETURN (
  SELECT least(greatest(coalesce(p_rate, 1000), 10), CASE
    WHEN c.credit >= 10 THEN c.credit
    -- Whichever way the clock stepped since.
    ELSE least(10, c.credit + abs(extract(epoch FROM p_at - s.refilled_at))) END)
  FROM (SELECT CASE WHEN s.alive_at > p_at - interval '5 seconds' THEN s.credit ELSE least(s.credit, 10) END) AS c(credit)
);

-- A probe may go out. One that is further away than they ever are was set by a clock that stepped back since.
CREATE FUNCTION is_probe_due(s sender, p_at timestamptz) RETURNS boolean
LANGUAGE sql STABLE
RETURN s.broken_at IS NOT NULL AND (s.probe_at <= p_at OR s.probe_at > p_at + interval '15 minutes');

-- How many messages may go out at p_at.
CREATE FUNCTION sender_room(s sender, p_rate double precision, p_at timestamptz) RETURNS double precision
LANGUAGE sql STABLE
RETURN CASE
  WHEN s.paused_at IS NOT NULL THEN 0
  WHEN is_probe_due(s, p_at) THEN greatest(floor(least(sender_tokens(s, p_rate, p_at), 1)), 0)
  WHEN s.broken_at IS NOT NULL THEN 0
  ELSE greatest(floor(least(sender_tokens(s, p_rate, p_at), sender_credit(s, p_rate, p_at))), 0) END;

-- Takes note of answers of the channel: p_alive about their message, and p_failing, since the last one of those, that
-- tell nothing of it, the last for p_reason. Five in a row, by any number of workers, break: from then on only
-- probes go out, the first after 15 seconds. An answer mends it, and the credit begins anew.
--
-- Returns what changed: 'broken', 'mended' or NULL.
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
    JOIN applications a ON a.id = g.id
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

-- What was written while the clock was ahead, and would wait for it to be there again: whom was sent to counts as sent
-- to now, a contact window is asked again, and any other wait begins anew. NULL where the clock has not stepped back; true where there may be more to
-- mend: call again.
CREATE FUNCTION mend_leap() RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  -- Most rows of a table that one call changes: a statement has 3 seconds.
  v_most constant integer := 5000;
  v_messages bigint[];
  v_phones uuid[];
BEGIN
  IF (SELECT latest_at <= v_now + interval '1 second' FROM sender) THEN
    UPDATE sender SET latest_at = v_now WHERE latest_at < v_now;
    RETURN NULL;
  END IF;
  v_messages := ARRAY(
    SELECT application_id FROM messages
    WHERE status IN ('queued', 'sending') AND due_at > v_now AND changed_at > v_now
    ORDER BY due_at DESC LIMIT v_most);
  UPDATE messages SET changed_at = v_now,
    due_at = v_now + CASE WHEN reason = 'contact_window' THEN interval '0' ELSE due_at - changed_at END
  WHERE application_id IN (
    SELECT application_id FROM messages
    WHERE application_id = ANY (v_messages)
      AND status IN ('queued', 'sending') AND due_at > v_now AND changed_at > v_now
    ORDER BY application_id FOR NO KEY UPDATE);
  UPDATE sender SET refilled_at = least(refilled_at, v_now), alive_at = least(alive_at, v_now);
  v_phones := ARRAY(
    SELECT phone_index FROM recipients
    WHERE sent_at > v_now OR sent_by > v_now + interval '1 minute' LIMIT v_most);
  UPDATE recipients SET sent_at = least(sent_at, v_now), sent_by = v_now + least(sent_by - sent_at, interval '1 minute')
  WHERE phone_index IN (
    SELECT phone_index FROM recipients
    WHERE phone_index = ANY (v_phones) AND (sent_at > v_now OR sent_by > v_now + interval '1 minute')
    ORDER BY phone_index FOR NO KEY UPDATE);
  -- What was found counts, not what was changed: another session may have mended the same rows.
  IF greatest(cardinality(v_messages), cardinality(v_phones)) = v_most THEN RETURN true; END IF;
  UPDATE sender SET latest_at = v_now;
  RETURN false;
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
    JOIN applications a ON a.id = g.id
    WHERE (g.channel_message_id = ANY (v_early)) IS NOT TRUE
    ORDER BY a.phone_index
  ) AS r
  WHERE p.phone_index = r.phone_index;

  RETURN QUERY SELECT r.id FROM unnest(p_ids, p_channel_ids) AS r(id, channel_message_id)
  WHERE r.channel_message_id = ANY (v_early);
END
$$;
