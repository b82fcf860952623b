-- A phone that changed hands: what waits to go there is not sent (D43). From then on the moment of sending holds the
-- messages of the application back (unfitting_messages). The head of 0004_messages.sql gives the order of locks.

-- Cancels the replies of applications that wait. A reply that may still fail at the channel is not queued again then
-- (record_replies, settlement.ts). The caller has noted the wrong person.
CREATE OR REPLACE FUNCTION cancel_replies_for_wrong_person(p_application_ids bigint[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  -- A constant, because on a cluster an UPDATE calls no such function.
  v_now constant timestamptz := clock_timestamp();
  v_replies bigint[];
BEGIN
  v_replies := ARRAY(
    SELECT r.id FROM replies r
    WHERE r.application_id = ANY (p_application_ids)
      AND r.status IN ('queued', 'sending', 'uncertain', 'accepted', 'sent')
    ORDER BY r.id FOR NO KEY UPDATE);
  UPDATE replies SET status = CASE status WHEN 'queued' THEN 'cancelled' ELSE status END, never_again = true,
    reason = CASE status WHEN 'queued' THEN 'wrong_person' ELSE reason END,
    changed_at = CASE status WHEN 'queued' THEN v_now ELSE changed_at END
  WHERE id = ANY (v_replies);
END
$$;

-- Cancels these messages where they wait, those in the outbox too. The caller has noted the wrong person, and locked
-- the replies of the application.
CREATE OR REPLACE FUNCTION cancel_messages_for_wrong_person(p_ids bigint[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  -- A constant, because on a cluster an UPDATE calls no such function.
  v_now constant timestamptz := clock_timestamp();
  v_queued bigint[];
BEGIN
  -- An empty list names no partitions, and PostgreSQL then takes all of them.
  IF p_ids = '{}' THEN RETURN; END IF;
  PERFORM make_messages(p_ids);
  v_queued := ARRAY(
    SELECT m.message_id FROM message_records m WHERE m.message_id = ANY (p_ids) AND m.status = 'queued'
    ORDER BY m.message_id FOR NO KEY UPDATE);
  IF v_queued = '{}' THEN RETURN; END IF;
  UPDATE message_records SET status = 'cancelled', reason = 'wrong_person', due_at = NULL, changed_at = v_now
  WHERE message_id = ANY (v_queued);
END
$$;

-- Makes the records of these messages that have none, and locks all records: a transaction that changes messages for
-- several reasons locks them in one order. It has locked the replies that it changes.
CREATE OR REPLACE FUNCTION lock_messages(p_ids bigint[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
BEGIN
  IF p_ids = '{}' THEN RETURN; END IF;
  PERFORM make_messages(p_ids);
  PERFORM FROM message_records m WHERE m.message_id = ANY (p_ids) ORDER BY m.message_id FOR NO KEY UPDATE;
END
$$;
