-- Schema 2, additive.
-- The inbox (src/subjects/desk, docs/operators.md, "The inbox").

-- Which operator answers which conversation, and for which pages of the console. The order of locks: desk_requests,
-- inbox_claims, conversations. Bound: one row a conversation; the upkeep deletes those that ended.
CREATE TABLE inbox_claims (
  application_id bigint PRIMARY KEY,
  operator_id integer NOT NULL,
  claimed_until timestamptz NOT NULL,
  claimed_for uuid[] NOT NULL
);
CREATE INDEX inbox_claims_operator ON inbox_claims (operator_id);

-- The turn of the reply that a request sent. NULL: it sent none.
ALTER TABLE desk_requests ADD COLUMN turn integer;
