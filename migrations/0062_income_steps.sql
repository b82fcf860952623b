-- What an income source waits for (D44; src/subjects/income, docs/income.md). The table is of the coordinator alone: a
-- statement about it reads no table of other machines.

-- One row an application of which a source has asked something. It goes with the end of the check, with the erasure of
-- the applicant, and after 30 elapsed days: without it the source begins anew.
CREATE TABLE income_steps (
  application_id bigint PRIMARY KEY,
  -- The source's own session, sealed: it may lead to the person's account.
  session bytea NOT NULL,
  -- The elapsed time (0001_shared.sql) when the row was written: no step of the clock deletes it early.
  elapsed_ms bigint NOT NULL
);
-- The search for what a data key has sealed.
CREATE INDEX income_steps_key ON income_steps (substring(session FROM 1 FOR 1));

-- What the runtime role may do (0001_shared.sql).
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'income_steps');
