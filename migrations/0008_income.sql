-- The observed income of applications against the declared one (D44; src/subjects/income, docs/income.md). The tables
-- are of the coordinator alone: a statement about them reads no table of other machines.

-- The checks, with their evidence. The last one of an application counts. An erasure takes the evidence away, and
-- leaves the numbers for statistics, as it does with the declared income. Bound: the retention of the applications.
CREATE TABLE income_checks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  application_id bigint NOT NULL,
  -- The order of the checks, which no step of the clock changes. The same check again gets a new number.
  number bigserial NOT NULL,
  checked_at timestamptz NOT NULL DEFAULT now(),
  -- SHA-256 of everything that the check depends on: the same check again is the same row.
  digest bytea NOT NULL,
  method text NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('confirmed', 'adjusted', 'operator')),
  reason text NOT NULL,
  currency text,
  -- In hundredths; observed is the lower one of mean and median, NULL where there is none.
  declared bigint,
  observed bigint,
  months smallint NOT NULL,
  confidence real NOT NULL,
  layouts text[] NOT NULL,
  -- What read the documents.
  reader text NOT NULL,
  policy_version text,
  -- The thresholds that were used (income of src/domain/scorecard/scorecard.ts).
  rules jsonb NOT NULL,
  -- With the observed income, by the application's own policy; NULL where nothing was scored again.
  new_score smallint,
  new_points smallint[],
  new_decision text,
  -- The months and their amounts by document, sealed: months of earnings tell a person to the platform that paid them.
  evidence bytea,
  -- Who accepted the income as it was observed, where the outcome was operator; NULL: nobody.
  accepted_by text,
  accepted_at timestamptz,
  UNIQUE (application_id, digest),
  CHECK ((accepted_by IS NULL) = (accepted_at IS NULL) AND (accepted_at IS NULL OR outcome = 'operator'))
);
-- The search for what a data key has sealed.
CREATE INDEX income_checks_key ON income_checks (substring(evidence FROM 1 FOR 1)) WHERE evidence IS NOT NULL;

-- What an income source waits for: one row an application of which a source has asked something. It goes with the end
-- of the check, with the erasure of the applicant, and after 30 elapsed days: without it the source begins anew.
CREATE TABLE income_steps (
  application_id bigint PRIMARY KEY,
  -- The source's own session, sealed: it may lead to the person's account.
  session bytea NOT NULL,
  -- elapsed_ms() when the row was written: no step of the clock deletes it early.
  elapsed_ms bigint NOT NULL
);
-- The search for what a data key has sealed.
CREATE INDEX income_steps_key ON income_steps (substring(session FROM 1 FOR 1));
