-- Schema 2, additive.
-- The orders of the inbox (docs/operators.md, "The inbox"): whose channel's window closes first comes first.

CREATE INDEX conversations_waiting ON conversations ((coalesce(heard_at, '-infinity'::timestamptz)), id)
  WHERE waits_since IS NOT NULL;
CREATE INDEX conversations_answered ON conversations ((coalesce(heard_at, '-infinity'::timestamptz)), id)
  WHERE held_by = 'operator' AND waits_since IS NULL;
