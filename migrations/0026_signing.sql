-- Schema 2, additive.
-- What was paid out of signed contracts, to whom, and the final schedule (D45, D46; src/subjects/signing).
--
-- Locks: the application's row of application_states comes first, then loan_contracts, then the lines; the lock of an
-- application's evidence comes last of these.

-- The day from which the installments count: the latest value date of the payment. NULL: nothing is recorded.
ALTER TABLE loan_contracts ADD COLUMN disbursed_on date;
-- The final schedule in the store of documents, sealed with the contract's secret, and its SHA-256.
ALTER TABLE loan_contracts ADD COLUMN schedule_key text;
ALTER TABLE loan_contracts ADD COLUMN schedule_sha256 bytea;
-- The copies of the PDFs beside the backups, and the work of the upkeep.
CREATE INDEX loan_contracts_schedule ON loan_contracts (schedule_key) WHERE schedule_key IS NOT NULL;
CREATE INDEX loan_contracts_unscheduled ON loan_contracts (id)
  WHERE disbursed_on IS NOT NULL AND schedule_sha256 IS NULL;

-- The lines of payments: one for each sum that was paid to somebody, and one for each sum that came back. A line never
-- changes. Bound: as that of the signed contract; 200 lines of a contract.
CREATE TABLE disbursements (
  application_id bigint NOT NULL,
  contract_id bigint NOT NULL,
  -- 1, 2, 3 and so on.
  number integer NOT NULL CHECK (number BETWEEN 1 AND 200),
  kind text NOT NULL CHECK (kind IN ('paid', 'returned')),
  -- The number of the line that came back.
  returned integer,
  value_date date NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  recorded_by text NOT NULL,
  -- The second operator; NULL: one was enough.
  second text,
  -- Payee, amount and reference, sealed with the contract's secret.
  content bytea NOT NULL,
  -- The proof in the store of documents, sealed with the same secret, and its SHA-256. Lines may share a proof.
  proof_key text,
  proof_sha256 bytea,
  PRIMARY KEY (contract_id, number),
  CHECK ((kind = 'returned') = (returned IS NOT NULL) AND (proof_key IS NULL) = (proof_sha256 IS NULL))
);
CREATE INDEX disbursements_of_application ON disbursements (application_id, number);
CREATE INDEX disbursements_proof ON disbursements (proof_key) WHERE proof_key IS NOT NULL;
