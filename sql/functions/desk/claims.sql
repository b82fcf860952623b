-- Which operator, and which pages of the console, hold an application in review: a page that is closed gives back at
-- once what no other page of its operator uses (docs/operators.md, "The review queue").

-- Whether a claim until p_until holds at p_at. A claim that ends further away than a claim may last was written while
-- the clock was ahead, and has ended (D39).
CREATE OR REPLACE FUNCTION is_claimed(p_until timestamptz, p_at timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(p_until > p_at AND p_until - p_at <= interval '10 minutes', false);

-- Whether the page was closed; one that was not is not closed before the end of the transaction. NULL is no page.
CREATE OR REPLACE FUNCTION page_has_left(p_operator_id integer, p_page uuid) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  IF p_page IS NULL THEN RETURN false; END IF;
  PERFORM pg_advisory_xact_lock(hashtext('page of an operator'), hashtext(p_page::text));
  RETURN EXISTS (SELECT FROM left_pages l WHERE l.operator_id = p_operator_id AND l.page = p_page);
END
$$;

-- The pages for which something is claimed, with p_page as the newest one: ten at most. NULL is no page.
CREATE OR REPLACE FUNCTION pages_with(p_pages uuid[], p_page uuid) RETURNS uuid[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  v_pages constant uuid[] := array_remove(coalesce(p_pages, '{}'), p_page);
BEGIN
  IF p_page IS NULL THEN RETURN v_pages; END IF;
  RETURN v_pages[greatest(1, cardinality(v_pages) - 8):] || p_page;
END
$$;

-- Gives an item back, where the operator has claimed it: for all pages where p_page is NULL, or where no other page
-- than p_page uses it.
CREATE OR REPLACE FUNCTION drop_claim_for(p_application_id bigint, p_operator_id integer, p_page uuid) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_pages uuid[];
BEGIN
  SELECT array_remove(i.claimed_for, p_page) INTO v_pages FROM review_items i
  WHERE i.application_id = p_application_id AND i.claimed_by = p_operator_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  IF p_page IS NOT NULL AND v_pages <> '{}' THEN
    UPDATE review_items i SET claimed_for = v_pages WHERE i.application_id = p_application_id;
  ELSE
    UPDATE review_items i SET claimed_by = NULL, claimed_until = NULL WHERE i.application_id = p_application_id;
  END IF;
END
$$;

-- The same for all pages.
CREATE OR REPLACE FUNCTION drop_claim(p_application_id bigint, p_operator_id integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM drop_claim_for(p_application_id, p_operator_id, NULL);
END
$$;

-- Closes a page: what it alone uses is given back, and nothing is claimed for it any more.
CREATE OR REPLACE FUNCTION leave_page(p_operator_id integer, p_page uuid) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_id bigint;
BEGIN
  IF page_has_left(p_operator_id, p_page) THEN RETURN; END IF;
  INSERT INTO left_pages (operator_id, page) VALUES (p_operator_id, p_page);
  DELETE FROM left_pages l WHERE l.operator_id = p_operator_id AND l.page = ANY (ARRAY(
    SELECT o.page FROM left_pages o WHERE o.operator_id = p_operator_id AND o.page <> p_page
    ORDER BY o.left_at DESC OFFSET 99));
  FOREACH v_id IN ARRAY ARRAY(
    SELECT i.application_id FROM review_items i
    WHERE i.claimed_by = p_operator_id AND p_page = ANY (i.claimed_for) ORDER BY i.application_id)
  LOOP
    PERFORM drop_claim_for(v_id, p_operator_id, p_page);
  END LOOP;
  FOREACH v_id IN ARRAY ARRAY(
    SELECT k.application_id FROM inbox_claims k
    WHERE k.operator_id = p_operator_id AND p_page = ANY (k.claimed_for) ORDER BY k.application_id)
  LOOP
    PERFORM drop_conversation(v_id, p_operator_id, p_page);
  END LOOP;
END
$$;

-- Claims an item as take_claim says. p_page is the page that claims it, or NULL. For a page that was closed nothing
-- changes, and the answer is as if it had claimed and given back.
CREATE OR REPLACE FUNCTION take_claim_for(p_application_id bigint, p_operator_id integer, p_seconds integer, p_page uuid)
RETURNS TABLE (is_held boolean, operator_id integer, until timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
  v_has_left constant boolean := page_has_left(p_operator_id, p_page);
  v_item review_items;
  v_now timestamptz;
BEGIN
  -- The clock is read when the row is locked: to wait for another claim takes time.
  SELECT i.* INTO v_item FROM review_items i WHERE i.application_id = p_application_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  IF EXISTS (
    SELECT FROM open_proposals o JOIN proposals p ON p.id = o.proposal_id
    WHERE o.application_id = p_application_id AND p.maker_id <> p_operator_id)
  THEN
    RETURN QUERY SELECT false, NULL::integer, NULL::timestamptz;
    RETURN;
  END IF;
  v_now := clock_timestamp();
  IF NOT is_claimed(v_item.claimed_until, v_now) THEN
    v_item.claimed_by := NULL;
    v_item.claimed_for := NULL;
  END IF;
  IF v_item.claimed_by <> p_operator_id THEN
    RETURN QUERY SELECT false, v_item.claimed_by, v_item.claimed_until;
    RETURN;
  END IF;
  IF v_has_left THEN
    RETURN QUERY SELECT true, p_operator_id, v_now;
    RETURN;
  END IF;
  v_item.claimed_until := v_now + least(p_seconds, 600) * interval '1 second';
  UPDATE review_items i SET claimed_by = p_operator_id, claimed_until = v_item.claimed_until,
    claimed_for = pages_with(v_item.claimed_for, p_page)
  WHERE i.application_id = p_application_id;
  RETURN QUERY SELECT true, p_operator_id, v_item.claimed_until;
END
$$;

-- The same without a page.
CREATE OR REPLACE FUNCTION take_claim(p_application_id bigint, p_operator_id integer, p_seconds integer)
RETURNS TABLE (is_held boolean, operator_id integer, until timestamptz)
LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT t.is_held, t.operator_id, t.until
  FROM take_claim_for(p_application_id, p_operator_id, p_seconds, NULL) AS t;
END
$$;
