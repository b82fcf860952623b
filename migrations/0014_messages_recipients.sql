-- The phones that got messages, and the limits of a phone (D42).

-- How long a message counts against the limits of its phone (D42), and a phone against the limit of recipients.
CREATE FUNCTION recipient_window() RETURNS interval LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN interval '24 hours';

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
  -- The messages before the last one, newest first, 19 at most; NULL: none. A message that was sent again is there
  -- once, with the time of its last send.
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
SET jit = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
  v_before constant timestamptz := now() - recipient_window();
  v_forgotten integer;
BEGIN
  DELETE FROM recipients p USING (
    SELECT o.phone_index FROM (
      SELECT r.phone_index FROM recipients r
      WHERE r.sent_at < v_before AND r.sent_ms <= (SELECT e.ms FROM elapsed e) - ms_of(recipient_window())
      LIMIT p_most) AS o
    ORDER BY o.phone_index
  ) AS r
  WHERE p.phone_index = r.phone_index AND p.sent_at < v_before;
  GET DIAGNOSTICS v_forgotten = ROW_COUNT;
  RETURN v_forgotten;
END
$$;


-- What the runtime role may do (0001_shared.sql).
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'recipients');
