-- The history of the troubles that `status` tells. Nothing depends on it.

-- Notes the troubles that a look has found, with their texts and since when they stand: which are new, which came again
-- within ten minutes after their end, and which ended. So one that comes and goes has one row. The caller holds the row
-- of trouble_looks: the looks are noted in their order.
CREATE OR REPLACE FUNCTION note_troubles(p_codes text[], p_texts text[], p_began timestamptz[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := now();
  v_lately constant timestamptz := now() - interval '10 minutes';
  v_elapsed_ms constant bigint := elapsed_ms();
  v_new text[];
  v_ids bigint[];
BEGIN
  UPDATE troubles t SET ended_at = greatest(t.began_at, v_now), ended_ms = v_elapsed_ms
  WHERE t.ended_at IS NULL AND t.code <> ALL (p_codes);
  UPDATE troubles t SET ended_at = NULL, ended_ms = NULL, times = t.times + 1
  WHERE t.ended_at > v_lately
    AND t.id IN (SELECT max(o.id) FROM troubles o WHERE o.code = ANY (p_codes) GROUP BY o.code);
  v_new := ARRAY(
    SELECT DISTINCT g.code FROM unnest(p_codes) AS g(code)
    WHERE NOT EXISTS (SELECT FROM troubles t WHERE t.code = g.code AND t.ended_at IS NULL) ORDER BY g.code);
  v_ids := ARRAY(SELECT nextval('troubles_id_seq'::text) FROM elapsed, generate_series(1, cardinality(v_new)));
  INSERT INTO troubles (id, code, text, began_at)
  SELECT DISTINCT ON (n.id) n.id, n.code, left(g.text, 1000), g.began
  FROM unnest(v_ids, v_new) AS n(id, code)
  JOIN unnest(p_codes, p_texts, p_began) AS g(code, text, began) ON g.code = n.code
  ORDER BY n.id;
  DELETE FROM troubles t WHERE t.id IN (
    SELECT o.id FROM (SELECT id, row_number() OVER (PARTITION BY code ORDER BY id DESC) AS n FROM troubles) AS o
    WHERE o.n > 100);
END
$$;
