-- Applications as they are read: the facts of a batch, and the state of each application now.

-- The double of these bits; NULL where they are not of a number. A subquery in its place takes five times as long.
CREATE OR REPLACE FUNCTION double_of(p_bits bigint) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE p_bits >> 52 & 2047 WHEN 0 THEN (p_bits & 4503599627370495)::float8 * 2::float8 ^ -1074 WHEN 2047 THEN NULL
  -- Stays in the range of doubles: 2 ^ 971 and 2 ^ -1074 are doubles.
  ELSE ((p_bits & 4503599627370495) | 4503599627370496)::float8 * 2::float8 ^ ((p_bits >> 52 & 2047) - 1075)::float8 END;

-- The double (IEEE 754, big-endian) at an offset. Amounts are finite and above zero; NULL: damaged.
CREATE OR REPLACE FUNCTION double_at(p_bytes bytea, p_offset integer) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN double_of(('x' || encode(substring(p_bytes FROM p_offset + 1 FOR 8), 'hex'))::bit(64)::bigint);

-- Whether the application at a position of a batch has consent (application_at).
CREATE OR REPLACE FUNCTION has_consent(p_facts bytea, p_position integer) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(p_facts) >= 28 * (p_position + 1)
  THEN (get_byte(p_facts, 28 * p_position + 6) >> 2 & 1) = 1 ELSE false END;

-- The application at a position of a batch, as it was registered. Its 28 bytes of facts:
--   0 score; 1 to 5 points by criterion in the contract's order;
--   6 codes, each the index of the value in its list: decision (bits 0-1), messaging_optin (2), prior_history (3),
--     num_debts (4-5), debt_age (6-7);
--   7 which line of platforms; 8 to 10 currency; 12 to 19 income; 20 to 27 debt_amount.
-- src/subjects/applications/sql/prepared-batch.ts writes them. Of damaged facts it makes no error, which would keep the
-- other applications of a statement from being read, but NULLs: no decision is the sign of them. Its arguments are
-- columns, not a row: on another machine a table's part has a row type of its own.
CREATE OR REPLACE FUNCTION application_at(
  p_id bigint, p_created_at timestamptz, p_partner_id integer, p_api_key_id integer, p_policy_id smallint,
  p_phones bigint[], p_id_numbers bigint[], p_facts bytea, p_platforms text, p_position integer
) RETURNS TABLE (
  id bigint, batch_id bigint, "position" smallint, created_at timestamptz, partner_id integer, api_key_id integer,
  policy_id smallint, phone_index bigint, id_number_index bigint, score smallint, payment_capacity_points smallint,
  channel_points smallint, debt_age_points smallint, num_debts_points smallint, prior_history_points smallint,
  decision decision, messaging_optin boolean, num_debts text, debt_age text, prior_history text, currency text,
  platform text, income double precision, debt_amount double precision
)
LANGUAGE sql STABLE AS $$
  SELECT application_id_at(p_id, p_position), p_id, p_position::smallint, p_created_at, p_partner_id, p_api_key_id,
    p_policy_id, p_phones[p_position + 1], p_id_numbers[p_position + 1], get_byte(f.bytes, 0)::smallint,
    get_byte(f.bytes, 1)::smallint, get_byte(f.bytes, 2)::smallint, get_byte(f.bytes, 3)::smallint,
    get_byte(f.bytes, 4)::smallint, get_byte(f.bytes, 5)::smallint,
    ('{approved,in_review,rejected}'::decision[])[1 + (get_byte(f.bytes, 6) & 3)],
    (get_byte(f.bytes, 6) >> 2 & 1) = 1,
    ('{1,2,3}'::text[])[1 + (get_byte(f.bytes, 6) >> 4 & 3)],
    ('{lt6,6a12,1a2,gt2}'::text[])[1 + (get_byte(f.bytes, 6) >> 6 & 3)],
    ('{yes,no}'::text[])[1 + (get_byte(f.bytes, 6) >> 3 & 1)],
    encode(substring(f.bytes FROM 9 FOR 3), 'escape'),
    split_part(p_platforms, E'\n', 1 + get_byte(f.bytes, 7)),
    double_at(f.bytes, 12), double_at(f.bytes, 20)
  FROM (SELECT CASE WHEN octet_length(p_facts) >= 28 * (p_position + 1)
    THEN substring(p_facts FROM 28 * p_position + 1 FOR 28) END AS bytes OFFSET 0) AS f
  WHERE p_id_numbers[p_position + 1] IS NOT NULL
$$;

-- Every application as it is now, for a look by hand and for statements on whole batches. The view walks over all
-- applications; applications_of finds single ones.
CREATE OR REPLACE VIEW applications AS
SELECT a.*, coalesce(s.status, initial_status(a.decision)) AS status, s.interested_at, s.signed_at,
  s.withdrawable_until, coalesce(s.wrong_person, false) AS wrong_person
FROM batches b
CROSS JOIN LATERAL generate_series(0, cardinality(b.id_numbers) - 1) AS p(position)
CROSS JOIN LATERAL application_at(b.id, b.created_at, b.partner_id, b.api_key_id, b.policy_id, b.phones,
  b.id_numbers, b.facts, b.platforms, p.position) AS a
LEFT JOIN application_states s ON s.batch_id = b.id AND s.application_id = application_id_at(b.id, p.position);
SELECT runtime_may('SELECT', 'applications');

-- The applications with these ids, by the keys of their batches.
CREATE OR REPLACE FUNCTION applications_of(p_ids bigint[]) RETURNS SETOF applications
LANGUAGE plpgsql STABLE ROWS 100
SET plan_cache_mode = force_custom_plan
SET jit = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
AS $$
DECLARE
  -- With these values the planner finds the partitions to read, also on another machine.
  v_batches constant bigint[] := nullif(ARRAY(SELECT DISTINCT batch_of(g.id) FROM unnest(p_ids) AS g(id)), '{}');
BEGIN
  RETURN QUERY SELECT a.*, coalesce(s.status, initial_status(a.decision)), s.interested_at, s.signed_at, s.withdrawable_until,
    coalesce(s.wrong_person, false)
  FROM unnest(p_ids) AS g(id)
  JOIN batches b ON b.id = batch_of(g.id) AND b.id = ANY (v_batches)
  CROSS JOIN LATERAL application_at(b.id, b.created_at, b.partner_id, b.api_key_id, b.policy_id, b.phones,
    b.id_numbers, b.facts, b.platforms, position_of(g.id)) AS a
  LEFT JOIN application_states s ON s.batch_id = b.id AND s.application_id = g.id;
END
$$;
