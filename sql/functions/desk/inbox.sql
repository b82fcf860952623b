-- Which operator answers which conversation (docs/operators.md, "The inbox").

-- Claims a conversation for an operator where nobody else holds it, and renews the operator's own claim. p_page is the
-- page that claims it, or NULL. For a page that was closed nothing changes, and the answer is as if it had claimed and
-- given back.
CREATE OR REPLACE FUNCTION take_conversation(p_application_id bigint, p_operator_id integer, p_seconds integer, p_page uuid)
RETURNS TABLE (is_held boolean, operator_id integer, until timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
  v_has_left constant boolean := page_has_left(p_operator_id, p_page);
  v_claim inbox_claims;
  v_now timestamptz;
BEGIN
  LOOP
    INSERT INTO inbox_claims (application_id, operator_id, claimed_until, claimed_for)
    VALUES (p_application_id, p_operator_id, 'epoch', '{}') ON CONFLICT DO NOTHING;
    SELECT k.* INTO v_claim FROM inbox_claims k WHERE k.application_id = p_application_id FOR NO KEY UPDATE;
    -- Otherwise the upkeep has just deleted it.
    EXIT WHEN FOUND;
  END LOOP;
  -- The clock is read when the row is locked: to wait for another claim takes time.
  v_now := clock_timestamp();
  IF NOT is_claimed(v_claim.claimed_until, v_now) THEN
    v_claim.operator_id := p_operator_id;
    v_claim.claimed_for := '{}';
  END IF;
  IF v_claim.operator_id <> p_operator_id THEN
    RETURN QUERY SELECT false, v_claim.operator_id, v_claim.claimed_until;
    RETURN;
  END IF;
  IF v_has_left THEN
    RETURN QUERY SELECT true, p_operator_id, v_now;
    RETURN;
  END IF;
  v_claim.claimed_until := v_now + least(p_seconds, 600) * interval '1 second';
  UPDATE inbox_claims k SET operator_id = p_operator_id, claimed_until = v_claim.claimed_until,
    claimed_for = pages_with(v_claim.claimed_for, p_page) WHERE k.application_id = p_application_id;
  RETURN QUERY SELECT true, p_operator_id, v_claim.claimed_until;
END
$$;

-- Gives a conversation back, where the operator has claimed it: for all pages where p_page is NULL, or where no other
-- page than p_page uses it.
CREATE OR REPLACE FUNCTION drop_conversation(p_application_id bigint, p_operator_id integer, p_page uuid) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_pages uuid[];
BEGIN
  SELECT array_remove(k.claimed_for, p_page) INTO v_pages FROM inbox_claims k
  WHERE k.application_id = p_application_id AND k.operator_id = p_operator_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  IF p_page IS NOT NULL AND v_pages <> '{}' THEN
    UPDATE inbox_claims k SET claimed_for = v_pages WHERE k.application_id = p_application_id;
  ELSE
    UPDATE inbox_claims k SET claimed_until = 'epoch', claimed_for = '{}' WHERE k.application_id = p_application_id;
  END IF;
END
$$;

-- Claims the conversation that waits, that nobody holds, and whose channel's window closes first; those whose window is
-- closed come last. p_window is how long the window lasts. No row: none is free.
CREATE OR REPLACE FUNCTION take_next_conversation(
  p_operator_id integer, p_seconds integer, p_page uuid, p_window interval
) RETURNS TABLE (application_id bigint, until timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  v_closed constant timestamptz := v_now - p_window;
  v_id bigint;
BEGIN
  FOR v_id IN
    SELECT f.application_id FROM (
      (SELECT c.application_id, c.heard_at, c.id FROM conversations c
       WHERE c.waits_since IS NOT NULL AND coalesce(c.heard_at, '-infinity') > v_closed
         AND c.id = (SELECT max(n.id) FROM conversations n WHERE n.application_id = c.application_id)
         AND NOT EXISTS (SELECT FROM inbox_claims k
           WHERE k.application_id = c.application_id AND is_claimed(k.claimed_until, v_now))
       ORDER BY coalesce(c.heard_at, '-infinity'), c.id LIMIT 100)
      UNION ALL
      (SELECT c.application_id, NULL, c.id FROM conversations c
       WHERE c.waits_since IS NOT NULL AND coalesce(c.heard_at, '-infinity') <= v_closed
         AND c.id = (SELECT max(n.id) FROM conversations n WHERE n.application_id = c.application_id)
         AND NOT EXISTS (SELECT FROM inbox_claims k
           WHERE k.application_id = c.application_id AND is_claimed(k.claimed_until, v_now))
       ORDER BY coalesce(c.heard_at, '-infinity'), c.id LIMIT 100)
    ) AS f ORDER BY f.heard_at NULLS LAST, f.id
  LOOP
    SELECT t.until INTO until FROM take_conversation(v_id, p_operator_id, p_seconds, p_page) AS t WHERE t.is_held;
    CONTINUE WHEN NOT FOUND;
    -- Another operator may have answered and given back since the list was read.
    IF EXISTS (SELECT FROM conversations c WHERE c.application_id = v_id AND c.waits_since IS NOT NULL) THEN
      application_id := v_id;
      RETURN NEXT;
      RETURN;
    END IF;
    PERFORM drop_conversation(v_id, p_operator_id, p_page);
  END LOOP;
END
$$;
