-- Reviews of applications, and the interest of applicants.

-- The applications in review of at most p_limit batches after p_after that are not expanded yet, lowest batch first.
-- Locks the batches until the end of the transaction; those that another session has locked are left out.
CREATE OR REPLACE FUNCTION take_unexpanded(p_after bigint, p_limit integer) RETURNS SETOF bigint
LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
  SELECT application_id_at(t.batch_id, p.position) FROM (
    SELECT q.batch_id, q.positions FROM review_queue q WHERE NOT q.is_expanded AND q.batch_id > p_after
    ORDER BY q.batch_id LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED) AS t, unnest(t.positions) AS p(position);
END
$$;

-- Takes those of these batches that are not expanded, where others have them after they are done with them, and returns
-- their applications in review.
CREATE OR REPLACE FUNCTION take_unexpanded_of(p_batch_ids bigint[]) RETURNS SETOF bigint
LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
  SELECT application_id_at(t.batch_id, p.position) FROM (
    SELECT q.batch_id, q.positions FROM review_queue q WHERE NOT q.is_expanded AND q.batch_id = ANY (p_batch_ids)
    ORDER BY q.batch_id FOR NO KEY UPDATE) AS t, unnest(t.positions) AS p(position);
END
$$;

-- Says whether these batches are expanded.
CREATE OR REPLACE FUNCTION put_expanded(p_batch_ids bigint[], p_is_expanded boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE review_queue q SET is_expanded = p_is_expanded WHERE q.batch_id IN (
    SELECT r.batch_id FROM review_queue r WHERE r.batch_id = ANY (p_batch_ids) AND r.is_expanded <> p_is_expanded
    ORDER BY r.batch_id FOR NO KEY UPDATE);
END
$$;

-- What else is done when an application leaves the review, in the same transaction. Nothing by itself:
-- desk/queue.sql replaces the function.
CREATE OR REPLACE FUNCTION leave_review_queue(p_id bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
END
$$;

-- Moves an application and writes its history if its status is one of p_from (D34). A final one frees its phone, and
-- one in review leaves the queue (D35). An approval and a rejection queue a message (D40), but not to a wrong person
-- (D43), and every move is an event (D41). Returns the status before (NULL: it cannot be read) and whether the
-- application moved; no row if there is no such application. Re-reads the status after taking the lock, so that of two
-- reviews at once the second sees the first.
--
-- An application with a conversation is paid out only when its contract is signed and the time to withdraw is over, or
-- where two operators override that (p_override; D46). Otherwise it does not move, and held_by_contract is true;
-- withdrawable_until is NULL where nothing is signed. p_second: the second operator, for the history.
CREATE OR REPLACE FUNCTION move_application(
  p_id bigint, p_from application_status[], p_to application_status, p_actor text, p_action text, p_reason text,
  p_reason_code text, p_second text, p_override boolean
) RETURNS TABLE (
  status application_status, moved boolean, held_by_contract boolean, withdrawable_until timestamptz
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_status application_status;
  v_phone bigint;
  v_partner_id integer;
  -- The key of the application, if the applicant has consented and has a phone.
  v_key_id integer;
  v_left smallint[];
  v_conversation_at timestamptz;
  v_signed_at timestamptz;
  v_until timestamptz;
  v_is_wrong_person boolean;
  v_event_id bigint;
BEGIN
  SELECT a.status, a.phone_index, a.partner_id,
    CASE WHEN a.messaging_optin AND a.phone_index IS NOT NULL THEN a.api_key_id END
  INTO v_status, v_phone, v_partner_id, v_key_id FROM applications_of(ARRAY[p_id]) AS a;
  IF NOT FOUND THEN RETURN; END IF;
  IF v_status <> ALL (p_from) OR v_status IS NULL THEN
    RETURN QUERY SELECT v_status, false, false, v_until; RETURN;
  END IF;
  INSERT INTO application_states AS s (batch_id, application_id, status) VALUES (batch_of(p_id), p_id, v_status)
  ON CONFLICT (batch_id, application_id) DO UPDATE SET status = s.status
  RETURNING s.status, s.conversation_at, s.signed_at, s.withdrawable_until, s.wrong_person
  INTO v_status, v_conversation_at, v_signed_at, v_until, v_is_wrong_person;
  IF v_status <> ALL (p_from) THEN RETURN QUERY SELECT v_status, false, false, v_until; RETURN; END IF;
  IF p_to = 'disbursed' AND NOT p_override AND v_conversation_at IS NOT NULL
    AND (v_signed_at IS NULL OR v_until > clock_timestamp())
  THEN
    RETURN QUERY SELECT v_status, false, true, v_until; RETURN;
  END IF;

  UPDATE application_states s SET status = p_to WHERE s.batch_id = batch_of(p_id) AND s.application_id = p_id;
  v_event_id := (SELECT nextval('application_events_id_seq'::text) FROM elapsed);
  INSERT INTO application_events
    (id, application_id, at, actor, action, from_status, to_status, reason, reason_code, second_actor)
  VALUES (v_event_id, p_id, clock_timestamp(), p_actor, p_action, v_status, p_to, p_reason, p_reason_code, p_second);
  IF v_status = 'in_review' THEN
    UPDATE review_queue q SET positions = array_remove(q.positions, position_of(p_id)::smallint)
    WHERE q.batch_id = batch_of(p_id)
    RETURNING q.positions INTO v_left;
    IF v_left = '{}' THEN DELETE FROM review_queue q WHERE q.batch_id = batch_of(p_id); END IF;
    PERFORM leave_review_queue(p_id);
  END IF;
  IF NOT is_open(p_to) AND v_phone IS NOT NULL THEN
    DELETE FROM open_phones o WHERE o.phone_index = v_phone AND o.application_id = p_id;
  END IF;
  -- A withdrawal is no decision of an operator: the applicant reads of it in the conversation.
  IF p_to <> 'disbursed' AND p_reason_code <> 'contract_withdrawn' AND v_key_id IS NOT NULL AND NOT v_is_wrong_person THEN
    PERFORM queue_message_after_review(p_id, p_to, v_key_id);
  END IF;
  PERFORM add_partner_events('application.status_changed', ARRAY[v_partner_id], ARRAY[p_id], v_status, p_to,
    p_reason_code, NULL);
  RETURN QUERY SELECT v_status, true, false, v_until;
END
$$;

-- Locks an application against every review and signature until the end of the transaction, and returns what a decision
-- about it stands on: its status (NULL: it cannot be read), its signature, and the number of its last event (0: nothing
-- has happened since the registration; D48). No row if there is no such application.
CREATE OR REPLACE FUNCTION hold_application(p_id bigint)
RETURNS TABLE (status application_status, signed_at timestamptz, last_event bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  SELECT a.status INTO status FROM applications_of(ARRAY[p_id]) AS a;
  IF NOT FOUND THEN RETURN; END IF;
  IF status IS NOT NULL THEN
    INSERT INTO application_states AS s (batch_id, application_id, status) VALUES (batch_of(p_id), p_id, hold_application.status)
    ON CONFLICT (batch_id, application_id) DO UPDATE SET status = s.status
    RETURNING s.status, s.signed_at INTO status, signed_at;
  END IF;
  last_event := coalesce((SELECT max(e.id) FROM application_events e WHERE e.application_id = p_id), 0);
  RETURN NEXT;
END
$$;

-- Notes that conversations of these applications begin, for those that are open (D43, D46). Returns the open ones that
-- have a conversation now: it may be called again. Of a call and a review at once, the later one sees the earlier one.
CREATE OR REPLACE FUNCTION mark_conversations(p_ids bigint[]) RETURNS SETOF bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_ids bigint[];
  v_statuses application_status[];
BEGIN
  -- Reads before anything is written: docs/scale.md says why.
  SELECT array_agg(a.id), array_agg(a.status) INTO v_ids, v_statuses
  FROM applications_of(p_ids) AS a WHERE is_open(a.status);
  IF v_ids IS NULL THEN RETURN; END IF;
  INSERT INTO application_states AS s (batch_id, application_id, status, conversation_at)
  SELECT batch_of(u.id), u.id, u.status, clock_timestamp() FROM unnest(v_ids, v_statuses) AS u(id, status) ORDER BY u.id
  ON CONFLICT (batch_id, application_id)
  DO UPDATE SET conversation_at = excluded.conversation_at WHERE s.conversation_at IS NULL AND is_open(s.status);
  RETURN QUERY SELECT s.application_id FROM application_states s
  WHERE s.batch_id = ANY (ARRAY(SELECT batch_of(u.id) FROM unnest(v_ids) AS u(id))) AND s.application_id = ANY (v_ids)
    AND s.conversation_at IS NOT NULL AND is_open(s.status)
  ORDER BY s.application_id;
END
$$;

-- Notes whether the phone of these applications is somebody else's (D43).
CREATE OR REPLACE FUNCTION note_wrong_person(p_ids bigint[], p_is_wrong boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_ids bigint[];
  v_statuses application_status[];
BEGIN
  -- Reads before anything is written: docs/scale.md says why.
  SELECT array_agg(a.id), array_agg(a.status) INTO v_ids, v_statuses
  FROM applications_of(p_ids) AS a WHERE a.status IS NOT NULL;
  INSERT INTO application_states AS s (batch_id, application_id, status, wrong_person)
  SELECT batch_of(u.id), u.id, u.status, p_is_wrong FROM unnest(v_ids, v_statuses) AS u(id, status) ORDER BY u.id
  ON CONFLICT (batch_id, application_id) DO UPDATE SET wrong_person = excluded.wrong_person;
END
$$;

-- Records the first interest of applications, writes their history and tells their partners. A tap counts if it comes
-- from the phone of the application or names one of its messages. p_messaged_ids and p_channel_ids: for each message
-- the application and the channel's id. Returns for how many applications the interest is new: of two calls at once the
-- second one waits for the first, and then finds the time set.
CREATE OR REPLACE FUNCTION record_interest(
  p_ids bigint[], p_phones bigint[], p_contexts bigint[], p_ats timestamptz[], p_reason text, p_messaged_ids bigint[],
  p_channel_ids bigint[]
) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_ids bigint[];
  v_partner_ids integer[];
  v_statuses application_status[];
  v_ats timestamptz[];
  v_noted bigint[];
  v_event_ids bigint[];
BEGIN
  -- Reads before anything is written: docs/scale.md says why.
  SELECT array_agg(f.id), array_agg(f.partner_id), array_agg(f.status), array_agg(f.at)
  INTO v_ids, v_partner_ids, v_statuses, v_ats FROM (
    SELECT DISTINCT ON (a.id) a.id, a.partner_id, a.status, least(t.at, now()) AS at
    FROM unnest(p_ids, p_phones, p_contexts, p_ats) AS t(id, phone_index, context_id, at)
    JOIN unnest(p_messaged_ids, p_channel_ids) AS m(id, channel_id) ON m.id = t.id
    JOIN applications_of(p_messaged_ids) AS a ON a.id = t.id
    WHERE a.interested_at IS NULL AND (a.phone_index = t.phone_index OR m.channel_id = t.context_id)
    ORDER BY a.id, t.at
  ) AS f;
  IF v_ids IS NULL THEN RETURN 0; END IF;

  WITH noted AS (
    INSERT INTO application_states AS s (batch_id, application_id, status, interested_at)
    SELECT batch_of(u.id), u.id, u.status, u.at FROM unnest(v_ids, v_statuses, v_ats) AS u(id, status, at) ORDER BY u.id
    ON CONFLICT (batch_id, application_id)
    DO UPDATE SET interested_at = excluded.interested_at WHERE s.interested_at IS NULL
    RETURNING s.application_id
  )
  SELECT array_agg(n.application_id) INTO v_noted FROM noted n;
  IF v_noted IS NULL THEN RETURN 0; END IF;

  v_event_ids := ARRAY(
    SELECT nextval('application_events_id_seq'::text) FROM elapsed, generate_series(1, cardinality(v_noted)));
  INSERT INTO application_events (id, application_id, at, actor, action, from_status, to_status, reason)
  SELECT n.event_id, u.id, u.at, 'applicant', 'interested', u.status, u.status, p_reason
  FROM unnest(v_ids, v_statuses, v_ats) AS u(id, status, at)
  JOIN unnest(v_noted, v_event_ids) AS n(id, event_id) ON n.id = u.id ORDER BY u.id;
  PERFORM add_partner_events('application.interested', array_agg(u.partner_id ORDER BY u.id),
    array_agg(u.id ORDER BY u.id), NULL, NULL, NULL, NULL)
  FROM unnest(v_ids, v_partner_ids) AS u(id, partner_id) WHERE u.id = ANY (v_noted);
  RETURN cardinality(v_noted);
END
$$;
