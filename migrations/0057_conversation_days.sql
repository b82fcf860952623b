-- The chat of an ended conversation goes before its application does (docs/upkeep.md).

ALTER TABLE conversations
  -- When the upkeep first saw that the conversation had ended, by the elapsed time (D39): a clock that leaps makes
  -- nothing old.
  ADD COLUMN ended_ms bigint,
  -- The inputs and the replies are deleted, and nothing has come since.
  ADD COLUMN is_trimmed boolean NOT NULL DEFAULT false;
CREATE INDEX conversations_untrimmed ON conversations (ended_ms) WHERE ended_at IS NOT NULL AND NOT is_trimmed;
