-- The reminder of an application: a template that asks the applicant to go on with the conversation. The head of
-- 0004_messages.sql gives the order of locks.

-- Queues the reminders of open applications whose applicant has consented and has a phone, which is not somebody
-- else's. A reminder that has ended may go out again: its attempts count on, its tries begin anew. Returns the
-- applications whose reminder is queued now: not those of which one waits or may be on its way. The caller passes
-- applications of few partitions.
CREATE OR REPLACE FUNCTION queue_reminders(p_application_ids bigint[]) RETURNS SETOF bigint
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  -- A constant, because on a cluster an UPDATE calls no such function.
  v_now constant timestamptz := clock_timestamp();
  v_ids bigint[];
  v_partners integer[];
  v_made bigint[];
  v_again bigint[];
BEGIN
  SELECT array_agg(reminder_of(a.id) ORDER BY a.id), array_agg(a.partner_id ORDER BY a.id) INTO v_ids, v_partners
  FROM applications_of(p_application_ids) AS a
  WHERE is_open(a.status) AND a.messaging_optin AND a.phone_index IS NOT NULL AND NOT a.wrong_person;
  IF v_ids IS NULL THEN RETURN; END IF;
  WITH made AS (
    INSERT INTO message_records (message_id, changed_at, due_at, type, status, attempts, tries, partner_id)
    SELECT g.id, v_now, v_now, 'reminder'::message_type, 'queued'::message_status, 0::smallint, 0::smallint, g.partner_id
    FROM unnest(v_ids, v_partners) AS g(id, partner_id) ORDER BY g.id
    ON CONFLICT DO NOTHING
    RETURNING message_id, status, due_at, partner_id
  ), awaited AS (
    INSERT INTO waiting_messages (status, message_id, due_at, partner_id)
    SELECT status, message_id, due_at, partner_id FROM made
  ), counted AS (
    INSERT INTO message_counts SELECT 'queued', count(*) FROM made HAVING count(*) > 0
  )
  SELECT coalesce(array_agg(m.message_id), '{}') INTO v_made FROM made m;
  -- Few have had one before.
  IF cardinality(v_made) < cardinality(v_ids) THEN
    SELECT array_agg(h.message_id) INTO v_again FROM (
      SELECT m.message_id, m.status FROM message_records m
      WHERE m.message_id = ANY (v_ids) AND m.message_id <> ALL (v_made)
      ORDER BY m.message_id FOR NO KEY UPDATE) AS h
    WHERE h.status NOT IN ('queued', 'sending', 'uncertain');
    UPDATE message_records SET status = 'queued', reason = NULL, tries = 0, due_at = v_now, changed_at = v_now
    WHERE message_id = ANY (v_again);
  END IF;
  RETURN QUERY SELECT i.id FROM unnest(p_application_ids) AS i(id) WHERE reminder_of(i.id) = ANY (v_made || v_again);
END
$$;
