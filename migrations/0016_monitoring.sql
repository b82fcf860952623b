-- What operators watch: the jobs of the upkeep, the flow of messages, the partitions ahead. Nothing depends on it.

-- The last runs of each job of the upkeep, over all processes, by the database's clock. Bound: one row a job.
CREATE TABLE upkeep_jobs (
  job text PRIMARY KEY,
  -- NULL: no run of the job has succeeded.
  succeeded_at timestamptz,
  took_ms integer,
  -- NULL: no run of the job has failed.
  failed_at timestamptz,
  -- What the last failure told operators, without personal data; NULL: only the log of a process says why.
  failed_why text
) WITH (fillfactor = 50);

-- The number of messages of each status as it was once in each hour: tells what the channel delivered since then.
-- Bound: the hours of a day, a row a status each.
CREATE TABLE message_count_hours (
  hour timestamptz NOT NULL,
  status message_status NOT NULL,
  count bigint NOT NULL,
  -- By the database's clock.
  counted_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (hour, status)
);
