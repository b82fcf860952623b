-- What partners asked lately.

-- Adds requests: an array a column. p_ages_ms: how long ago each was answered. p_keys: the keys that were used since
-- the last call, also those of requests that are left out.
CREATE OR REPLACE FUNCTION note_requests(
  p_partners integer[], p_ids uuid[], p_request_keys integer[], p_ages_ms integer[], p_methods text[], p_routes text[],
  p_statuses smallint[], p_ms integer[], p_problems text[], p_replayed boolean[], p_registered smallint[],
  p_duplicate smallint[], p_over_quota smallint[], p_invalid smallint[], p_not_an_object smallint[], p_faults jsonb[],
  p_keys integer[]
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := now();
  v_elapsed_ms constant bigint := elapsed_ms();
BEGIN
  INSERT INTO partner_requests (partner_id, request_id, api_key_id, at, method, route, status, ms, problem, replayed,
    registered, duplicate, over_quota, invalid, not_an_object, faults, stored_ms)
  SELECT g.partner_id, g.id, g.key_id, v_now - g.age_ms * interval '1 millisecond', g.method, g.route, g.status, g.ms,
    g.problem, g.replayed, g.registered, g.duplicate, g.over_quota, g.invalid, g.not_an_object, g.faults, v_elapsed_ms
  FROM unnest(p_partners, p_ids, p_request_keys, p_ages_ms, p_methods, p_routes, p_statuses, p_ms, p_problems, p_replayed,
    p_registered, p_duplicate, p_over_quota, p_invalid, p_not_an_object, p_faults)
    AS g(partner_id, id, key_id, age_ms, method, route, status, ms, problem, replayed, registered, duplicate, over_quota,
      invalid, not_an_object, faults)
  -- A write whose answer was lost is not repeated, but a driver may send a statement twice.
  ON CONFLICT DO NOTHING;
  INSERT INTO key_totals AS t (api_key_id, registered, duplicate, over_quota, invalid, unauthorized, used_at)
  SELECT g.id, 0, 0, 0, 0, 0, v_now FROM unnest(p_keys) AS g(id) ORDER BY g.id
  ON CONFLICT (api_key_id) DO UPDATE SET used_at = excluded.used_at;
END
$$;

-- Deletes some of a partner's oldest requests, at most p_most: those of seven days by the clock and by the elapsed time
-- (D39), of a clock that was ahead by the elapsed time alone; and those before its newest p_newest. Returns the number.
CREATE OR REPLACE FUNCTION forget_requests(p_partner_id integer, p_newest integer, p_most integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := now();
  v_least_ms constant bigint := elapsed_ms() - ms_of(interval '7 days');
  v_last uuid;
  v_deleted bigint;
BEGIN
  SELECT q.request_id INTO v_last FROM partner_requests q WHERE q.partner_id = p_partner_id
  ORDER BY q.request_id DESC OFFSET p_newest LIMIT 1;
  DELETE FROM partner_requests r WHERE r.partner_id = p_partner_id AND r.request_id = ANY (ARRAY(
    SELECT o.request_id FROM (
      SELECT q.request_id, q.at, q.stored_ms FROM partner_requests q WHERE q.partner_id = p_partner_id
      ORDER BY q.request_id LIMIT p_most) AS o
    WHERE o.request_id <= v_last
      OR o.stored_ms <= v_least_ms AND (o.at < v_now - interval '7 days' OR o.at > v_now)));
  GET DIAGNOSTICS v_deleted = ROW_COUNT;
  RETURN v_deleted;
END
$$;
