-- Schema 2, additive.
-- What became of loans, as the lender tells it (D51; `policy labels import`, docs/policy.md).

-- A label says of the loan of an application whether it went bad, and on which day that was known. Bound: one row an
-- application; the upkeep deletes it with the application. An erasure leaves it, as it leaves the decision.
CREATE TABLE loan_labels (
  application_id bigint PRIMARY KEY,
  day date NOT NULL CHECK (day BETWEEN '2000-01-01' AND '9999-12-31'),
  is_bad boolean NOT NULL
);
