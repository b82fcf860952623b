-- Schema 2, additive.
-- What became of pushes, for whoever asks why a partner did not get an event (docs/operators.md, "The endpoint").

-- One row an attempt whose result was recorded, also of pushes that are over. Bound: the upkeep deletes rows of seven
-- days, and of a partner those before its newest 10,000.
CREATE TABLE push_attempts (
  partner_id integer NOT NULL,
  -- When the result was recorded, by the database's clock.
  at timestamptz NOT NULL,
  -- The event.
  number bigint NOT NULL,
  attempt smallint NOT NULL,
  result push_result NOT NULL,
  -- A code, never a text of the endpoint; NULL without a failure.
  failure text,
  -- elapsed_ms() of the write.
  stored_ms bigint NOT NULL,
  PRIMARY KEY (partner_id, at, number, attempt)
);
