-- Whose turn the work beside conversations is (src/subjects/conversation/sql/work.ts).

-- How long a file waits for more files, and how long a turn waits at most for a person who goes on sending files.
CREATE OR REPLACE FUNCTION file_pause() RETURNS interval LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN interval '3 seconds';

CREATE OR REPLACE FUNCTION longest_file_pause() RETURNS interval LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 5 * file_pause();

-- The files to read, in turns: one of a conversation at once, and of the partners the one next of which the process
-- reads the fewest (p_held has a partner for each file). It reads at most p_most of a partner, so that another one
-- finds a place.
CREATE OR REPLACE FUNCTION next_files(p_limit integer, p_held integer[], p_most integer, p_now timestamptz) RETURNS SETOF bigint
LANGUAGE sql STABLE ROWS 10 AS $$
  WITH RECURSIVE busy AS MATERIALIZED (
    SELECT w.conversation_id FROM conversation_work w
    WHERE (w.work = 'read_document') AND w.due_at > p_now AND w.leased_until > p_now
  ), owners AS (
    SELECT (SELECT min(w.partner_id) FROM conversation_work w WHERE w.work = 'read_document') AS partner_id
    UNION ALL
    SELECT (SELECT min(w.partner_id) FROM conversation_work w
      WHERE w.work = 'read_document' AND w.partner_id > o.partner_id)
    FROM owners o WHERE o.partner_id IS NOT NULL
  ), waiting AS (
    SELECT o.partner_id, f.id, f.due_at,
      cardinality(array_positions(p_held, o.partner_id))
        + row_number() OVER (PARTITION BY o.partner_id ORDER BY f.due_at) AS turn
    FROM owners o CROSS JOIN LATERAL (
      SELECT DISTINCT ON (d.conversation_id) d.id, d.due_at FROM (
        SELECT w.id, w.conversation_id, w.due_at FROM conversation_work w
        WHERE w.work = 'read_document' AND w.partner_id = o.partner_id AND w.due_at <= p_now
          AND w.conversation_id NOT IN (SELECT b.conversation_id FROM busy b)
        ORDER BY w.due_at LIMIT 100) AS d
      ORDER BY d.conversation_id, d.due_at) AS f
  )
  SELECT w.id FROM waiting w WHERE w.turn <= p_most ORDER BY w.turn, w.due_at LIMIT p_limit
$$;

-- Due work that no process works on, leased: files to read (p_files, with what next_files needs), or all else in its
-- order.
CREATE OR REPLACE FUNCTION claim_work(p_files boolean, p_limit integer, p_lease interval, p_held integer[], p_most integer)
RETURNS SETOF conversation_work
LANGUAGE plpgsql ROWS 10 AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  -- Read and computed before the change: on a cluster an UPDATE does neither.
  v_until constant timestamptz := v_now + p_lease;
  v_due bigint[];
BEGIN
  IF p_files THEN
    v_due := ARRAY(SELECT next_files(p_limit, p_held, p_most, v_now));
    v_due := ARRAY(
      SELECT d.id FROM conversation_work d WHERE d.id = ANY (v_due) AND d.due_at <= v_now
      ORDER BY d.due_at FOR NO KEY UPDATE SKIP LOCKED);
  ELSE
    v_due := ARRAY(
      SELECT d.id FROM conversation_work d WHERE d.due_at <= v_now AND (d.work = 'read_document') = p_files
      ORDER BY d.due_at LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED);
  END IF;
  IF v_due = '{}' THEN RETURN; END IF;
  RETURN QUERY UPDATE conversation_work w SET leased_until = v_until, tries = w.tries + 1, due_at = v_until
  WHERE w.id = ANY (v_due) RETURNING w.*;
END
$$;
