-- Delivery of the outbox: when each message is due, what the channel said, whom and what may not be sent to.
--
-- The order of locks. A transaction takes the locks on rows in this order of tables, and within one table in the order
-- of its key; or with SKIP LOCKED, which waits for nobody. So no two wait for each other in a circle:
--   early_events (the whole table), application_states, messages, sender, paused_templates (a row, or the whole table),
--   recipients, suppressions.
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
-- Uncertain ones that were written while the clock was ahead, for mend_leap.
CREATE INDEX messages_unsettled ON messages (due_at) WHERE status = 'uncertain';
-- What an operator may settle, by the thousand.
CREATE INDEX messages_ended ON messages (status, application_id) WHERE status IN ('failed', 'uncertain');
-- Not unique: should a channel give one id twice, the records of other messages must not fail by it.
CREATE INDEX messages_channel_id ON messages (channel_message_id) WHERE channel_message_id IS NOT NULL;

-- What is known of each phone's wish for messages, by blind index. One row a phone, so that whoever speaks of it waits
-- for the word before, and the last one to commit is the last word. Operators' words hold as they come. Those of the
-- channel carry its own time and come late, doubled and in any order: they are held against each other by that time.
-- Bound: while active, kept, for an opt-out does not expire; else the upkeep deletes 30 days after the last word; the
-- channel repeats its events for 7.
CREATE TABLE suppressions (
  phone_index bigint PRIMARY KEY,
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
CREATE FUNCTION hear_wishes(p_phones bigint[], p_stops boolean[], p_sources text[], p_at timestamptz[])
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
  phone_index bigint PRIMARY KEY,
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
