-- Partner events: what changed on a partner's applications after their registration (D41).
--
-- The events of a partner are numbered 1, 2, 3 and so on, in the order in which their transactions commit: the row of
-- the partner in partner_event_totals stays locked from the number to the commit. So a reader never sees a number
-- before a smaller one, and there are no gaps. This lock is the last one that a transaction takes, and a transaction
-- with events of several partners takes the locks in the order of the partners (the head of 0005_delivery.sql has the
-- order of the other locks).

CREATE TYPE partner_event_type AS ENUM ('application.status_changed', 'application.interested', 'message.failed');

CREATE TABLE partner_event_totals (
  partner_id integer PRIMARY KEY,
  -- The number of the newest event.
  last bigint NOT NULL,
  -- Events up to this number were deleted for their age.
  forgotten bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- The fields from from_status on are NULL where the type of the event has no such field. No personal data: the ID number
-- of the applicant is read from the envelope when the event is told. Bound: the upkeep deletes old events.
CREATE TABLE partner_events (
  partner_id integer NOT NULL,
  number bigint NOT NULL,
  at timestamptz NOT NULL,
  -- elapsed_ms() at that time.
  stored_ms bigint NOT NULL,
  application_id bigint NOT NULL,
  type partner_event_type NOT NULL,
  from_status application_status,
  to_status application_status,
  reason_code text,
  message_type message_type,
  PRIMARY KEY (partner_id, number)
);

-- Writes an event for each application, in the order of the arrays, in the caller's transaction, and queues its push
-- where the partner has an endpoint. p_message_types: one an application for message.failed, else NULL.
CREATE FUNCTION add_partner_events(
  p_type partner_event_type, p_partner_ids integer[], p_application_ids bigint[], p_from application_status,
  p_to application_status, p_reason_code text, p_message_types message_type[]
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_elapsed_ms constant bigint := elapsed_ms();
  v_at timestamptz;
  v_last bigint;
  v_partner record;
BEGIN
  FOR v_partner IN
    SELECT u.partner_id, count(*) AS events, array_agg(u.application_id ORDER BY u.n) AS ids,
      array_agg(u.message_type ORDER BY u.n) AS message_types
    FROM unnest(p_partner_ids, p_application_ids, p_message_types)
      WITH ORDINALITY AS u(partner_id, application_id, message_type, n)
    GROUP BY u.partner_id ORDER BY u.partner_id
  LOOP
    INSERT INTO partner_event_totals AS t (partner_id, last) VALUES (v_partner.partner_id, v_partner.events)
    ON CONFLICT (partner_id) DO UPDATE SET last = t.last + excluded.last
    RETURNING t.last INTO v_last;
    -- After the wait for the lock.
    v_at := clock_timestamp();
    INSERT INTO partner_events (partner_id, number, at, stored_ms, application_id, type, from_status, to_status,
      reason_code, message_type)
    SELECT v_partner.partner_id, v_last - v_partner.events + u.n, v_at, v_elapsed_ms, u.id, p_type, p_from, p_to,
      p_reason_code, u.message_type
    FROM unnest(v_partner.ids, v_partner.message_types) WITH ORDINALITY AS u(id, message_type, n);
    PERFORM queue_pushes(v_partner.partner_id, v_last - v_partner.events, v_partner.ids, v_at, v_elapsed_ms);
  END LOOP;
END
$$;

-- Tells the partners that messages failed (D41), with one event for each. The last statement of its transaction, by the
-- order of locks.
CREATE FUNCTION tell_failed_messages(p_ids bigint[], p_types message_type[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  -- With these values the planner finds the partitions to read, also on another machine.
  v_batches constant bigint[] := nullif(ARRAY(
    SELECT DISTINCT batch_of_message(g.id) FROM unnest(p_ids) AS g(id)), '{}');
  v_partner_ids integer[];
  v_application_ids bigint[];
  v_types message_type[];
BEGIN
  SELECT array_agg(b.partner_id ORDER BY g.n), array_agg(application_of_message(g.id) ORDER BY g.n),
    array_agg(g.type ORDER BY g.n)
  INTO v_partner_ids, v_application_ids, v_types
  FROM unnest(p_ids, p_types) WITH ORDINALITY AS g(id, type, n)
  JOIN (SELECT t.id, t.partner_id FROM batches t WHERE t.id = ANY (v_batches)) AS b
    ON b.id = batch_of_message(g.id);
  IF v_partner_ids IS NOT NULL THEN
    PERFORM add_partner_events('message.failed', v_partner_ids, v_application_ids, NULL, NULL, NULL, v_types);
  END IF;
END
$$;

-- Records the first interest of applications, writes their history and tells their partners. A tap counts if it comes
-- from the phone of the application or names one of its messages. p_messaged_ids and p_channel_ids: for each message the
-- application and the channel's id. Returns for how many applications the interest is new: of two calls at once the
-- second one waits for the first, and then finds the time set.
CREATE FUNCTION record_interest(
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
BEGIN
  -- Before anything is written (docs/scale.md).
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

  INSERT INTO application_events (application_id, at, actor, action, from_status, to_status, reason)
  SELECT u.id, u.at, 'applicant', 'interested', u.status, u.status, p_reason
  FROM unnest(v_ids, v_statuses, v_ats) AS u(id, status, at) WHERE u.id = ANY (v_noted) ORDER BY u.id;
  PERFORM add_partner_events('application.interested', array_agg(u.partner_id ORDER BY u.id),
    array_agg(u.id ORDER BY u.id), NULL, NULL, NULL, NULL)
  FROM unnest(v_ids, v_partner_ids) AS u(id, partner_id) WHERE u.id = ANY (v_noted);
  RETURN cardinality(v_noted);
END
$$;

-- Deletes the oldest events of a partner, at most p_most of them, if they are 30 days old by the clock and by the
-- elapsed time (D39); an event from a clock that was ahead counts by the elapsed time alone. Stops at the first event
-- that is not old, so that the numbers after `forgotten` have no gap. Returns how many events were deleted.
CREATE FUNCTION forget_partner_events(p_partner_id integer, p_most integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := now();
  v_least_ms constant bigint := elapsed_ms() - 30 * 86400000::bigint;
  v_forgotten bigint;
  v_until bigint;
BEGIN
  SELECT t.forgotten INTO v_forgotten FROM partner_event_totals t WHERE t.partner_id = p_partner_id
  FOR NO KEY UPDATE;
  SELECT coalesce(min(f.number) FILTER (WHERE NOT f.old) - 1, max(f.number)) INTO v_until FROM (
    SELECT e.number, e.stored_ms <= v_least_ms AND (e.at < v_now - interval '30 days' OR e.at > v_now) AS old
    FROM partner_events e WHERE e.partner_id = p_partner_id AND e.number > v_forgotten ORDER BY e.number LIMIT p_most
  ) AS f;
  IF v_until IS NULL OR v_until = v_forgotten THEN RETURN 0; END IF;
  DELETE FROM partner_events e WHERE e.partner_id = p_partner_id AND e.number <= v_until;
  UPDATE partner_event_totals t SET forgotten = v_until WHERE t.partner_id = p_partner_id;
  RETURN v_until - v_forgotten;
END
$$;
