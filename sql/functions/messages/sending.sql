-- What becomes of claimed messages: they wait, have ended, or are sent. The head of 0004_messages.sql gives the order
-- of locks.

-- Puts off or ends messages that the caller has locked and found queued: each waits until due_at or has ended. Where
-- the data key of a message is missing again (unknown_key), the message waits twice as long as before, 15 minutes at
-- most: a backlog of such messages must not come back whole each minute.
CREATE OR REPLACE FUNCTION put_off(p_ids bigint[], p_due_at timestamptz[], p_reasons text[], p_statuses message_status[])
RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_new_ids bigint[];
  v_new_types message_type[];
  v_new_partners integer[];
  -- In UTC: where the database is spread over machines, an UPDATE can add only to a time without a zone.
  v_utc constant timestamp := now() AT TIME ZONE 'UTC';
BEGIN
  SELECT array_agg(t.id), array_agg(t.type), array_agg(t.partner_id) INTO v_new_ids, v_new_types, v_new_partners
  FROM take_from_outbox(p_ids) AS t;
  PERFORM make_records('queued', 0::smallint, now(), array_agg(t.id), array_agg(t.type), array_agg(t.partner_id),
    array_agg(g.status), array_agg(g.due_at), array_agg(g.reason))
  FROM unnest(v_new_ids, v_new_types, v_new_partners) AS t(id, type, partner_id)
  JOIN unnest(p_ids, p_due_at, p_reasons, p_statuses) AS g(id, due_at, reason, status) ON g.id = t.id
  HAVING count(*) > 0;
  UPDATE message_records m SET due_at = CASE WHEN g.reason = 'unknown_key' AND m.reason = 'unknown_key' THEN
      greatest(g.due_at, (v_utc + least(2 * (m.due_at - m.changed_at), interval '15 minutes')) AT TIME ZONE 'UTC')
    ELSE g.due_at END, reason = g.reason, status = g.status, changed_at = now()
  FROM unnest(p_ids, p_due_at, p_reasons, p_statuses) AS g(id, due_at, reason, status)
  WHERE m.message_id = g.id AND m.message_id = ANY (p_ids) AND (g.id = ANY (v_new_ids)) IS NOT TRUE;
END
$$;

-- Writes the decisions on messages that have a record, and on those that do not go out.
CREATE OR REPLACE FUNCTION record_decisions(m claimed_messages, d send_decisions, p_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_recorded constant bigint[] := ARRAY(
    SELECT g.id FROM unnest(m.ids, m.attempts) AS g(id, attempts) WHERE g.attempts IS NOT NULL);
BEGIN
  IF v_recorded <> '{}' THEN
    EXECUTE $sql$
      UPDATE message_records m SET
        status = g.status,
        attempts = CASE WHEN g.reason IS NULL THEN g.attempts + 1 ELSE m.attempts END,
        tries = CASE WHEN g.reason IS NULL THEN m.tries + 1 ELSE m.tries END,
        -- The id of an earlier attempt would pass for this attempt's.
        channel_message_id = CASE WHEN g.reason IS NULL THEN NULL ELSE m.channel_message_id END,
        reason = g.reason,
        changed_at = $6,
        due_at = g.due_at
      FROM unnest($1, $2, $3, $4, $5) AS g(id, attempts, status, reason, due_at)
      WHERE m.message_id = g.id AND m.message_id = ANY ($7) AND m.status = 'queued' $sql$
    USING m.ids, m.attempts, d.statuses, d.reasons, d.due_at, p_at, v_recorded;
  END IF;
  IF array_remove(d.reasons, NULL) <> '{}' THEN
    PERFORM make_records('queued', 0::smallint, p_at, array_agg(g.id), array_agg(g.type), array_agg(g.partner_id),
      array_agg(g.status), array_agg(g.due_at), array_agg(g.reason))
    FROM unnest(m.ids, m.types, m.partners, m.attempts, d.statuses, d.due_at, d.reasons)
      AS g(id, type, partner_id, attempts, status, due_at, reason)
    WHERE g.reason IS NOT NULL AND g.attempts IS NULL HAVING count(*) > 0;
    PERFORM forget_cancelled_rejections(m.ids, m.types, m.phones, m.partners, d.statuses);
  END IF;
END
$$;

-- Writes that messages go out: their lease, how many of those from the outbox there are, and what their phones got.
CREATE OR REPLACE FUNCTION lease_messages(
  m claimed_messages, d send_decisions, p_sent_at timestamptz[], p_at timestamptz, p_answer_within interval
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_untouched bigint;
BEGIN
  INSERT INTO leases (begun_at, lost_at, ids, types, attempts)
  SELECT p_at, p_at + p_answer_within, array_agg(g.id ORDER BY g.id),
    string_agg(letter_of(g.type), '' ORDER BY g.id), array_agg((coalesce(g.attempts, 0) + 1)::smallint ORDER BY g.id)
  FROM unnest(m.ids, m.types, m.attempts, d.reasons) AS g(id, type, attempts, reason) WHERE g.reason IS NULL;
  v_untouched := (
    SELECT count(*) FROM unnest(m.attempts, d.reasons) AS g(attempts, reason)
    WHERE g.attempts IS NULL AND g.reason IS NULL);
  IF v_untouched > 0 THEN
    INSERT INTO message_counts VALUES ('queued', -v_untouched), ('sending', v_untouched);
  END IF;
  PERFORM note_recipients(array_agg(g.id), array_agg(g.type), array_agg(g.phone_index), array_agg(g.partner_id),
    array_agg(g.sent_at), p_at)
  FROM unnest(m.ids, m.types, m.phones, m.partners, p_sent_at, d.reasons)
    AS g(id, type, phone_index, partner_id, sent_at, reason)
  WHERE g.reason IS NULL;
END
$$;

-- Takes what goes out from the sender's rate, its credit and its recipients, and writes the sender. s: the
-- sender with its recipients counted.
CREATE OR REPLACE FUNCTION charge_sender(
  s sender, p_sent bigint, p_fresh bigint, p_rate double precision, p_last_partner integer, p_at timestamptz
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_tokens constant double precision := coalesce(sender_tokens(s, p_rate, p_at) - p_sent, 0);
  v_credit constant double precision := sender_credit(s, p_rate, p_at) - p_sent;
  v_probe_at constant timestamptz := p_at + probe_pause(s.probes + 1);
BEGIN
  UPDATE sender u SET tokens = v_tokens, credit = v_credit, refilled_at = p_at,
    latest_at = greatest(u.latest_at, p_at), recent_phones = s.recent_phones + p_fresh, counted_at = s.counted_at,
    room_at = s.room_at, sated_partners = s.sated_partners, sated_at = s.sated_at, sated_phones = s.sated_phones,
    last_partner = coalesce(p_last_partner, u.last_partner);
  IF s.broken_at IS NOT NULL AND p_sent > 0 THEN
    UPDATE sender u SET probes = s.probes + 1, probe_at = v_probe_at;
  END IF;
END
$$;

-- The moment of sending: decides whether each message that the caller has locked and found queued goes out now, and
-- marks those that do as sending, by a lease, before any of them is sent.
--
-- Returns the messages that go out. Of the others some are queued again and some are cancelled.
--
-- p_partners: the partner of each message; p_last_partner: last_partner of claim_due. The next claim begins after it.
--
-- p_rate: messages a second, with bursts of as many; p_pair: least time between two messages to one phone, from the
-- answer to the first one, or the last moment at which that answer can come; p_recipients: most different phones in
-- 24 hours; p_messages, p_rejected: most messages to one phone in 24 hours, and `rejected` ones among them; NULL: no
-- such limit. p_day_ids: the messages to countries with a limit of the calendar day, p_day_starts: when that day began,
-- p_a_day: the limit. The sender's row is locked, so that any number of workers keep the limits together.
CREATE OR REPLACE FUNCTION begin_sending(
  p_ids bigint[], p_templates text[], p_partners integer[], p_last_partner integer, p_rate double precision,
  p_pair interval, p_recipients integer, p_messages integer, p_rejected integer, p_answer_within interval,
  p_day_ids bigint[] DEFAULT NULL, p_day_starts timestamptz[] DEFAULT NULL, p_a_day integer[] DEFAULT NULL
) RETURNS SETOF bigint
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
-- A table that was empty when the plan was made may be long now.
SET jit = off
SET enable_seqscan = off
AS $$
DECLARE
  v_messages constant claimed_messages := take_claimed(p_ids, p_templates, p_partners);
  v_sender sender;
  v_at timestamptz;
  v_unfitting record;
  v_last record;
  v_obstacles record;
  v_decisions send_decisions;
  v_sent bigint;
  v_fresh bigint;
BEGIN
  SELECT * INTO v_sender FROM sender s FOR NO KEY UPDATE;
  -- The time is read after the wait for the lock.
  v_at := clock_timestamp();
  IF p_recipients IS NOT NULL THEN
    v_sender := with_recipients_counted(v_sender, cardinality(p_ids), p_recipients, v_at);
  END IF;
  v_unfitting := unfitting_messages(v_messages);
  v_last := last_sends(v_messages.phones, p_answer_within);
  v_obstacles := obstacles_to(v_messages, v_unfitting.of_wrong_person, v_unfitting.closed, v_unfitting.replaced,
    over_limit(v_messages, v_last.sent_at IS NOT NULL, v_at, p_messages, p_rejected, p_day_ids, p_day_starts, p_a_day),
    v_sender.paused_at IS NOT NULL, v_last.sent_by, p_pair, v_at);
  v_decisions := decisions_on(v_messages.partners, v_obstacles.reasons, v_obstacles.free_at, v_last.sent_at, v_sender,
    p_recipients, p_rate, v_at);
  SELECT count(*), count(*) FILTER (WHERE is_fresh(g.sent_at, v_at)) INTO v_sent, v_fresh
  FROM unnest(v_messages.ids, v_decisions.reasons, v_last.sent_at) AS g(id, reason, sent_at) WHERE g.reason IS NULL;

  PERFORM record_decisions(v_messages, v_decisions, v_at);
  IF v_unfitting.application_ids IS NOT NULL THEN
    -- At the review such a message seemed to have gone out, so that there may be no other one. New records after the
    -- lock on the sender, against the order of locks: a review of the application waits for the messages locked here.
    PERFORM queue_fitting_messages(v_unfitting.application_ids, v_unfitting.statuses);
  END IF;
  IF v_sent > 0 THEN
    PERFORM lease_messages(v_messages, v_decisions, v_last.sent_at, v_at, p_answer_within);
  END IF;
  PERFORM charge_sender(v_sender, v_sent, v_fresh, p_rate, p_last_partner, v_at);

  RETURN QUERY SELECT g.id FROM unnest(v_messages.ids, v_decisions.statuses) AS g(id, status) WHERE g.status = 'sending';
END
$$;
