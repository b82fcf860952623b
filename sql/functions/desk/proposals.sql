-- Proposals of decisions (D48). The head of migrations/0012_desk.sql gives the order of locks.

-- Keeps what became of the applications of a request, where it is not what the request has. A request for one
-- application that was refused is forgotten.
CREATE OR REPLACE FUNCTION keep_results(p_operator_id integer, p_request_key text, p_is_of_many boolean, p_results text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF NOT p_is_of_many AND p_results <> '{proposed}' THEN
    DELETE FROM desk_requests r WHERE r.operator_id = p_operator_id AND r.request_key = p_request_key;
  ELSE
    UPDATE desk_requests r SET results = p_results, proposal_ids = ARRAY(
      SELECT CASE WHEN u.result = 'proposed' THEN u.proposal_id END
      FROM unnest(p_results, r.proposal_ids) WITH ORDINALITY AS u(result, proposal_id, n) ORDER BY u.n)
    WHERE r.operator_id = p_operator_id AND r.request_key = p_request_key AND r.results <> p_results;
  END IF;
END
$$;

-- Takes the places of an operator's proposals, of each application that p_objections has nothing against, and returns
-- what became of each, in their order: `proposed` (write_proposals follows), the objection, or what is in the way by
-- now. What somebody else claims is returned with the claim where it is the only one. p_at: when the caller read what
-- the decision stands on; p_apply_at: when its undo ends; p_confirm_by: when it is looked at where it needs a second
-- operator. p_digest: of the request. Raises a conflict, after which the caller reads anew, where a request with the
-- key is there by now, or the wait for others took half of the time to undo.
CREATE OR REPLACE FUNCTION place_proposals(
  p_maker_id integer, p_is_of_many boolean, p_request_key text, p_digest bytea, p_at timestamptz, p_apply_at timestamptz,
  p_confirm_by timestamptz, p_ids bigint[], p_objections text[], p_proposal_ids bigint[], p_decided_on bigint[],
  p_needs_second text[]
) RETURNS TABLE (results text[], claimed_by integer, claimed_until timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
  v_placed bigint[];
  v_held bigint[];
  v_pended boolean[];
  v_changed bigint[];
BEGIN
  IF p_request_key IS NOT NULL THEN
    INSERT INTO desk_requests (operator_id, request_key, digest, ids, results, proposal_ids)
    VALUES (p_maker_id, p_request_key, p_digest, p_ids, array_replace(p_objections, NULL, 'proposed'), p_proposal_ids);
  END IF;
  -- In the order of their keys, so that two of these wait for each other in no circle. A taken place stays as it is.
  WITH placed AS (
    INSERT INTO open_proposals (application_id, proposal_id, stamped_at, due_at, is_of_many)
    SELECT u.id, u.proposal_id, p_at, CASE WHEN u.needs_second IS NULL THEN p_apply_at ELSE p_confirm_by END, p_is_of_many
    FROM unnest(p_ids, p_proposal_ids, p_needs_second) AS u(id, proposal_id, needs_second)
    WHERE u.proposal_id IS NOT NULL ORDER BY u.id
    ON CONFLICT (application_id) DO NOTHING RETURNING application_id
  )
  SELECT coalesce(array_agg(p.application_id), '{}') INTO v_placed FROM placed p;
  -- A claim is over with the decision. An application whose item was lost is no obstacle.
  WITH held AS MATERIALIZED (
    SELECT i.application_id, i.state, i.claimed_by, i.claimed_until, i.state <> 'pended'
      AND (i.claimed_by = p_maker_id OR NOT is_claimed(i.claimed_until, clock_timestamp())) AS is_free
    FROM review_items i WHERE i.application_id = ANY (v_placed) ORDER BY i.application_id FOR NO KEY UPDATE
  ), taken AS (
    UPDATE review_items i SET state = 'proposed', claimed_by = NULL, claimed_until = NULL
    FROM held h WHERE i.application_id = h.application_id AND h.is_free
  )
  SELECT coalesce(array_agg(h.application_id), '{}'), array_agg(h.state = 'pended'), min(h.claimed_by), min(h.claimed_until)
  INTO v_held, v_pended, claimed_by, claimed_until FROM held h WHERE NOT h.is_free;
  IF clock_timestamp() NOT BETWEEN p_at AND p_at + greatest((p_apply_at - p_at) / 2, interval '2 seconds') THEN
    RAISE EXCEPTION 'too little time to undo is left' USING ERRCODE = 'VN001';
  END IF;
  -- What moved an application, or erased its person, may have committed while its item was waited for.
  v_changed := ARRAY(
    SELECT u.id FROM unnest(p_ids, p_decided_on) AS u(id, decided_on) JOIN unnest(v_placed) AS p(id) ON p.id = u.id
    WHERE u.decided_on <> coalesce((SELECT max(e.id) FROM application_events e WHERE e.application_id = u.id), 0));
  IF v_held || v_changed <> '{}' THEN
    UPDATE review_items i SET state = 'waiting'
    WHERE i.application_id = ANY (ARRAY(SELECT unnest(v_changed) EXCEPT SELECT unnest(v_held)));
    DELETE FROM open_proposals o WHERE o.application_id = ANY (v_held || v_changed);
  END IF;
  results := ARRAY(
    SELECT coalesce(u.objection, CASE WHEN p.id IS NULL THEN 'already_proposed' WHEN c.id IS NOT NULL THEN 'changed'
      WHEN h.id IS NULL THEN 'proposed' WHEN h.is_pended THEN 'illegal' ELSE 'claimed' END)
    FROM unnest(p_ids, p_objections) WITH ORDINALITY AS u(id, objection, n)
    LEFT JOIN unnest(v_placed) AS p(id) ON p.id = u.id LEFT JOIN unnest(v_changed) AS c(id) ON c.id = u.id
    LEFT JOIN unnest(v_held, v_pended) AS h(id, is_pended) ON h.id = u.id ORDER BY u.n);
  PERFORM keep_results(p_maker_id, p_request_key, p_is_of_many, results);
  RETURN NEXT;
END
$$;

-- Writes the proposals whose result is `proposed`, in the places that the transaction has taken (place_proposals).
CREATE OR REPLACE FUNCTION write_proposals(
  p_results text[], p_maker_id integer, p_act text, p_reason_code text, p_reason text, p_is_override boolean,
  p_at timestamptz, p_apply_at timestamptz, p_ids bigint[], p_proposal_ids bigint[], p_decided_on bigint[],
  p_signed_at timestamptz[], p_needs_second text[], p_macs bytea[], p_lines bytea[] DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO proposals (id, application_id, act, reason_code, reason, is_override, maker_id, decided_on, decided_signed_at,
    needs_second, created_at, apply_at, mac, lines)
  SELECT u.proposal_id, u.id, p_act, p_reason_code, p_reason, p_is_override, p_maker_id, u.decided_on, u.signed_at,
    u.needs_second, p_at, p_apply_at, u.mac, u.lines
  FROM unnest(p_results, p_ids, p_proposal_ids, p_decided_on, p_signed_at, p_needs_second, p_macs, p_lines)
    AS u(result, id, proposal_id, decided_on, signed_at, needs_second, mac, lines)
  WHERE u.result = 'proposed';
END
$$;
