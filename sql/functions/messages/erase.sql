-- Takes out what delivery has about a person (docs/subject.md). The head of 0004_messages.sql gives the order of locks.

-- The ids that messages of these applications may have.
CREATE OR REPLACE FUNCTION message_ids_of(p_application_ids bigint[]) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN ARRAY(
    SELECT u.id FROM unnest(p_application_ids) AS g(id)
    CROSS JOIN LATERAL (VALUES (g.id), (message_after_review(g.id, 'pending_signature')),
      (message_after_review(g.id, 'rejected')), (reminder_of(g.id))) AS u(id)
    ORDER BY u.id);
END
$$;

-- Deletes the status events that wait for the record of one of these messages, or came from one of these phones. One
-- that another session has locked is being applied, or is deleted within the hour.
CREATE OR REPLACE FUNCTION erase_early_events(p_message_ids bigint[], p_phones bigint[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_channel_ids constant bigint[] := ARRAY(
    SELECT m.channel_message_id FROM message_records m
    WHERE m.message_id = ANY (nullif(p_message_ids, '{}')) AND m.channel_message_id IS NOT NULL);
  v_users constant bigint[] := ARRAY(
    SELECT u.user_index FROM channel_users u WHERE u.phone_index = ANY (p_phones));
BEGIN
  DELETE FROM early_events WHERE (channel_message_id, status) IN (
    SELECT e.channel_message_id, e.status FROM early_events e
    WHERE e.channel_message_id = ANY (v_channel_ids) OR e.user_index = ANY (v_users)
    FOR UPDATE SKIP LOCKED);
END
$$;

-- Takes these messages out of the leases. The caller has locked their records.
CREATE OR REPLACE FUNCTION take_from_leases(p_message_ids bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE leases l SET ids = k.ids, types = k.types, attempts = k.attempts
  FROM (
    SELECT h.id, array_agg(u.id ORDER BY u.n) AS ids, string_agg(u.letter, '' ORDER BY u.n) AS types,
      array_agg(u.attempt ORDER BY u.n) AS attempts
    FROM leases h
    CROSS JOIN LATERAL unnest(h.ids, string_to_array(h.types, NULL), h.attempts) WITH ORDINALITY AS u(id, letter, attempt, n)
    WHERE h.ids && p_message_ids AND u.id <> ALL (p_message_ids) GROUP BY h.id
  ) AS k
  WHERE l.id = k.id;
  DELETE FROM leases l WHERE l.ids && p_message_ids;
END
$$;

-- Deletes messages of erased applications, wherever they are, but for those of the outbox. Raises object_in_use where
-- one of them is being sent, unless p_nobody_sends says that no worker runs: its result must find its record. Runs as
-- the owner, because the runtime role may not delete records: it deletes those that the erasure is of.
CREATE OR REPLACE FUNCTION erase_begun_messages(p_message_ids bigint[], p_nobody_sends boolean, p_erasure uuid) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_recorded bigint[];
  v_is_sending boolean;
BEGIN
  PERFORM require_erasure(p_erasure, ARRAY(SELECT application_of_message(u.id) FROM unnest(p_message_ids) AS u(id)));
  PERFORM FROM leases l WHERE l.ids && p_message_ids ORDER BY l.id FOR UPDATE;
  SELECT coalesce(array_agg(h.message_id), '{}'), coalesce(bool_or(h.status = 'sending'), false)
  INTO v_recorded, v_is_sending FROM (
    SELECT m.message_id, m.status FROM message_records m WHERE m.message_id = ANY (nullif(p_message_ids, '{}'))
    ORDER BY m.message_id FOR UPDATE) AS h;
  v_is_sending := v_is_sending OR EXISTS (
    SELECT FROM leases l, unnest(l.ids) AS u(id)
    WHERE l.ids && p_message_ids AND u.id = ANY (p_message_ids) AND u.id <> ALL (v_recorded));
  IF v_is_sending AND NOT p_nobody_sends THEN
    RAISE EXCEPTION 'a message of the applications is being sent' USING ERRCODE = 'object_in_use';
  END IF;
  -- Messages of a lease without a record count as sending, and the trigger counts the records.
  INSERT INTO message_counts
  SELECT 'sending', -count(*) FROM leases l, unnest(l.ids) AS u(id)
  WHERE u.id = ANY (p_message_ids) AND u.id <> ALL (v_recorded) HAVING count(*) > 0;
  PERFORM take_from_leases(p_message_ids);
  DELETE FROM message_records WHERE message_id = ANY (nullif(v_recorded, '{}'));
END
$$;
SELECT runs_as_owner('erase_begun_messages(bigint[], boolean, uuid)');

-- Deletes the messages of these applications and what delivery has under these phones, and suppresses the phones:
-- nobody writes to the person again. p_nobody_sends: as in erase_begun_messages. The caller has locked the
-- applications, and stored the erasure.
CREATE OR REPLACE FUNCTION erase_messages(p_application_ids bigint[], p_phones bigint[], p_nobody_sends boolean, p_erasure uuid)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_ids constant bigint[] := message_ids_of(p_application_ids);
  v_untouched bigint;
  v_phone bigint;
BEGIN
  PERFORM erase_early_events(v_ids, p_phones);
  IF p_application_ids <> '{}' THEN
    v_untouched := (SELECT count(*) FROM take_from_outbox(p_application_ids));
    IF v_untouched > 0 THEN INSERT INTO message_counts VALUES ('queued', -v_untouched); END IF;
    PERFORM erase_begun_messages(v_ids, p_nobody_sends, p_erasure);
  END IF;
  DELETE FROM waiting_rejections w WHERE w.phone_index = ANY (p_phones) AND w.message_id = ANY (v_ids);
  PERFORM FROM recipients r WHERE r.phone_index = ANY (p_phones) ORDER BY r.phone_index FOR UPDATE;
  DELETE FROM recipients r WHERE r.phone_index = ANY (p_phones);
  PERFORM FROM channel_users u WHERE u.phone_index = ANY (p_phones) ORDER BY u.user_index FOR UPDATE;
  DELETE FROM channel_users u WHERE u.phone_index = ANY (p_phones);
  FOR v_phone IN SELECT DISTINCT u.phone FROM unnest(p_phones) AS u(phone) ORDER BY u.phone LOOP
    PERFORM add_suppression(v_phone);
  END LOOP;
END
$$;
