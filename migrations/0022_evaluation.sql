-- Schema 2, additive.
-- Drift (D51): whether the applications are still those that the live policy began with. The upkeep counts, and a
-- registration knows nothing of it.

-- How far the upkeep has counted for the drift of the live policy. Bound: one row.
CREATE TABLE policy_drift (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- The activation that is counted for; NULL: the first turn is still to come.
  activation_id bigint,
  -- The first batch number of the baseline, and the first one that has not been counted.
  baseline_from bigint NOT NULL DEFAULT 0,
  next_batch bigint NOT NULL DEFAULT 0,
  -- When the indexes were last computed.
  computed_at timestamptz
) WITH (fillfactor = 50);
INSERT INTO policy_drift DEFAULT VALUES;

-- The applications of the last days by the attributes of the live policy, and those of the baseline. Bound: nine rows a
-- partner, and nine for all.
CREATE TABLE policy_drift_counts (
  -- 0: all partners.
  partner_id integer NOT NULL,
  -- Of the registration, in UTC; '-infinity': the baseline.
  day date NOT NULL,
  applications bigint NOT NULL,
  -- Of each characteristic its attributes, one characteristic after the other (src/subjects/evaluation/rules/drift.ts).
  bins bigint[] NOT NULL,
  PRIMARY KEY (partner_id, day)
) WITH (fillfactor = 70);

-- The population stability indexes as they were last computed. Bound: five rows for all, and five for each of the 20
-- largest partners.
CREATE TABLE policy_psi (
  partner_id integer NOT NULL,
  characteristic text NOT NULL,
  psi double precision NOT NULL,
  -- Above it the characteristic has drifted.
  threshold double precision NOT NULL,
  PRIMARY KEY (partner_id, characteristic)
);
