-- Partner events: what changed on a partner's applications after their registration (D41). The head of
-- migrations/0005_events.sql gives the order of locks.

-- Whether a type is of the events of conversations, which are told only to partners that ask for them (D47).
CREATE OR REPLACE FUNCTION is_of_conversation(p_type partner_event_type) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_type IN ('conversation.started', 'documents.received', 'income.verified', 'contract.signed',
  'contract.withdrawn', 'conversation.ended');

-- What else is done with new events of a partner, whose numbers begin after p_after, in their transaction. Nothing by
-- itself: push/pushes.sql replaces the function.
CREATE OR REPLACE FUNCTION after_partner_events(
  p_partner_id integer, p_after bigint, p_application_ids bigint[], p_types partner_event_type[], p_at timestamptz,
  p_elapsed_ms bigint
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
END
$$;

-- Writes events, in the order of the arrays, in the caller's transaction. p_message_types, p_outcomes: one an event,
-- NULL where its type has none; NULL as a whole where no type has one.
CREATE OR REPLACE FUNCTION write_partner_events(
  p_types partner_event_type[], p_partner_ids integer[], p_application_ids bigint[], p_from application_status,
  p_to application_status, p_reason_code text, p_message_types message_type[], p_outcomes text[]
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_elapsed_ms constant bigint := elapsed_ms();
  v_at timestamptz;
  v_last bigint;
  v_partner record;
BEGIN
  FOR v_partner IN
    SELECT u.partner_id, count(*) AS events, array_agg(u.type ORDER BY u.n) AS types,
      array_agg(u.application_id ORDER BY u.n) AS ids, array_agg(u.message_type ORDER BY u.n) AS message_types,
      array_agg(u.outcome ORDER BY u.n) AS outcomes
    FROM unnest(p_types, p_partner_ids, p_application_ids, p_message_types, p_outcomes)
      WITH ORDINALITY AS u(type, partner_id, application_id, message_type, outcome, n)
    GROUP BY u.partner_id ORDER BY u.partner_id
  LOOP
    INSERT INTO partner_event_totals AS t (partner_id, last) VALUES (v_partner.partner_id, v_partner.events)
    ON CONFLICT (partner_id) DO UPDATE SET last = t.last + excluded.last
    RETURNING t.last INTO v_last;
    -- The time is read after the wait for the lock.
    v_at := clock_timestamp();
    INSERT INTO partner_events (partner_id, number, at, stored_ms, application_id, type, from_status, to_status,
      reason_code, message_type, outcome)
    SELECT v_partner.partner_id, v_last - v_partner.events + u.n, v_at, v_elapsed_ms, u.id, u.type, p_from, p_to,
      p_reason_code, u.message_type, u.outcome
    FROM unnest(v_partner.types, v_partner.ids, v_partner.message_types, v_partner.outcomes)
      WITH ORDINALITY AS u(type, id, message_type, outcome, n);
    PERFORM after_partner_events(v_partner.partner_id, v_last - v_partner.events, v_partner.ids, v_partner.types, v_at,
      v_elapsed_ms);
  END LOOP;
END
$$;

-- Writes an event of one type for each application. p_message_types: one an application for message.failed, else NULL.
CREATE OR REPLACE FUNCTION add_partner_events(
  p_type partner_event_type, p_partner_ids integer[], p_application_ids bigint[], p_from application_status,
  p_to application_status, p_reason_code text, p_message_types message_type[]
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM write_partner_events(array_fill(p_type, ARRAY[coalesce(cardinality(p_partner_ids), 0)]), p_partner_ids,
    p_application_ids, p_from, p_to, p_reason_code, p_message_types, NULL);
END
$$;

-- How long an event is kept (D41).
CREATE OR REPLACE FUNCTION partner_event_life() RETURNS interval LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN interval '30 days';

-- Deletes the oldest events of a partner, at most p_most of them, if they are 30 days old by the clock and by the
-- elapsed time (D39); an event from a clock that was ahead counts by the elapsed time alone. Stops at the first event
-- that is not old, so that the numbers after `forgotten` have no gap. Returns how many events were deleted.
CREATE OR REPLACE FUNCTION forget_partner_events(p_partner_id integer, p_most integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := now();
  v_least_ms constant bigint := elapsed_ms() - ms_of(partner_event_life());
  v_forgotten bigint;
  v_until bigint;
BEGIN
  SELECT t.forgotten INTO v_forgotten FROM partner_event_totals t WHERE t.partner_id = p_partner_id
  FOR NO KEY UPDATE;
  SELECT coalesce(min(f.number) FILTER (WHERE NOT f.old) - 1, max(f.number)) INTO v_until FROM (
    SELECT e.number, e.stored_ms <= v_least_ms AND (e.at < v_now - partner_event_life() OR e.at > v_now) AS old
    FROM partner_events e WHERE e.partner_id = p_partner_id AND e.number > v_forgotten ORDER BY e.number LIMIT p_most
  ) AS f;
  IF v_until IS NULL OR v_until = v_forgotten THEN RETURN 0; END IF;
  DELETE FROM partner_events e WHERE e.partner_id = p_partner_id AND e.number <= v_until;
  UPDATE partner_event_totals t SET forgotten = v_until WHERE t.partner_id = p_partner_id;
  RETURN v_until - v_forgotten;
END
$$;
