-- The reminder of an application: a template that asks the applicant to go on with the conversation. The head of
-- 0007_messages.sql gives the order of locks.

-- Queues the reminder of an open application whose applicant has consented and has a phone. A reminder that has ended
-- may go out again: its attempts count on, its tries begin anew. Returns false where none may go out, and where one
-- waits or may be on its way.
CREATE FUNCTION queue_reminder(p_application_id bigint) RETURNS boolean
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  -- A constant, because on a cluster an UPDATE calls no such function.
  v_now constant timestamptz := clock_timestamp();
  v_id constant bigint := reminder_of(p_application_id);
  v_partner_id integer;
  v_status message_status;
BEGIN
  SELECT a.partner_id INTO v_partner_id FROM applications_of(ARRAY[p_application_id]) AS a
  WHERE is_open(a.status) AND a.messaging_optin AND a.phone_index IS NOT NULL;
  IF NOT FOUND THEN RETURN false; END IF;
  WITH made AS (
    INSERT INTO message_records (message_id, changed_at, due_at, type, status, attempts, tries, partner_id)
    VALUES (v_id, v_now, v_now, 'reminder', 'queued', 0, 0, v_partner_id)
    ON CONFLICT DO NOTHING
    RETURNING message_id, status, due_at, partner_id
  ), awaited AS (
    INSERT INTO waiting_messages (status, message_id, due_at, partner_id)
    SELECT status, message_id, due_at, partner_id FROM made
  ), counted AS (
    INSERT INTO message_counts SELECT 'queued', count(*) FROM made HAVING count(*) > 0
  )
  SELECT m.status INTO v_status FROM made m;
  IF FOUND THEN RETURN true; END IF;
  SELECT m.status INTO v_status FROM message_records m WHERE m.message_id = v_id FOR NO KEY UPDATE;
  IF v_status IN ('queued', 'sending', 'uncertain') THEN RETURN false; END IF;
  UPDATE message_records SET status = 'queued', reason = NULL, tries = 0, due_at = v_now, changed_at = v_now
  WHERE message_id = v_id;
  RETURN true;
END
$$;
