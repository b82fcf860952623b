-- Schema 2, additive.
-- The view of pended applications (docs/operators.md, "Views"): those that wait the longest first.
CREATE INDEX open_pends_at ON open_pends (at, application_id);
