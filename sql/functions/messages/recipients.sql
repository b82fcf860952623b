-- The phones that got messages, and the limits of a phone (D42).

-- How long a message counts against the limits of its phone (D42), and a phone against the limit of recipients.
CREATE OR REPLACE FUNCTION recipient_window() RETURNS interval LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN interval '24 hours';

-- Deletes up to p_most recipients that no limit needs any more; returns their number. The deletion itself locks them,
-- in the order of the subquery, because a lock before it would cost as much again.
CREATE OR REPLACE FUNCTION forget_recipients(p_most integer) RETURNS integer
LANGUAGE plpgsql
SET jit = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
  -- An hour more than the window, because a calendar day may have 25 hours.
  v_kept constant interval := recipient_window() + interval '1 hour';
  v_before constant timestamptz := now() - v_kept;
  v_forgotten integer;
BEGIN
  DELETE FROM recipients p USING (
    SELECT o.phone_index FROM (
      SELECT r.phone_index FROM recipients r
      WHERE r.sent_at < v_before AND r.sent_ms <= (SELECT e.ms FROM elapsed e) - ms_of(v_kept)
      LIMIT p_most) AS o
    ORDER BY o.phone_index
  ) AS r
  WHERE p.phone_index = r.phone_index AND p.sent_at < v_before;
  GET DIAGNOSTICS v_forgotten = ROW_COUNT;
  RETURN v_forgotten;
END
$$;
