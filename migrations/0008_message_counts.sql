-- How many messages are in each state, without counting them: that takes seconds among millions.

-- The rows of a state add up to its number. Every statement that moves messages adds what it changed, in its own
-- transaction, so that the sum is exact in every snapshot, and nobody waits for a row of somebody else.
-- register_batches, which alone adds messages, writes its number itself: a trigger costs four times as much.
-- Bound: the upkeep puts the rows of a state together.
CREATE TABLE message_counts (
  status message_status NOT NULL,
  count bigint NOT NULL
);

CREATE FUNCTION note_message_counts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO message_counts SELECT status, -count(*) FROM gone GROUP BY status;
  ELSE
    INSERT INTO message_counts
    SELECT status, sum(change) FROM (
      SELECT status, 1 AS change FROM came UNION ALL SELECT status, -1 FROM gone
    ) AS changes GROUP BY status HAVING sum(change) <> 0;
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER messages_gone AFTER DELETE ON messages REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION note_message_counts();
CREATE TRIGGER messages_changed AFTER UPDATE ON messages REFERENCING OLD TABLE AS gone NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION note_message_counts();

INSERT INTO message_counts SELECT status, count(*) FROM messages GROUP BY status;
