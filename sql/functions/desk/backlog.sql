-- What waits at the review desk, counted by hours.

-- No row is changed, so nobody who claims or decides waits for another one. A claim alone changes no count. The changes
-- are read first and then written: a cluster takes no statement on a table of its own that reads the rows of a trigger.
CREATE OR REPLACE FUNCTION count_backlog() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  v_created timestamptz[];
  v_due timestamptz[];
  v_items bigint[];
BEGIN
  IF TG_OP = 'INSERT' THEN
    SELECT array_agg(h.created), array_agg(h.due), array_agg(h.items) INTO v_created, v_due, v_items FROM (
      SELECT date_trunc('hour', c.created_at, 'UTC') AS created, date_trunc('hour', c.due_at, 'UTC') AS due,
        count(*) AS items
      FROM came c WHERE c.state = 'waiting' GROUP BY 1, 2) AS h;
  ELSIF TG_OP = 'DELETE' THEN
    SELECT array_agg(h.created), array_agg(h.due), array_agg(h.items) INTO v_created, v_due, v_items FROM (
      SELECT date_trunc('hour', g.created_at, 'UTC') AS created, date_trunc('hour', g.due_at, 'UTC') AS due,
        -count(*) AS items
      FROM gone g WHERE g.state = 'waiting' GROUP BY 1, 2) AS h;
  ELSE
    SELECT array_agg(h.created), array_agg(h.due), array_agg(h.items) INTO v_created, v_due, v_items FROM (
      SELECT date_trunc('hour', u.created_at, 'UTC') AS created, date_trunc('hour', u.due_at, 'UTC') AS due,
        sum(u.items) AS items
      FROM (
        SELECT g.created_at, g.due_at, -1 AS items FROM gone g WHERE g.state = 'waiting'
        UNION ALL SELECT c.created_at, c.due_at, 1 FROM came c WHERE c.state = 'waiting') AS u
      GROUP BY 1, 2 HAVING sum(u.items) <> 0) AS h;
  END IF;
  IF v_items IS NOT NULL THEN
    INSERT INTO backlog_counts (created_hour, due_hour, items)
    SELECT u.created, u.due, u.items FROM unnest(v_created, v_due, v_items) AS u(created, due, items);
  END IF;
  RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER backlog_came AFTER INSERT ON review_items REFERENCING NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION count_backlog();
CREATE OR REPLACE TRIGGER backlog_gone AFTER DELETE ON review_items REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION count_backlog();
CREATE OR REPLACE TRIGGER backlog_changed AFTER UPDATE ON review_items REFERENCING OLD TABLE AS gone NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION count_backlog();
