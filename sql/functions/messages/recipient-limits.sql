-- The limits of a phone (D42): which messages may not go out because of what their phone got in 24 hours, over all
-- partners, or because a later message takes their place. The head of 0004_messages.sql gives the order of locks.
--
-- The functions here look at messages that the caller has locked: their ids, phones and partners. The caller has locked
-- the sender, so that no other session begins to send.

-- Whether the message still waits for its send.
CREATE OR REPLACE FUNCTION still_waits(p_id bigint) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM outbox o WHERE o.batch_id = batch_of(p_id) AND position_of(p_id)::smallint = ANY (o.positions))
    OR EXISTS (SELECT FROM waiting_messages w WHERE w.status = 'queued' AND w.message_id = p_id);
END
$$;

-- Whether a message takes the place of an earlier one of the same partner to the same phone: it is of a later
-- application, or a later message of the same one. A reminder and another message of its application do not replace
-- each other.
CREATE OR REPLACE FUNCTION is_later_message(p_id bigint, p_earlier bigint) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN application_of_message(p_id) > application_of_message(p_earlier)
  OR application_of_message(p_id) = application_of_message(p_earlier) AND p_id > p_earlier
    AND NOT is_reminder(p_id);

-- Of these messages, those with a later one among them, of the same partner to the same phone.
CREATE OR REPLACE FUNCTION before_one_another(p_ids bigint[], p_phones bigint[], p_partners integer[]) RETURNS bigint[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(
    SELECT g.id FROM (
      SELECT u.id, max(application_of_message(u.id)) OVER (PARTITION BY u.phone_index, u.partner_id) AS last,
        max(u.id) FILTER (WHERE NOT is_reminder(u.id)) OVER (
          PARTITION BY u.phone_index, u.partner_id, application_of_message(u.id)) AS last_of_application
      FROM unnest(p_ids, p_phones, p_partners) AS u(id, phone_index, partner_id)) AS g
    WHERE g.last > application_of_message(g.id) OR is_later_message(g.last_of_application, g.id));
END
$$;

-- The messages whose phones got too much before them: in the 24 hours before p_at p_most messages, or p_most_rejected
-- `rejected` ones where the message is `rejected` itself; or a later message of the same partner. Of the messages
-- p_day_ids also those whose phones got p_a_day messages since p_day_starts, the beginning of their country's day. A
-- time ahead of the clock counts as now.
CREATE OR REPLACE FUNCTION over_by_sent(
  p_ids bigint[], p_types message_type[], p_phones bigint[], p_partners integer[], p_at timestamptz, p_most integer,
  p_most_rejected integer, p_day_ids bigint[], p_day_starts timestamptz[], p_a_day integer[]
) RETURNS bigint[]
LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_since constant timestamptz := p_at - recipient_window();
BEGIN
  RETURN ARRAY(
    SELECT g.id FROM unnest(p_ids, p_types, p_phones, p_partners) AS g(id, type, phone_index, partner_id)
    JOIN recipients r ON r.phone_index = g.phone_index
    LEFT JOIN unnest(p_day_ids, p_day_starts, p_a_day) AS d(id, start, most) ON d.id = g.id
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE s.at > v_since) AS messages,
        count(*) FILTER (WHERE s.at > v_since AND s.is_rejected) AS rejected,
        count(*) FILTER (WHERE s.at >= d.start) AS today,
        bool_or(s.partner_id = g.partner_id AND is_later_message(s.id, g.id)) AS has_later
      FROM (
        SELECT r.message_id, r.sent_at, r.partner_id, r.is_rejected
        UNION ALL
        SELECT * FROM unnest(r.earlier_ids, r.earlier_at, r.earlier_partners, r.earlier_rejected)
      ) AS s(id, at, partner_id, is_rejected)
      WHERE s.id <> g.id) AS sent
    WHERE sent.messages >= p_most OR sent.today >= d.most OR g.type = 'rejected' AND sent.rejected >= p_most_rejected OR sent.has_later);
END
$$;

-- The messages that give way to an open application: it is later, of the same partner, has this phone, and has a
-- message of its own.
CREATE OR REPLACE FUNCTION before_open_application(p_ids bigint[], p_phones bigint[], p_partners integer[]) RETURNS bigint[]
LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_open_phones bigint[];
  v_open_ids bigint[];
BEGIN
  SELECT array_agg(o.phone_index), array_agg(o.application_id) INTO v_open_phones, v_open_ids
  FROM open_phones o WHERE o.phone_index = ANY (p_phones);
  IF v_open_ids IS NULL THEN RETURN '{}'; END IF;
  v_open_ids := messaged_applications(v_open_ids);
  RETURN ARRAY(
    SELECT g.id FROM unnest(p_ids, p_phones, p_partners) AS g(id, phone_index, partner_id)
    JOIN unnest(v_open_ids, v_open_phones, partners_of(v_open_ids)) AS o(id, phone_index, partner_id)
      ON o.phone_index = g.phone_index AND o.partner_id = g.partner_id AND o.id > application_of_message(g.id));
END
$$;

-- The messages with a later `rejected` of the same partner to the same phone that waits, wherever that one is. Looks
-- for the newest one of each phone and partner, however many wait: of registrations, and of reviews, whose ids are
-- higher.
CREATE OR REPLACE FUNCTION before_waiting_rejection(p_ids bigint[], p_phones bigint[], p_partners integer[]) RETURNS bigint[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(
    SELECT g.id FROM unnest(p_ids, p_phones, p_partners) AS g(id, phone_index, partner_id)
    JOIN (
      SELECT a.phone_index, a.partner_id, (
        SELECT r.message_id FROM waiting_rejections r
        WHERE r.phone_index = a.phone_index AND r.partner_id = a.partner_id
          AND r.message_id > a.first AND r.message_id < 9007199254740992 AND still_waits(r.message_id)
        ORDER BY r.message_id DESC LIMIT 1) AS registered, (
        SELECT r.message_id FROM waiting_rejections r
        WHERE r.phone_index = a.phone_index AND r.partner_id = a.partner_id
          AND r.message_id >= message_after_review(a.first, 'rejected') AND still_waits(r.message_id)
        ORDER BY r.message_id DESC LIMIT 1) AS reviewed
      FROM (
        SELECT u.phone_index, u.partner_id, min(application_of_message(u.id)) AS first
        FROM unnest(p_ids, p_phones, p_partners) AS u(id, phone_index, partner_id)
        GROUP BY u.phone_index, u.partner_id) AS a
    ) AS w ON w.phone_index = g.phone_index AND w.partner_id = g.partner_id
    WHERE w.registered > application_of_message(g.id)
      OR (application_of_message(w.reviewed), w.reviewed) > (application_of_message(g.id), g.id));
END
$$;

-- The messages that may not go out any more at p_at because of the limits of their phones (D42): a phone gets
-- p_most messages in 24 hours, p_most_rejected of them `rejected`, over all partners (NULL: any number). The
-- phones of the messages p_day_ids get p_a_day messages from p_day_starts on. A message also gives way to a later
-- message of the same partner to the same phone: to one that waits, or to one that was sent. Of the messages that
-- wait beyond this call only those matter that are later than a `rejected`: where the phone has a later open
-- application, the application of any other message is closed, and that message is cancelled.
--
-- Every message whose send has begun counts, whatever the channel answered. A message that was refused for now goes out
-- again, so it still counts. A message that was refused for good counts too: otherwise a partner could try a phone
-- again and again. All attempts of a message count as one message.
CREATE OR REPLACE FUNCTION messages_over_limit(
  p_ids bigint[], p_types message_type[], p_phones bigint[], p_partners integer[], p_at timestamptz, p_most integer,
  p_most_rejected integer, p_day_ids bigint[], p_day_starts timestamptz[], p_a_day integer[]
) RETURNS bigint[]
LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_over constant bigint[] := before_one_another(p_ids, p_phones, p_partners)
    || over_by_sent(p_ids, p_types, p_phones, p_partners, p_at, p_most, p_most_rejected,
      p_day_ids, p_day_starts, p_a_day);
  v_ids bigint[];
  v_phones bigint[];
  v_partners integer[];
BEGIN
  SELECT array_agg(g.id), array_agg(g.phone_index), array_agg(g.partner_id) INTO v_ids, v_phones, v_partners
  FROM unnest(p_ids, p_types, p_phones, p_partners) AS g(id, type, phone_index, partner_id) WHERE g.type = 'rejected';
  IF v_ids IS NULL THEN RETURN v_over; END IF;
  RETURN v_over || before_open_application(v_ids, v_phones, v_partners)
    || before_waiting_rejection(v_ids, v_phones, v_partners);
END
$$;

-- Notes the first sends to phones and the further ones. p_sent_at: when each phone got its last message; NULL: not in
-- the last day.
CREATE OR REPLACE FUNCTION note_recipients(
  p_ids bigint[], p_types message_type[], p_phones bigint[], p_partners integer[], p_sent_at timestamptz[],
  p_at timestamptz
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_elapsed_ms constant bigint := elapsed_ms();
  -- The phones that had a row; the upkeep may delete it meanwhile.
  v_known bigint[] := ARRAY(
    SELECT g.phone_index FROM unnest(p_phones, p_sent_at) AS g(phone_index, sent_at)
    WHERE g.sent_at IS NOT NULL ORDER BY g.phone_index);
BEGIN
  IF v_known <> '{}' THEN
    PERFORM FROM recipients r WHERE r.phone_index = ANY (v_known) ORDER BY r.phone_index FOR NO KEY UPDATE;
    WITH again AS (
      UPDATE recipients r SET sent_at = p_at, sent_ms = v_elapsed_ms, message_id = g.id, answered_at = NULL,
        partner_id = g.partner_id, is_rejected = g.type = 'rejected',
        -- The last one before goes to the front, unless it is the same message; this message is not twice among them.
        earlier_ids = CASE WHEN r.message_id = g.id THEN r.earlier_ids ELSE r.message_id
          || r.earlier_ids[:coalesce(array_position(r.earlier_ids, g.id), 19) - 1]
          || r.earlier_ids[coalesce(array_position(r.earlier_ids, g.id), 19) + 1:19] END,
        earlier_at = CASE WHEN r.message_id = g.id THEN r.earlier_at ELSE least(r.sent_at, p_at)
          || r.earlier_at[:coalesce(array_position(r.earlier_ids, g.id), 19) - 1]
          || r.earlier_at[coalesce(array_position(r.earlier_ids, g.id), 19) + 1:19] END,
        earlier_partners = CASE WHEN r.message_id = g.id THEN r.earlier_partners ELSE r.partner_id
          || r.earlier_partners[:coalesce(array_position(r.earlier_ids, g.id), 19) - 1]
          || r.earlier_partners[coalesce(array_position(r.earlier_ids, g.id), 19) + 1:19] END,
        earlier_rejected = CASE WHEN r.message_id = g.id THEN r.earlier_rejected ELSE r.is_rejected
          || r.earlier_rejected[:coalesce(array_position(r.earlier_ids, g.id), 19) - 1]
          || r.earlier_rejected[coalesce(array_position(r.earlier_ids, g.id), 19) + 1:19] END
      FROM unnest(p_ids, p_types, p_phones, p_partners) AS g(id, type, phone_index, partner_id)
      WHERE r.phone_index = ANY (v_known) AND r.phone_index = g.phone_index
      RETURNING r.phone_index
    )
    SELECT array_agg(a.phone_index) INTO v_known FROM again a;
  END IF;
  INSERT INTO recipients (phone_index, sent_at, sent_ms, message_id, partner_id, is_rejected)
  SELECT g.phone_index, p_at, v_elapsed_ms, g.id, g.partner_id, g.type = 'rejected'
  FROM unnest(p_ids, p_types, p_phones, p_partners) AS g(id, type, phone_index, partner_id)
  WHERE (g.phone_index = ANY (v_known)) IS NOT TRUE
  ORDER BY g.phone_index;
END
$$;

-- Deletes the rows of cancelled messages among these, so that a phone keeps few rows that before_waiting_rejection has
-- to pass. The upkeep deletes what another session has locked.
CREATE OR REPLACE FUNCTION forget_cancelled_rejections(
  p_ids bigint[], p_types message_type[], p_phones bigint[], p_partners integer[], p_statuses message_status[]
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM waiting_rejections w WHERE (w.phone_index, w.partner_id, w.message_id) IN (
    SELECT k.phone_index, k.partner_id, k.message_id FROM waiting_rejections k
    JOIN unnest(p_ids, p_types, p_phones, p_partners, p_statuses) AS g(id, type, phone_index, partner_id, status)
      ON g.phone_index = k.phone_index AND g.partner_id = k.partner_id AND g.id = k.message_id
    WHERE g.type = 'rejected' AND g.status = 'cancelled'
    ORDER BY k.phone_index, k.partner_id, k.message_id FOR UPDATE OF k SKIP LOCKED);
END
$$;

-- Deletes those of the next 5,000 waiting_rejections after p_after whose message waits no more. Returns the last one
-- that it looked at, by its key; NULLs: there are no more.
CREATE OR REPLACE FUNCTION forget_rejections(
  p_after_phone bigint, p_after_partner integer, p_after_message bigint,
  OUT phone bigint, OUT partner integer, OUT message bigint
)
LANGUAGE plpgsql
-- Looks each message up by its key, however large the tables are.
SET jit = off
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
  v_phones bigint[];
  v_partners integer[];
  v_messages bigint[];
  v_last integer;
BEGIN
  SELECT array_agg(r.phone_index), array_agg(r.partner_id), array_agg(r.message_id)
  INTO v_phones, v_partners, v_messages FROM (
    SELECT w.phone_index, w.partner_id, w.message_id FROM waiting_rejections w
    WHERE (w.phone_index, w.partner_id, w.message_id) > (p_after_phone, p_after_partner, p_after_message)
    ORDER BY w.phone_index, w.partner_id, w.message_id LIMIT 5000) AS r;
  v_last := cardinality(v_messages);
  phone := v_phones[v_last];
  partner := v_partners[v_last];
  message := v_messages[v_last];
  -- Asks what still_waits asks, for all messages at once.
  SELECT array_agg(g.phone_index), array_agg(g.partner_id), array_agg(g.message_id)
  INTO v_phones, v_partners, v_messages
  FROM unnest(v_phones, v_partners, v_messages) AS g(phone_index, partner_id, message_id)
  WHERE NOT EXISTS (SELECT FROM waiting_messages w WHERE w.status = 'queued' AND w.message_id = g.message_id)
    AND NOT EXISTS (SELECT FROM outbox o
      WHERE o.batch_id = batch_of(g.message_id) AND position_of(g.message_id)::smallint = ANY (o.positions));
  IF v_messages IS NULL THEN RETURN; END IF;
  SELECT array_agg(h.phone_index), array_agg(h.partner_id), array_agg(h.message_id)
  INTO v_phones, v_partners, v_messages FROM (
    SELECT k.phone_index, k.partner_id, k.message_id FROM waiting_rejections k
    JOIN unnest(v_phones, v_partners, v_messages) AS g(phone_index, partner_id, message_id)
      ON g.phone_index = k.phone_index AND g.partner_id = k.partner_id AND g.message_id = k.message_id
    ORDER BY k.phone_index, k.partner_id, k.message_id FOR UPDATE OF k SKIP LOCKED) AS h;
  -- Asks again under the lock: a message may have come to wait again before it (note_waiting_rejections). It asks
  -- before the DELETE, in which Citus calls no function for a row.
  SELECT array_agg(g.phone_index), array_agg(g.partner_id), array_agg(g.message_id)
  INTO v_phones, v_partners, v_messages
  FROM unnest(v_phones, v_partners, v_messages) AS g(phone_index, partner_id, message_id)
  WHERE NOT still_waits(g.message_id);
  DELETE FROM waiting_rejections w
  USING unnest(v_phones, v_partners, v_messages) AS g(phone_index, partner_id, message_id)
  WHERE w.phone_index = g.phone_index AND w.partner_id = g.partner_id AND w.message_id = g.message_id;
END
$$;
