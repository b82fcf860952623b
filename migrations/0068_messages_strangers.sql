-- The answer to a person without a conversation goes before its application does (docs/upkeep.md).

ALTER TABLE replies
  -- When the upkeep first saw such an answer (its turn is below 1), by the elapsed time (D39): a clock that leaps makes
  -- nothing old. NULL: it has not seen it.
  ADD COLUMN seen_ms bigint;
CREATE INDEX replies_strangers ON replies (seen_ms) WHERE turn < 1;
