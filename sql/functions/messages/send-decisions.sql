-- The moment of sending: whether each claimed message goes out, waits or is cancelled. begin_sending (sending.sql)
-- calls these functions in their order, and writes what they decide.

-- Whether a phone whose last message went out at p_sent_at (NULL: none) counts anew among the phones of the day.
CREATE OR REPLACE FUNCTION is_fresh(p_sent_at timestamptz, p_at timestamptz) RETURNS boolean LANGUAGE sql STABLE
RETURN p_sent_at IS NULL OR p_sent_at <= p_at - recipient_window();

-- Takes the messages out of the outbox, and reads what is known of them. A message that was put off or sent before has
-- a record. Leaves out what does not wait any more.
CREATE OR REPLACE FUNCTION take_claimed(p_ids bigint[], p_templates text[], p_partners integer[]) RETURNS claimed_messages
LANGUAGE plpgsql AS $$
DECLARE
  v_new_ids bigint[];
  v_new_types message_type[];
  v_old_ids bigint[];
  v_old_types message_type[];
  v_old_attempts smallint[];
  v_phone_ids bigint[];
  v_phones bigint[];
  v_taken claimed_messages;
BEGIN
  SELECT array_agg(t.id), array_agg(t.type) INTO v_new_ids, v_new_types FROM take_from_outbox(p_ids) AS t;
  IF coalesce(cardinality(v_new_ids), 0) < cardinality(p_ids) THEN
    EXECUTE $sql$
      SELECT array_agg(m.message_id), array_agg(m.type), array_agg(m.attempts)
      FROM message_records m WHERE m.message_id = ANY ($1) AND m.status = 'queued' $sql$
    INTO v_old_ids, v_old_types, v_old_attempts USING p_ids;
  END IF;
  SELECT array_agg(a.id), array_agg(a.phone_index) INTO v_phone_ids, v_phones FROM phones_of(p_ids) AS a;
  SELECT array_agg(g.id ORDER BY g.n), array_agg(t.type ORDER BY g.n), array_agg(t.attempts ORDER BY g.n),
    array_agg(a.phone_index ORDER BY g.n), array_agg(g.partner_id ORDER BY g.n), array_agg(g.template ORDER BY g.n)
  INTO v_taken
  FROM unnest(p_ids, p_templates, p_partners) WITH ORDINALITY AS g(id, template, partner_id, n)
  JOIN unnest(v_phone_ids, v_phones) AS a(id, phone_index) ON a.id = g.id
  JOIN unnest(v_old_ids || v_new_ids, v_old_types || v_new_types, v_old_attempts) AS t(id, type, attempts) ON t.id = g.id;
  RETURN v_taken;
END
$$;

-- The messages that do not fit the status of their application any more (D40). closed: their application is closed.
-- replaced: their application has another open status, or is signed (D46): the chat has told the applicant by then. An
-- open chat tells of an approval too (told_in_chat).
-- application_ids, statuses: the applications of another status, with the status of each one now, but for reminders, in
-- whose place nothing comes. NULLs: all messages fit. A reminder fits every open status. of_wrong_person: the phone of
-- their application is somebody else's (D43), so nothing comes in their place.
CREATE OR REPLACE FUNCTION unfitting_messages(
  m claimed_messages, OUT closed bigint[], OUT replaced bigint[], OUT application_ids bigint[],
  OUT statuses application_status[], OUT of_wrong_person bigint[]
)
LANGUAGE plpgsql AS $$
DECLARE
  v_applications constant bigint[] := ARRAY(SELECT application_of_message(g.id) FROM unnest(m.ids) AS g(id));
  v_batches constant bigint[] := ARRAY(SELECT DISTINCT batch_of(a.id) FROM unnest(v_applications) AS a(id));
  v_changed_ids bigint[];
  v_changed_to application_status[];
  v_are_signed boolean[];
  v_are_wrong boolean[];
  v_have_chats bigint[];
  v_told bigint[];
BEGIN
  SELECT array_agg(s.application_id), array_agg(s.status), array_agg(s.signed_at IS NOT NULL), array_agg(s.wrong_person),
    array_agg(s.application_id) FILTER (WHERE s.conversation_at IS NOT NULL)
  INTO v_changed_ids, v_changed_to, v_are_signed, v_are_wrong, v_have_chats FROM application_states s
  WHERE s.batch_id = ANY (v_batches) AND s.application_id = ANY (v_applications);
  IF v_changed_ids IS NULL THEN RETURN; END IF;
  IF v_have_chats IS NOT NULL AND 'approved' = ANY (m.types) THEN v_told := told_in_chat(v_have_chats); END IF;
  SELECT array_agg(u.id) FILTER (WHERE NOT is_open(u.status)),
    array_agg(u.id) FILTER (WHERE is_open(u.status)),
    array_agg(application_of_message(u.id)) FILTER (WHERE u.has_successor AND NOT u.is_wrong),
    array_agg(u.status) FILTER (WHERE u.has_successor AND NOT u.is_wrong),
    array_agg(u.id) FILTER (WHERE u.is_wrong)
  INTO closed, replaced, application_ids, statuses, of_wrong_person FROM (
    SELECT g.id, c.status, c.is_signed OR g.type = 'approved' AND c.id = ANY (v_told) AS is_told, c.is_wrong,
      g.type = 'reminder' AND NOT is_open(c.status) AS is_late,
      g.type <> 'reminder' AND g.type IS DISTINCT FROM message_type_for(c.status) AS has_successor
    FROM unnest(m.ids, m.types) AS g(id, type)
    JOIN unnest(v_changed_ids, v_changed_to, v_are_signed, v_are_wrong) AS c(id, status, is_signed, is_wrong)
      ON c.id = application_of_message(g.id)) AS u
  WHERE u.is_late OR u.has_successor OR u.is_wrong OR u.is_told AND is_open(u.status);
END
$$;

-- The sender with its counts, which are counted again where the last count does not tell whether p_coming more messages
-- keep the limit p_recipients: the recipients of the last 24 hours, and the partners that have used up their share.
CREATE OR REPLACE FUNCTION with_recipients_counted(s sender, p_coming integer, p_recipients integer, p_at timestamptz)
RETURNS sender
LANGUAGE plpgsql AS $$
DECLARE
  v_fresh bigint;
BEGIN
  -- To count a million takes 0.1 s. The number is never more than the last count and the recipients since, unless
  -- the clock has stepped back to before the count.
  IF s.recent_phones IS NULL OR s.counted_at > p_at
    OR s.recent_phones + p_coming > p_recipients AND s.counted_at < p_at - interval '10 seconds'
  THEN
    SELECT count(*), least(min(r.sent_at), p_at) + recipient_window(), p_at
    INTO s.recent_phones, s.room_at, s.counted_at
    FROM recipients r WHERE r.sent_at > p_at - recipient_window();
  END IF;
  v_fresh := p_recipients - s.recent_phones;
  IF v_fresh > 0 AND v_fresh - p_recipients / 10 < p_coming AND (s.sated_at IS NULL OR s.sated_at > p_at
    OR s.sated_at < p_at - interval '10 seconds'
    OR s.recent_phones - s.sated_phones NOT BETWEEN 0 AND p_recipients / 100)
  THEN
    s.sated_partners := sated_partners(p_recipients, p_at);
    s.sated_at := p_at;
    s.sated_phones := s.recent_phones;
  END IF;
  RETURN s;
END
$$;

-- When each phone got its last message, and by when that message was certainly at the channel: when its answer came, or
-- else the last moment at which the answer can come. NULLs: the phone got none in the last day.
CREATE OR REPLACE FUNCTION last_sends(
  p_phones bigint[], p_answer_within interval, OUT sent_at timestamptz[], OUT sent_by timestamptz[]
)
LANGUAGE plpgsql AS $$
DECLARE
  v_phones bigint[];
  v_at timestamptz[];
  v_by timestamptz[];
  v_messages bigint[];
BEGIN
  SELECT array_agg(r.phone_index), array_agg(r.sent_at), array_agg(least(r.sent_at + p_answer_within, r.answered_at)),
    array_agg(r.message_id)
  INTO v_phones, v_at, v_by, v_messages
  FROM recipients r WHERE r.phone_index = ANY (p_phones);
  IF v_phones IS NULL THEN RETURN; END IF;
  -- The answer came when the record changed.
  EXECUTE $sql$
    SELECT array_agg(least(k.sent_by, l.changed_at) ORDER BY k.n)
    FROM unnest($1, $2) WITH ORDINALITY AS k(sent_by, last, n)
    LEFT JOIN message_records l
      ON l.message_id = k.last AND l.message_id = ANY ($2) AND l.status NOT IN ('queued', 'sending') $sql$
  INTO v_by USING v_by, v_messages;
  SELECT array_agg(k.at ORDER BY g.n), array_agg(k.by ORDER BY g.n) INTO sent_at, sent_by
  FROM unnest(p_phones) WITH ORDINALITY AS g(phone_index, n)
  LEFT JOIN unnest(v_phones, v_at, v_by) AS k(phone_index, at, by) ON k.phone_index = g.phone_index;
END
$$;

-- The messages that are over the limits of their phones (messages_over_limit). Most phones got nothing in the last day
-- and occur once, and most messages are not `rejected`: then the function reads no table.
CREATE OR REPLACE FUNCTION over_limit(
  m claimed_messages, p_is_known boolean, p_at timestamptz, p_messages integer, p_rejected integer,
  p_day_ids bigint[], p_day_starts timestamptz[], p_a_day integer[]
) RETURNS bigint[]
LANGUAGE plpgsql AS $$
BEGIN
  IF p_is_known OR 'rejected' = ANY (m.types)
    OR cardinality(m.phones) > (SELECT count(DISTINCT p.phone_index) FROM unnest(m.phones) AS p(phone_index))
  THEN
    RETURN messages_over_limit(m.ids, m.types, m.phones, m.partners, p_at, p_messages, p_rejected, p_day_ids,
      p_day_starts, p_a_day);
  END IF;
  RETURN NULL;
END
$$;

-- What keeps messages back, whatever room the sender has. reasons: an element each; NULL: nothing does. free_at: from
-- when on the phone of each message is free. p_sent_by: as last_sends gives it.
CREATE OR REPLACE FUNCTION obstacles_to(
  m claimed_messages, p_of_wrong_person bigint[], p_closed bigint[], p_replaced bigint[], p_over bigint[],
  p_is_paused boolean, p_sent_by timestamptz[], p_pair interval, p_at timestamptz, OUT reasons text[], OUT free_at timestamptz[]
)
LANGUAGE plpgsql AS $$
BEGIN
  SELECT array_agg(
    CASE
      WHEN g.id = ANY (p_of_wrong_person) THEN 'wrong_person'
      WHEN g.id = ANY (p_closed) THEN 'application_closed'
      WHEN g.id = ANY (p_replaced) THEN 'replaced'
      -- The test uses no EXISTS, which the planner may turn into a hash of the whole table.
      WHEN (SELECT s.active FROM suppressions s WHERE s.phone_index = g.phone_index) THEN 'suppressed'
      WHEN (SELECT true FROM excluded_numbers x WHERE x.phone_index = g.phone_index LIMIT 1) THEN 'suppressed'
      WHEN p_is_paused THEN 'sender_paused'
      WHEN EXISTS (SELECT FROM paused_templates t WHERE t.name = g.template) THEN 'template_paused'
      WHEN g.id = ANY (p_over) THEN 'recipient_limit'
      WHEN g.nth > 1 OR g.sent_by > p_at - p_pair THEN 'pair_limit'
    END ORDER BY g.n),
    -- A phone without an answer is looked at again soon: the answer may come long before the last moment.
    array_agg(greatest(least(g.sent_by, p_at) + p_pair, p_at + CASE WHEN g.nth > 1 THEN p_pair * (g.nth - 1) END)
      ORDER BY g.n)
  INTO reasons, free_at
  FROM (
    SELECT u.*,
      count(*) FILTER (WHERE (u.id = ANY (p_over)) IS NOT TRUE) OVER (PARTITION BY u.phone_index ORDER BY u.n) AS nth
    FROM unnest(m.ids, m.phones, m.templates, p_sent_by)
      WITH ORDINALITY AS u(id, phone_index, template, sent_by, n)) AS g;
END
$$;

-- Decides on each message: an obstacle holds it, or the phones of the day (p_recipients, NULL: any number), or the
-- sender's room. p_sent_at: as last_sends gives it.
CREATE OR REPLACE FUNCTION decisions_on(
  p_partners integer[], p_obstacles text[], p_free_at timestamptz[], p_sent_at timestamptz[], s sender,
  p_recipients integer, p_rate double precision, p_at timestamptz
) RETURNS send_decisions
LANGUAGE plpgsql AS $$
DECLARE
  v_room constant double precision := sender_room(s, p_rate, p_at);
  v_fresh constant bigint := greatest(p_recipients - s.recent_phones, CASE WHEN p_recipients IS NOT NULL THEN 0 END);
  -- The last tenth is for partners that have not used up their share.
  v_fresh_of_sated constant bigint := greatest(v_fresh - p_recipients / 10, CASE WHEN p_recipients IS NOT NULL THEN 0 END);
  v_decisions send_decisions;
BEGIN
  SELECT array_agg(j.reason ORDER BY j.n),
    array_agg(CASE
      WHEN j.reason IS NULL THEN 'sending'::message_status
      WHEN j.reason IN ('wrong_person', 'application_closed', 'replaced', 'suppressed', 'recipient_limit') THEN 'cancelled'
      ELSE 'queued' END ORDER BY j.n),
    array_agg(CASE j.reason
      WHEN 'pair_limit' THEN j.free_at
      WHEN 'rate' THEN p_at + coalesce((j.nth - v_room) / p_rate, 1) * interval '1 second'
      WHEN 'daily_recipients' THEN greatest(s.room_at, p_at + interval '10 minutes')
      WHEN 'sender_paused' THEN p_at + interval '1 minute'
      -- A resume of the template makes them due.
      WHEN 'template_paused' THEN p_at + interval '1 hour' END ORDER BY j.n)
  INTO v_decisions FROM (
    SELECT r.n, r.free_at, r.nth, CASE
      WHEN r.obstacle IS NOT NULL THEN r.obstacle
      WHEN r.fresh AND r.nth_fresh > CASE WHEN r.partner_id = ANY (s.sated_partners) THEN v_fresh_of_sated
        ELSE v_fresh END THEN 'daily_recipients'
      WHEN r.nth > v_room THEN 'rate' END AS reason
    FROM (
      SELECT c.*, count(*) FILTER (WHERE c.obstacle IS NULL) OVER (ORDER BY c.n) AS nth,
        count(*) FILTER (WHERE c.obstacle IS NULL AND c.fresh) OVER (ORDER BY c.n) AS nth_fresh
      FROM (
        SELECT u.*, is_fresh(u.sent_at, p_at) AS fresh
        FROM unnest(p_partners, p_obstacles, p_free_at, p_sent_at)
          WITH ORDINALITY AS u(partner_id, obstacle, free_at, sent_at, n)) AS c) AS r) AS j;
  RETURN v_decisions;
END
$$;
