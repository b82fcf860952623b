-- What the chat tells of reviews, so that no message outside of it does (D40, D43; docs/conversation.md).

-- Those of these applications whose approval no message outside of the chat tells. The service speaks with the
-- applicant in an open conversation, and the channel's window stays open for long enough to say it there; or the
-- conversation has ended with the signature or a withdrawal.
CREATE OR REPLACE FUNCTION told_in_chat(p_application_ids bigint[]) RETURNS bigint[]
LANGUAGE plpgsql AS $$
DECLARE
  v_since constant timestamptz := clock_timestamp() - interval '23 hours 45 minutes';
BEGIN
  RETURN ARRAY(
    SELECT n.application_id FROM (
      SELECT DISTINCT ON (c.application_id) c.application_id, c.place, c.held_by, c.heard_at, c.ended_at
      FROM conversations c WHERE c.application_id = ANY (p_application_ids) ORDER BY c.application_id, c.id DESC) AS n
    WHERE n.place IN ('signed', 'withdrawn') OR n.ended_at IS NULL AND n.held_by = 'service' AND n.heard_at > v_since);
END
$$;
