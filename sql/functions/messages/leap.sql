-- What the upkeep corrects after the clock was ahead (D39). 0004_messages.sql gives the order of locks.

-- Corrects times that were written while the clock was ahead, and that would wait for that time: a recipient counts
-- as sent to now, a contact window is checked again, and any other wait begins again, also the wait until an operator
-- may settle. p_after: the waiting message at which the last call stopped, 0 at first. Returns NULL if the clock has
-- not stepped back, 0 if all is corrected, and otherwise the message after which the next call goes on.
CREATE OR REPLACE FUNCTION mend_leap(p_after bigint) RETURNS bigint
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  -- v_now in UTC: where the database is spread over machines, an UPDATE can add only to a time without a zone.
  v_utc constant timestamp := v_now AT TIME ZONE 'UTC';
  -- Most rows of a table that one call changes, because a statement has 3 seconds.
  v_most constant integer := 5000;
  v_leases bigint[];
  v_messages bigint[];
  v_phones bigint[];
  v_last bigint[];
  v_found integer;
  v_answered bigint[];
BEGIN
  IF (SELECT latest_at <= v_now + interval '1 second' FROM sender) THEN
    UPDATE sender SET latest_at = v_now WHERE latest_at < v_now;
    RETURN NULL;
  END IF;
  v_leases := ARRAY(SELECT id FROM leases WHERE begun_at > v_now ORDER BY id LIMIT v_most);
  UPDATE leases SET begun_at = v_now, lost_at = (v_utc + (lost_at - begun_at)) AT TIME ZONE 'UTC'
  WHERE id IN (SELECT id FROM leases WHERE id = ANY (v_leases) AND begun_at > v_now ORDER BY id FOR NO KEY UPDATE);
  v_messages := nullif(of_few_partitions(ARRAY(
    -- Reads each status by its own part of the index.
    SELECT w.message_id FROM (
      (SELECT * FROM waiting_messages w WHERE w.status = 'queued' AND w.message_id > p_after
        AND w.due_at > v_now
      ORDER BY w.message_id LIMIT v_most)
      UNION ALL (SELECT * FROM waiting_messages w WHERE w.status = 'uncertain' AND w.message_id > p_after
        AND w.due_at > v_now
      ORDER BY w.message_id LIMIT v_most)) AS w
    ORDER BY w.message_id LIMIT v_most)), '{}');
  UPDATE message_records SET changed_at = v_now,
    due_at = CASE WHEN reason = 'contact_window' THEN v_now ELSE (v_utc + (due_at - changed_at)) AT TIME ZONE 'UTC' END
  WHERE message_id = ANY (v_messages) AND message_id = ANY (ARRAY(
    SELECT message_id FROM message_records
    WHERE message_id = ANY (v_messages)
      AND status IN ('queued', 'uncertain') AND due_at > v_now AND changed_at > v_now
    ORDER BY message_id FOR NO KEY UPDATE));
  UPDATE sender SET refilled_at = least(refilled_at, v_now), alive_at = least(alive_at, v_now);
  SELECT array_agg(r.phone_index), array_agg(r.message_id), count(*) INTO v_phones, v_last, v_found
  FROM (SELECT * FROM recipients WHERE sent_at > v_now LIMIT v_most) AS r;
  IF v_found > 0 THEN
    SELECT array_agg(u.phone), array_agg(u.id) INTO v_phones, v_last FROM unnest(v_phones, v_last) AS u(phone, id)
    WHERE u.id = ANY (of_few_partitions(v_last));
  END IF;
  v_answered := ARRAY(
    SELECT m.message_id FROM message_records m
    WHERE m.message_id = ANY (v_last) AND m.status NOT IN ('queued', 'sending'));
  -- The earlier messages are not later than the last one.
  UPDATE recipients SET sent_at = v_now,
    earlier_at = CASE WHEN earlier_at IS NOT NULL THEN ARRAY(
      SELECT least(e.at, v_now) FROM unnest(earlier_at) WITH ORDINALITY AS e(at, n) ORDER BY e.n) END,
    answered_at = CASE WHEN message_id = ANY (v_answered) THEN v_now ELSE least(answered_at, v_now) END
  WHERE phone_index IN (
    SELECT phone_index FROM recipients WHERE phone_index = ANY (v_phones) AND sent_at > v_now
    ORDER BY phone_index FOR NO KEY UPDATE);
  -- Counts found rows instead of changed ones: another session may have corrected the same rows.
  IF v_messages IS NOT NULL THEN RETURN v_messages[cardinality(v_messages)]; END IF;
  IF greatest(cardinality(v_leases), v_found) = v_most OR cardinality(v_phones) < v_found THEN
    RETURN greatest(p_after, 1);
  END IF;
  UPDATE sender SET latest_at = v_now;
  RETURN 0;
END
$$;
