-- Contracts, their codes and the evidence of their signature (src/signing, D45, D46).
--
-- Locks: the application's row of application_states comes first, then loan_contracts, then signing_codes; the lock of
-- an application's evidence comes last of these.

-- The contracts of applications. No row holds a value of the person: the PDFs lie in the store of documents, sealed
-- with a secret of their own that `sealed` holds. Bound: a signed contract stays for the legal term (CONTRACT_YEARS),
-- any other one for 120 days.
CREATE TABLE loan_contracts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  application_id bigint NOT NULL,
  -- making: its PDF may lie in the store. open: it may be shown and signed. dropped: its PDFs are to be deleted.
  -- blocked: nobody gets a contract, for the reason in `reason`. begun: there is evidence, and no contract yet.
  state text NOT NULL
    CHECK (state IN ('making', 'open', 'signed', 'withdrawn', 'expired', 'dropped', 'blocked', 'begun')),
  reason text,
  made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The elapsed time (0001_shared.sql) when the row was made, and when it was signed: nothing is deleted early.
  elapsed_ms bigint NOT NULL,
  -- The country, the terms and the offer, without a value of the person (src/signing/sql/contracts.ts).
  terms jsonb,
  -- The keys of the PDFs in the store of documents: the one that is shown, and the final one.
  shown_key text,
  signed_key text,
  -- The secret that seals both, itself sealed with a data key.
  sealed bytea,
  -- SHA-256 of the PDF that is shown, and of the final one with its certificate.
  sha256 bytea,
  signed_sha256 bytea,
  -- A process makes the final PDF; after a minute another one may.
  finishing_at timestamptz,
  expires_at timestamptz,
  signed_at timestamptz,
  withdrawn_at timestamptz
);
-- One contract at a time may be signed, and one signature is for ever.
CREATE UNIQUE INDEX loan_contracts_open ON loan_contracts (application_id)
  WHERE state IN ('open', 'signed', 'withdrawn');
CREATE UNIQUE INDEX loan_contracts_blocked ON loan_contracts (application_id) WHERE state = 'blocked';
CREATE INDEX loan_contracts_of_application ON loan_contracts (application_id);
-- The work of the upkeep.
CREATE INDEX loan_contracts_expiring ON loan_contracts (expires_at) WHERE state = 'open';
CREATE INDEX loan_contracts_unfinished ON loan_contracts (id)
  WHERE state IN ('signed', 'withdrawn') AND signed_sha256 IS NULL;
CREATE INDEX loan_contracts_dropped ON loan_contracts (id) WHERE state = 'dropped';
CREATE INDEX loan_contracts_signed ON loan_contracts (signed_at) WHERE state IN ('signed', 'withdrawn');
CREATE INDEX loan_contracts_unsigned ON loan_contracts (made_at)
  WHERE state IN ('making', 'open', 'expired', 'blocked', 'begun');

-- Rounds of proof: the last four characters of the ID number, then a code. Five tries a round, five rounds of an
-- application an hour, ten codes of a phone a day, and the operator's bound of a country an hour. Bound: two days.
CREATE TABLE signing_codes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  application_id bigint NOT NULL,
  contract_id bigint NOT NULL,
  began_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ends_at timestamptz NOT NULL,
  -- As in loan_contracts.
  elapsed_ms bigint NOT NULL,
  tries smallint NOT NULL DEFAULT 0,
  -- When the last four characters were right, in this round or in the one before it.
  id_checked_at timestamptz,
  -- HMAC of the code with the application and the contract; NULL: no code was sent yet.
  code_mac bytea,
  -- The way of the code: sms, channel or simulator.
  way text,
  -- Where the code goes: HMAC of the phone, and its country.
  phone_mac bytea,
  country text,
  coded_at timestamptz,
  sent_at timestamptz,
  -- The code was right: it is good for one signature.
  used_at timestamptz
);
CREATE INDEX signing_codes_of_application ON signing_codes (application_id, id);
CREATE INDEX signing_codes_began ON signing_codes (began_at);
CREATE INDEX signing_codes_phone ON signing_codes (phone_mac, coded_at) WHERE phone_mac IS NOT NULL;
CREATE INDEX signing_codes_country ON signing_codes (country, coded_at) WHERE country IS NOT NULL;

-- What happened on the way to a signature: a chain of rows for each application, in which each MAC covers the row
-- before (docs/signing.md). A row has hashes, blind indexes, ids and times. Bound: as that of the application's
-- contract.
CREATE TABLE contract_evidence (
  application_id bigint NOT NULL,
  -- 1, 2, 3 and so on, without gaps.
  number integer NOT NULL,
  recorded_at timestamptz NOT NULL,
  kind text NOT NULL,
  -- By whoever saw it; NULL: it happened when it was recorded.
  happened_at timestamptz,
  -- JSON, whose bytes the MAC covers.
  facts text NOT NULL,
  -- Which of the INDEX_KEYs the chain's key comes from: 0 is the oldest one.
  key_number smallint NOT NULL,
  mac bytea NOT NULL,
  PRIMARY KEY (application_id, number)
);

-- Refuses a change of evidence, by every role. The chain shows a change by somebody who can take this trigger away.
CREATE FUNCTION refuse_change_of_evidence() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of % stay as they are', TG_TABLE_NAME USING ERRCODE = '42501';
END
$$;
CREATE TRIGGER contract_evidence_stays BEFORE UPDATE ON contract_evidence
  FOR EACH ROW EXECUTE FUNCTION refuse_change_of_evidence();
CREATE TRIGGER contract_evidence_stays_all BEFORE TRUNCATE ON contract_evidence
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_evidence();

-- Lets go of the contracts and the evidence of applications that have no signed contract: their codes and evidence are
-- deleted, and their PDFs are to be deleted. Without its secret a PDF cannot be read any more, from now on. Returns the
-- applications whose signed contract stays. Runs as the owner, because the runtime role may not delete evidence.
CREATE FUNCTION drop_contracts(p_application_ids bigint[]) RETURNS SETOF bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_kept constant bigint[] := ARRAY(
    SELECT c.application_id FROM loan_contracts c
    WHERE c.application_id = ANY (p_application_ids) AND c.state IN ('signed', 'withdrawn'));
  v_free constant bigint[] := ARRAY(SELECT unnest(p_application_ids) EXCEPT SELECT unnest(v_kept));
BEGIN
  PERFORM FROM loan_contracts c WHERE c.application_id = ANY (p_application_ids) ORDER BY c.id FOR UPDATE;
  DELETE FROM loan_contracts c WHERE c.application_id = ANY (p_application_ids) AND c.state IN ('blocked', 'begun');
  UPDATE loan_contracts c SET state = 'dropped', sealed = NULL, terms = NULL
  WHERE c.application_id = ANY (p_application_ids) AND c.state IN ('making', 'open', 'expired');
  DELETE FROM signing_codes s WHERE s.application_id = ANY (p_application_ids);
  DELETE FROM contract_evidence e WHERE e.application_id = ANY (v_free);
  RETURN QUERY SELECT unnest(v_kept);
END
$$;
SELECT runs_as_owner('drop_contracts(bigint[])');

-- Lets go of what is old, 100 contracts of each kind at most: contracts without a signature after 120 days of the clock
-- and of elapsed time, signed ones after p_years, and never before five years. Evidence goes with the last contract of
-- its application. The PDFs are to be deleted. Returns the number of contracts. Runs as the owner: the runtime role may
-- not delete evidence.
CREATE FUNCTION forget_contracts(p_years integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_term constant interval := make_interval(years => greatest(p_years, 5));
  v_days constant interval := interval '120 days';
  v_ids constant bigint[] := ARRAY(
      SELECT c.id FROM loan_contracts c
      WHERE c.state IN ('signed', 'withdrawn') AND c.signed_at < now() - v_term
        AND c.elapsed_ms < elapsed_ms() - ms_of(v_term)
      ORDER BY c.signed_at LIMIT 100)
    || ARRAY(
      SELECT c.id FROM loan_contracts c
      WHERE c.state IN ('making', 'open', 'expired', 'blocked', 'begun') AND c.made_at < now() - v_days
        AND c.elapsed_ms < elapsed_ms() - ms_of(v_days)
      ORDER BY c.made_at LIMIT 100);
  v_applications bigint[];
BEGIN
  v_applications := ARRAY(SELECT DISTINCT c.application_id FROM loan_contracts c WHERE c.id = ANY (v_ids));
  UPDATE loan_contracts c SET state = 'dropped', sealed = NULL, terms = NULL WHERE c.id = ANY (v_ids);
  v_applications := ARRAY(
    SELECT u.id FROM unnest(v_applications) AS u(id)
    WHERE NOT EXISTS (SELECT FROM loan_contracts c WHERE c.application_id = u.id AND c.state <> 'dropped'));
  DELETE FROM signing_codes s WHERE s.application_id = ANY (v_applications);
  DELETE FROM contract_evidence e WHERE e.application_id = ANY (v_applications);
  RETURN cardinality(v_ids);
END
$$;
SELECT runs_as_owner('forget_contracts(integer)');

-- What the runtime role may do (0001_shared.sql).
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'loan_contracts');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'signing_codes');
SELECT runtime_may('SELECT, INSERT', 'contract_evidence');
