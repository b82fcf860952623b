-- Schema 2, additive.
-- The business in numbers: what the upkeep counts of registrations and of what became of them (src/subjects/business,
-- docs/business.md). No row leads to a person but those of business_offers, and no request reads or waits for them.

-- How far is counted. Whoever adds counts takes the next turn in the same transaction, so that two processes count
-- nothing twice. Bound: one row.
CREATE TABLE business_place (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  turn bigint NOT NULL DEFAULT 0,
  -- The first batch number that has not been counted.
  next_batch bigint NOT NULL DEFAULT 0,
  -- From when on first offers are counted.
  offers_since timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);
INSERT INTO business_place DEFAULT VALUES;

-- The same for the events of each partner: the first number that has not been counted. Bound: one row a partner.
CREATE TABLE business_event_places (
  partner_id integer PRIMARY KEY,
  next_event bigint NOT NULL
) WITH (fillfactor = 70);

-- The counts. Bound: a row a day, partner and currency in which something happened, for three years.
CREATE TABLE business_days (
  -- In UTC, by the database's clock: of the registration, and of each later event.
  day date NOT NULL,
  partner_id integer NOT NULL,
  -- ISO 4217. What was refused counts under the currency of the partner's country. XXX: the application is gone.
  currency text NOT NULL,
  registered bigint NOT NULL DEFAULT 0,
  -- The decision at the registration.
  approved bigint NOT NULL DEFAULT 0,
  in_review bigint NOT NULL DEFAULT 0,
  rejected bigint NOT NULL DEFAULT 0,
  -- In minor units.
  amount_registered numeric NOT NULL DEFAULT 0,
  duplicate bigint NOT NULL DEFAULT 0,
  over_quota bigint NOT NULL DEFAULT 0,
  invalid bigint NOT NULL DEFAULT 0,
  -- What operators decided of applications in review.
  review_approved bigint NOT NULL DEFAULT 0,
  review_rejected bigint NOT NULL DEFAULT 0,
  started bigint NOT NULL DEFAULT 0,
  offered bigint NOT NULL DEFAULT 0,
  signed bigint NOT NULL DEFAULT 0,
  withdrawn bigint NOT NULL DEFAULT 0,
  disbursed bigint NOT NULL DEFAULT 0,
  amount_disbursed numeric NOT NULL DEFAULT 0,
  -- elapsed_ms() of the last addition: nothing is deleted early.
  stored_ms bigint NOT NULL DEFAULT elapsed_ms(),
  PRIMARY KEY (day, partner_id, currency)
) WITH (fillfactor = 70);

-- The same counts of each partner since the first one, for counters that never go back. Bound: one row a partner.
CREATE TABLE business_totals (
  partner_id integer PRIMARY KEY,
  approved bigint NOT NULL DEFAULT 0,
  in_review bigint NOT NULL DEFAULT 0,
  rejected bigint NOT NULL DEFAULT 0,
  review_approved bigint NOT NULL DEFAULT 0,
  review_rejected bigint NOT NULL DEFAULT 0,
  started bigint NOT NULL DEFAULT 0,
  offered bigint NOT NULL DEFAULT 0,
  signed bigint NOT NULL DEFAULT 0,
  withdrawn bigint NOT NULL DEFAULT 0,
  disbursed bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- Applications whose first offer was shown and is still to be counted. Bound: until the next turn of the upkeep.
CREATE TABLE business_offers (
  application_id bigint PRIMARY KEY,
  at timestamptz NOT NULL
);
