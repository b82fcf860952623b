-- How many conversations are open, for operators: to count 100,000 rows takes longer than a scrape may
-- (docs/monitoring.md).

-- The open conversations by step and holder, as changes to be added up. The upkeep makes one row a step and holder of
-- them. Bound: the changes since the last upkeep.
CREATE TABLE conversation_counts (
  step text NOT NULL,
  holder text NOT NULL,
  conversations bigint NOT NULL
);
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'conversation_counts');

CREATE FUNCTION count_conversation() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.ended_at IS NULL THEN
    INSERT INTO conversation_counts (step, holder, conversations) VALUES (OLD.place, OLD.held_by, -1);
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.ended_at IS NULL THEN
    INSERT INTO conversation_counts (step, holder, conversations) VALUES (NEW.place, NEW.held_by, 1);
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER conversations_counted AFTER INSERT OR DELETE ON conversations
  FOR EACH ROW EXECUTE FUNCTION count_conversation();
CREATE TRIGGER conversations_recounted AFTER UPDATE ON conversations
  FOR EACH ROW WHEN ((OLD.place, OLD.held_by, OLD.ended_at) IS DISTINCT FROM (NEW.place, NEW.held_by, NEW.ended_at))
  EXECUTE FUNCTION count_conversation();
