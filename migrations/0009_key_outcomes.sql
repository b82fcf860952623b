-- What became of each key's applications on PRO, by hour: so that an operator sees who is refused, how often and why.
-- Bound: the upkeep deletes what is 30 days old by the clock and by the elapsed time (D39).
CREATE TABLE key_outcomes (
  -- Of the database's clock.
  hour timestamptz NOT NULL,
  api_key_id integer NOT NULL,
  registered bigint NOT NULL,
  duplicate bigint NOT NULL,
  over_quota bigint NOT NULL,
  invalid bigint NOT NULL,
  -- Requests with the key after its end, or for the other environment.
  unauthorized bigint NOT NULL,
  -- When the hour first looked like a sweep; NULL: it does not.
  sweep_at timestamptz,
  -- elapsed_ms() when it was last added to.
  stored_ms bigint NOT NULL DEFAULT elapsed_ms(),
  PRIMARY KEY (hour, api_key_id)
);

-- True where a key's hour looks as if somebody tried phones to learn who has an open application: 500 refusals of valid
-- applications, and more of them than were registered.
CREATE FUNCTION looks_like_sweep(registered bigint, duplicate bigint, over_quota bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN duplicate + over_quota >= 500 AND duplicate + over_quota > registered;
