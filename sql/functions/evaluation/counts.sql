-- Counts of cells or bins in one list.

-- The sums of the numbers at each place. Not in SQL, whose body PostgreSQL would put in the place of a call: what ON
-- CONFLICT sets may hold no subquery on a cluster.
CREATE OR REPLACE FUNCTION added_counts(p_one bigint[], p_other bigint[]) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN ARRAY(SELECT u.one + u.other FROM unnest(p_one, p_other) WITH ORDINALITY AS u(one, other, n) ORDER BY u.n);
END
$$;
