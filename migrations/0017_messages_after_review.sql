-- The messages that follow a review (D40). The head of 0005_delivery.sql gives the order of locks.

-- Queues the messages that fit these statuses of reviewed applications (D40), where there are none yet. No type of
-- message fits a disbursed application.
CREATE FUNCTION queue_fitting_messages(p_application_ids bigint[], p_statuses application_status[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  -- Read before the change: on a cluster a statement about a table of the coordinator may not ask other machines.
  v_partners constant integer[] := partners_of(p_application_ids);
  v_rejected constant bigint[] := ARRAY(
    SELECT g.id FROM unnest(p_application_ids, p_statuses) AS g(id, status) WHERE g.status = 'rejected');
  v_rejected_ids bigint[];
  v_rejected_phones bigint[];
BEGIN
  SELECT array_agg(a.id), array_agg(a.phone_index) INTO v_rejected_ids, v_rejected_phones
  FROM phones_of(v_rejected) AS a WHERE a.phone_index IS NOT NULL;
  WITH made AS (
    INSERT INTO message_records (message_id, changed_at, due_at, type, status, attempts, tries, partner_id)
    SELECT DISTINCT message_after_review(g.id, g.status), v_now, v_now, message_type_for(g.status),
      'queued'::message_status, 0::smallint, 0::smallint, g.partner_id
    FROM unnest(p_application_ids, p_statuses, v_partners) AS g(id, status, partner_id)
    WHERE message_after_review(g.id, g.status) IS NOT NULL
    ORDER BY 1
    ON CONFLICT DO NOTHING
    RETURNING message_id, status, due_at, partner_id
  ), awaited AS (
    INSERT INTO waiting_messages (status, message_id, due_at, partner_id)
    SELECT status, message_id, due_at, partner_id FROM made
  )
  INSERT INTO message_counts SELECT 'queued', count(*) FROM made HAVING count(*) > 0;
  IF v_rejected_ids IS NOT NULL THEN
    INSERT INTO waiting_rejections (phone_index, message_id, partner_id)
    SELECT r.phone_index, message_after_review(r.id, 'rejected'), g.partner_id
    FROM unnest(v_rejected_ids, v_rejected_phones) AS r(id, phone_index)
    JOIN unnest(p_application_ids, v_partners) AS g(id, partner_id) ON g.id = r.id
    ORDER BY r.phone_index, r.id
    ON CONFLICT DO NOTHING;
  END IF;
END
$$;

-- Queues the message after a review that led to p_status (D40), in the transaction of the review, which has locked the
-- application. The applicant has consented and has a phone. A message that has not gone out is replaced. If one may have
-- gone out, the new one follows, unless the brand of the application's key says otherwise.
CREATE FUNCTION queue_message_after_review(
  p_application_id bigint, p_status application_status, p_api_key_id integer
) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  -- A constant, because on a cluster an UPDATE calls no such function.
  v_now constant timestamptz := clock_timestamp();
  -- The messages that there may be: of the registration and of an approval before a rejection.
  v_ids constant bigint[] := ARRAY[p_application_id, message_after_review(p_application_id, 'pending_signature')];
  v_follows boolean;
  v_queued bigint[];
  v_has_gone_out boolean;
BEGIN
  SELECT k.brand ->> 'after_review' IS DISTINCT FROM 'false' INTO v_follows FROM api_keys k WHERE k.id = p_api_key_id;

  PERFORM make_messages(v_ids);
  SELECT array_agg(h.message_id) FILTER (WHERE h.status = 'queued'),
    coalesce(bool_or(h.status NOT IN ('queued', 'failed', 'cancelled')), false)
  INTO v_queued, v_has_gone_out FROM (
    SELECT m.message_id, m.status FROM message_records m WHERE m.message_id = ANY (v_ids)
    ORDER BY m.message_id FOR NO KEY UPDATE) AS h;
  IF v_queued IS NOT NULL THEN
    UPDATE message_records SET status = 'cancelled', reason = 'replaced', due_at = NULL, changed_at = v_now
    WHERE message_id = ANY (v_queued);
  END IF;
  IF v_has_gone_out AND NOT v_follows THEN RETURN; END IF;
  PERFORM queue_fitting_messages(ARRAY[p_application_id], ARRAY[p_status]);
END
$$;
