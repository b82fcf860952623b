-- Schema 2, additive.
-- More of the business in numbers (src/subjects/business, docs/business.md).

ALTER TABLE business_days
  -- Reviews that are against what the score leans to.
  ADD COLUMN overridden bigint NOT NULL DEFAULT 0,
  -- Applicants who said that there are no more documents.
  ADD COLUMN documents bigint NOT NULL DEFAULT 0;
ALTER TABLE business_totals
  ADD COLUMN overridden bigint NOT NULL DEFAULT 0,
  ADD COLUMN documents bigint NOT NULL DEFAULT 0;

-- How long applications took from one step to the next: how many took a time of each bucket. The times of a bucket
-- differ by less than a fifth (src/domain/application/waits.ts). Bound: a row a day, partner, step and bucket in
-- which something happened, and another one a month, for three years.
CREATE TABLE business_waits (
  -- In UTC, of the later step: the day, or the first one of the month.
  day date NOT NULL,
  -- 'day' or 'month': a month is added up beside its days, so that its median costs no more than that of a day.
  per text NOT NULL,
  partner_id integer NOT NULL,
  step text NOT NULL,
  bucket smallint NOT NULL,
  times bigint NOT NULL,
  -- elapsed_ms() of the last addition: nothing is deleted early.
  stored_ms bigint NOT NULL DEFAULT elapsed_ms(),
  PRIMARY KEY (day, per, partner_id, step, bucket)
) WITH (fillfactor = 70);
