-- Schema 2, additive.
-- What applicants were offered (D45; src/subjects/signing/sql/offers.ts).

-- The terms of the latest offer of an application: until its last day they are those of its contract, whatever the
-- operator's terms say by then. Bound: a row an application with an offer; 120 days.
CREATE TABLE loan_offers (
  application_id bigint PRIMARY KEY,
  -- The country, its terms and their version, without a value of the person.
  terms jsonb NOT NULL,
  made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  elapsed_ms bigint NOT NULL
);
CREATE INDEX loan_offers_elapsed ON loan_offers (elapsed_ms);
