-- Schema 2, additive.
-- What partners asked lately, for whoever looks for a request by its X-Request-Id (docs/operators.md, "Requests"). No
-- row has personal data, and no request waits for one.

-- Written in sets, some after their answers; where they are too many, some are left out. Bound: the upkeep deletes rows
-- of seven days, and of a partner those before its newest 100,000.
CREATE TABLE partner_requests (
  partner_id integer NOT NULL,
  -- X-Request-Id: a version 7 UUID, so new rows lie together and the newest ones are found by the key.
  request_id uuid NOT NULL,
  api_key_id integer NOT NULL,
  -- When the answer was sent, by the database's clock.
  at timestamptz NOT NULL,
  method text NOT NULL,
  -- The route as the program has it, never the path of the request.
  route text NOT NULL,
  status smallint NOT NULL,
  ms integer NOT NULL,
  -- What was wrong with the request as a whole: a code; NULL: nothing.
  problem text,
  -- The answer was one of before, by its Idempotency-Key.
  replayed boolean NOT NULL,
  -- Of a batch: how many elements had which outcome; NULL: the request was no batch, or was refused as a whole.
  registered smallint,
  duplicate smallint,
  over_quota smallint,
  invalid smallint,
  not_an_object smallint,
  -- How many elements broke which rule of which field, such as {"income.amount": 2}.
  faults jsonb,
  -- elapsed_ms() of the write.
  stored_ms bigint NOT NULL,
  PRIMARY KEY (partner_id, request_id)
);

-- When the key was used last, by the database's clock; NULL: not since this was noted.
ALTER TABLE key_totals ADD COLUMN used_at timestamptz;
