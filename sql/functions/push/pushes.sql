-- Pushes: partner events on their way to the endpoints of their partners (D41). The head of migrations/0006_push.sql
-- gives the order of locks.

-- Queues the pushes of new events, whose numbers begin after p_after, where their partner has an endpoint.
CREATE OR REPLACE FUNCTION after_partner_events(
  p_partner_id integer, p_after bigint, p_application_ids bigint[], p_types partner_event_type[], p_at timestamptz,
  p_elapsed_ms bigint
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  -- NULL: the partner has no endpoint that takes pushes.
  v_asked constant boolean := (SELECT e.conversation_events FROM partner_endpoints e
    WHERE e.partner_id = p_partner_id AND e.disabled_at IS NULL);
BEGIN
  IF v_asked IS NULL THEN RETURN; END IF;
  INSERT INTO pushes (partner_id, number, application_id, queued_ms, set_at, due_at)
  SELECT p_partner_id, p_after + u.n, u.id, p_elapsed_ms, p_at, p_at
  FROM unnest(p_application_ids, p_types) WITH ORDINALITY AS u(id, type, n)
  WHERE v_asked OR NOT is_of_conversation(u.type);
END
$$;

-- Queues again up to p_most events after p_after and up to p_until, unless they are queued. Returns the last number
-- that it looked at, NULL if there was none, and how many it queued. A disabled endpoint gets none.
CREATE OR REPLACE FUNCTION resend_events(
  p_partner_id integer, p_after bigint, p_until bigint, p_most integer, OUT last bigint, OUT queued bigint
)
LANGUAGE plpgsql AS $$
DECLARE
  v_at constant timestamptz := clock_timestamp();
  v_elapsed_ms constant bigint := elapsed_ms();
  v_asked boolean;
BEGIN
  queued := 0;
  SELECT e.conversation_events INTO v_asked FROM partner_endpoints e
  WHERE e.partner_id = p_partner_id AND e.disabled_at IS NULL FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT max(e.number) INTO last FROM (
    SELECT e.number FROM partner_events e
    WHERE e.partner_id = p_partner_id AND e.number > p_after AND e.number <= p_until
    ORDER BY e.number LIMIT p_most) AS e;
  -- ROW_COUNT on a cluster counts what is there too.
  WITH added AS (
    INSERT INTO pushes (partner_id, number, application_id, queued_ms, set_at, due_at)
    SELECT e.partner_id, e.number, e.application_id, v_elapsed_ms, v_at, v_at
    FROM partner_events e
    WHERE e.partner_id = p_partner_id AND e.number > p_after AND e.number <= last
      AND (v_asked OR NOT is_of_conversation(e.type))
    ON CONFLICT DO NOTHING RETURNING 1)
  SELECT count(*) INTO queued FROM added;
END
$$;

-- Deletes up to p_most pushes of disabled endpoints, of one partner or of all (NULL). Returns their number.
CREATE OR REPLACE FUNCTION drop_pushes(p_partner_id integer, p_most integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_partner_id integer;
  v_numbers bigint[];
  v_dropped integer := 0;
BEGIN
  FOR v_partner_id IN
    SELECT e.partner_id FROM partner_endpoints e
    WHERE e.disabled_at IS NOT NULL AND (p_partner_id IS NULL OR e.partner_id = p_partner_id)
    ORDER BY e.partner_id FOR NO KEY UPDATE
  LOOP
    v_numbers := ARRAY(SELECT q.number FROM pushes q WHERE q.partner_id = v_partner_id LIMIT p_most - v_dropped);
    DELETE FROM pushes q WHERE q.partner_id = v_partner_id AND q.number = ANY (v_numbers);
    v_dropped := v_dropped + cardinality(v_numbers);
    EXIT WHEN v_dropped >= p_most;
  END LOOP;
  RETURN v_dropped;
END
$$;

-- Corrects up to p_most times that were written while the clock was ahead: each wait begins again. Returns how many.
CREATE OR REPLACE FUNCTION mend_pushes(p_most integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  -- v_now in UTC: where the database is spread over machines, an UPDATE can add only to a time without a zone.
  v_utc constant timestamp := v_now AT TIME ZONE 'UTC';
  v_partner_id integer;
  v_numbers bigint[];
  v_mended integer := 0;
BEGIN
  FOR v_partner_id IN
    SELECT DISTINCT q.partner_id FROM pushes q WHERE q.set_at > v_now + interval '1 second' ORDER BY q.partner_id
  LOOP
    PERFORM FROM partner_endpoints e WHERE e.partner_id = v_partner_id FOR NO KEY UPDATE;
    v_numbers := ARRAY(
      SELECT q.number FROM pushes q
      WHERE q.partner_id = v_partner_id AND q.set_at > v_now + interval '1 second' LIMIT p_most - v_mended);
    UPDATE pushes q SET set_at = v_now,
      due_at = (v_utc + (q.due_at - q.set_at)) AT TIME ZONE 'UTC',
      leased_until = (v_utc + (q.leased_until - q.set_at)) AT TIME ZONE 'UTC'
    WHERE q.partner_id = v_partner_id AND q.number = ANY (v_numbers) AND q.set_at > v_now + interval '1 second';
    v_mended := v_mended + cardinality(v_numbers);
    EXIT WHEN v_mended >= p_most;
  END LOOP;
  RETURN v_mended;
END
$$;
