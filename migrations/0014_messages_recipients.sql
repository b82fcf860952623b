-- The phones that got messages, and the limits of a phone (D42).

-- Recipients of the last 24 hours, for the pair gap, the limits of a phone (D42) and the limit of different recipients.
-- Bound: the upkeep deletes older ones.
CREATE TABLE recipients (
  phone_index bigint PRIMARY KEY,
  sent_at timestamptz NOT NULL,
  -- elapsed_ms() at that time.
  sent_ms bigint NOT NULL DEFAULT 0,
  -- The last message: when its record changed, the channel had answered.
  message_id bigint NOT NULL,
  -- When the channel answered, if the record does not tell it (record_send_results).
  answered_at timestamptz,
  -- Of the last message.
  partner_id integer NOT NULL,
  is_rejected boolean NOT NULL,
  -- The messages before the last one, newest first, 19 at most; NULL: none. A message that was sent again has one place,
  -- with the time of its last send.
  earlier_ids bigint[],
  earlier_at timestamptz[],
  earlier_partners integer[],
  earlier_rejected boolean[]
) WITH (fillfactor = 90);
-- New rows lie together, so ranges of pages tell as much as an index on each row.
CREATE INDEX recipients_sent_at ON recipients USING brin (sent_at) WITH (pages_per_range = 16);

-- Deletes up to p_most recipients that no limit needs any more; returns their number. The deletion itself locks them,
-- in the order of the subquery, because a lock before it would cost as much again.
CREATE FUNCTION forget_recipients(p_most integer) RETURNS integer
LANGUAGE plpgsql
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
  v_before constant timestamptz := now() - interval '24 hours';
  v_forgotten integer;
BEGIN
  DELETE FROM recipients p USING (
    SELECT o.phone_index FROM (
      SELECT r.phone_index FROM recipients r
      WHERE r.sent_at < v_before AND r.sent_ms <= (SELECT e.ms FROM elapsed e) - 24 * 3600000
      LIMIT p_most) AS o
    ORDER BY o.phone_index
  ) AS r
  WHERE p.phone_index = r.phone_index AND p.sent_at < v_before;
  GET DIAGNOSTICS v_forgotten = ROW_COUNT;
  RETURN v_forgotten;
END
$$;

-- The messages that may not go out any more at p_at because of the limits of their phones (D42): a phone gets p_most
-- messages in 24 hours, p_most_rejected of them `rejected`, over all partners (NULL: any number). A message also gives way
-- to a later message of the same partner to the same phone: to a message of this call, or to a message that was sent. A
-- `rejected` also gives way to the message of an open application. Other types need no such rule: where the phone has a
-- later open application, the application of the earlier message is closed, and that message is cancelled.
--
-- Every message whose send has begun counts, whatever the channel answered. A message that was refused for now goes out
-- again, so it keeps its place. A message that was refused for good keeps its place too: otherwise a partner could try a
-- phone again and again. All attempts of a message count as one message.
--
-- The caller has locked the sender, so that no other session begins to send. A time ahead of the clock counts as now.
CREATE FUNCTION messages_over_limit(
  p_ids bigint[], p_types message_type[], p_phones bigint[], p_partners integer[], p_at timestamptz, p_most integer,
  p_most_rejected integer
) RETURNS bigint[]
LANGUAGE plpgsql STABLE
SET enable_seqscan = off
AS $$
DECLARE
  v_since constant timestamptz := p_at - interval '24 hours';
  v_rejected constant bigint[] := ARRAY(
    SELECT g.phone_index FROM unnest(p_types, p_phones) AS g(type, phone_index) WHERE g.type = 'rejected');
  v_over bigint[];
  v_open_phones bigint[];
  v_open_ids bigint[];
BEGIN
  v_over := ARRAY(
    SELECT g.id FROM (
      SELECT u.id, lead(u.id) OVER (
        PARTITION BY u.phone_index, u.partner_id ORDER BY application_of_message(u.id), u.id) AS later
      FROM unnest(p_ids, p_phones, p_partners) AS u(id, phone_index, partner_id)) AS g
    WHERE g.later IS NOT NULL);
  v_over := v_over || ARRAY(
    SELECT g.id FROM unnest(p_ids, p_types, p_phones, p_partners) AS g(id, type, phone_index, partner_id)
    JOIN recipients r ON r.phone_index = g.phone_index
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE s.at > v_since) AS messages,
        count(*) FILTER (WHERE s.at > v_since AND s.is_rejected) AS rejected,
        bool_or(s.partner_id = g.partner_id
          AND (application_of_message(s.id), s.id) > (application_of_message(g.id), g.id)) AS has_later
      FROM (
        SELECT r.message_id, r.sent_at, r.partner_id, r.is_rejected
        UNION ALL
        SELECT * FROM unnest(r.earlier_ids, r.earlier_at, r.earlier_partners, r.earlier_rejected)
      ) AS s(id, at, partner_id, is_rejected)
      WHERE s.id <> g.id) AS sent
    WHERE sent.messages >= p_most OR g.type = 'rejected' AND sent.rejected >= p_most_rejected OR sent.has_later);
  IF v_rejected = '{}' THEN RETURN v_over; END IF;
  SELECT array_agg(o.phone_index), array_agg(o.application_id) INTO v_open_phones, v_open_ids
  FROM open_phones o WHERE o.phone_index = ANY (v_rejected);
  IF v_open_ids IS NULL THEN RETURN v_over; END IF;
  v_open_ids := messaged_applications(v_open_ids);
  RETURN v_over || ARRAY(
    SELECT g.id FROM unnest(p_ids, p_types, p_phones, p_partners) AS g(id, type, phone_index, partner_id)
    JOIN unnest(v_open_ids, v_open_phones, partners_of(v_open_ids)) AS o(id, phone_index, partner_id)
      ON o.phone_index = g.phone_index AND o.partner_id = g.partner_id AND o.id > application_of_message(g.id)
    WHERE g.type = 'rejected');
END
$$;
