-- The accounts of operators (D48, docs/operators.md).

-- Counts a try under each name, and returns for each how many there were in its window, and the seconds until the
-- window ends. A window that begins over a minute ahead was written while the clock was ahead: it begins anew. Less may
-- lie between the clocks of two machines of a cluster.
CREATE OR REPLACE FUNCTION count_operator_tries(p_names bytea[], p_window interval)
RETURNS TABLE (name bytea, tries integer, ends_in_seconds integer)
LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := clock_timestamp();
  v_from timestamptz;
  v_to timestamptz;
BEGIN
  -- Two statements, because Citus loses the values of the second one where it is part of an INSERT of many rows.
  INSERT INTO operator_tries (name, since, tries) SELECT u.name, v_now, 0 FROM unnest(p_names) AS u(name) ORDER BY u.name
  ON CONFLICT ON CONSTRAINT operator_tries_pkey DO UPDATE SET name = excluded.name;
  -- Read again: while this try waited for another one, that one may have begun the window.
  v_now := clock_timestamp();
  v_from := v_now - p_window;
  v_to := v_now + interval '1 minute';
  RETURN QUERY
  WITH counted AS (
    UPDATE operator_tries t SET
      since = CASE WHEN t.since BETWEEN v_from AND v_to THEN t.since ELSE v_now END,
      tries = CASE WHEN t.since BETWEEN v_from AND v_to THEN t.tries + 1 ELSE 1 END
    WHERE t.name = ANY (p_names) RETURNING t.*
  )
  SELECT c.name, c.tries, ceil(extract(epoch FROM c.since - v_from))::integer FROM counted c;
END
$$;

-- What else is done when an operator is gone: signed out of the last browser, disabled, with new factors, or in a role
-- without decisions. It is in the same transaction, with the operator's row locked. Nothing by itself: desk/queue.sql
-- replaces the function.
CREATE OR REPLACE FUNCTION leave_desk(p_operator_id integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
END
$$;
