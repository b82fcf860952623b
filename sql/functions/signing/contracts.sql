-- Contracts and their evidence (D45, D46). The head of migrations/0009_signing.sql gives the order of locks.

-- Refuses a change of evidence, by every role. The chain shows a change by somebody who can take this trigger away.
CREATE OR REPLACE FUNCTION refuse_change_of_evidence() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of % stay as they are', TG_TABLE_NAME USING ERRCODE = '42501';
END
$$;
CREATE OR REPLACE TRIGGER contract_evidence_stays BEFORE UPDATE ON contract_evidence
  FOR EACH ROW EXECUTE FUNCTION refuse_change_of_evidence();
CREATE OR REPLACE TRIGGER contract_evidence_stays_all BEFORE TRUNCATE ON contract_evidence
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_evidence();
CREATE OR REPLACE TRIGGER disbursements_stay BEFORE UPDATE ON disbursements
  FOR EACH ROW EXECUTE FUNCTION refuse_change_of_evidence();
CREATE OR REPLACE TRIGGER disbursements_stay_all BEFORE TRUNCATE ON disbursements
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_evidence();

-- Keeps a signed contract as it is: nobody but the owner of the tables, as whom drop_contracts and forget_contracts
-- run, deletes it or changes it, but for its withdrawal, its payment, its final PDFs and a seal with another data key.
-- So those functions decide by what their caller cannot write. A signature is of the moment in which it is written.
CREATE OR REPLACE FUNCTION keep_signed_contract() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  v_free constant text[] := '{state,withdrawn_at,finishing_at,signed_key,signed_sha256,sealed,disbursed_on,schedule_key,schedule_sha256}';
BEGIN
  IF acts_as_owner_of('loan_contracts') THEN
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  END IF;
  IF TG_OP = 'UPDATE' AND OLD.state NOT IN ('signed', 'withdrawn') THEN
    IF NEW.signed_at BETWEEN now() - interval '1 minute' AND now() + interval '1 minute' THEN RETURN NEW; END IF;
  ELSIF TG_OP = 'UPDATE' AND to_jsonb(NEW) - v_free = to_jsonb(OLD) - v_free AND NEW.sealed IS NOT NULL
    AND ((NEW.state, NEW.withdrawn_at) IS NOT DISTINCT FROM (OLD.state, OLD.withdrawn_at)
      OR OLD.state = 'signed' AND NEW.state = 'withdrawn')
    AND (OLD.signed_sha256 IS NULL OR (NEW.signed_key, NEW.signed_sha256) = (OLD.signed_key, OLD.signed_sha256))
    AND (OLD.disbursed_on IS NULL OR NEW.disbursed_on = OLD.disbursed_on)
    AND (OLD.schedule_sha256 IS NULL
      OR (NEW.schedule_key, NEW.schedule_sha256) = (OLD.schedule_key, OLD.schedule_sha256))
  THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'a signed contract stays as it is' USING ERRCODE = '42501';
END
$$;
CREATE OR REPLACE TRIGGER loan_contracts_stay BEFORE UPDATE ON loan_contracts FOR EACH ROW
  WHEN (OLD.state IN ('signed', 'withdrawn') OR NEW.state IN ('signed', 'withdrawn'))
  EXECUTE FUNCTION keep_signed_contract();
CREATE OR REPLACE TRIGGER loan_contracts_stay_all BEFORE DELETE ON loan_contracts FOR EACH ROW
  WHEN (OLD.state IN ('signed', 'withdrawn')) EXECUTE FUNCTION keep_signed_contract();

-- Lets go of the contracts and the evidence of applications that have no signed contract: their codes, offers and
-- evidence are deleted, and their PDFs are to be deleted. Without its secret a PDF cannot be read any more, from now
-- on. Returns the applications whose signed contract stays; of these the debts that it pays stay too. Runs as the
-- owner, because the runtime role may not delete evidence: it deletes that which the erasure is of.
CREATE OR REPLACE FUNCTION drop_contracts(p_application_ids bigint[], p_erasure uuid) RETURNS SETOF bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_kept constant bigint[] := ARRAY(
    SELECT c.application_id FROM loan_contracts c
    WHERE c.application_id = ANY (p_application_ids) AND c.state IN ('signed', 'withdrawn'));
  v_free constant bigint[] := ARRAY(SELECT unnest(p_application_ids) EXCEPT SELECT unnest(v_kept));
BEGIN
  PERFORM require_erasure(p_erasure, p_application_ids);
  PERFORM FROM loan_contracts c WHERE c.application_id = ANY (p_application_ids) ORDER BY c.id FOR UPDATE;
  DELETE FROM loan_contracts c WHERE c.application_id = ANY (p_application_ids) AND c.state IN ('blocked', 'begun');
  UPDATE loan_contracts c SET state = 'dropped', sealed = NULL, terms = NULL
  WHERE c.application_id = ANY (p_application_ids) AND c.state IN ('making', 'open', 'expired');
  DELETE FROM signing_codes s WHERE s.application_id = ANY (p_application_ids);
  DELETE FROM contract_evidence e WHERE e.application_id = ANY (v_free);
  DELETE FROM loan_debts d WHERE d.application_id = ANY (p_application_ids)
    AND (d.contract_id IS NULL OR d.application_id = ANY (v_free));
  DELETE FROM debt_acceptances a WHERE a.application_id = ANY (p_application_ids);
  DELETE FROM loan_offers o WHERE o.application_id = ANY (p_application_ids);
  RETURN QUERY SELECT unnest(v_kept);
END
$$;
SELECT runs_as_owner('drop_contracts(bigint[], uuid)');

-- Lets go of what is old, 100 contracts of each kind at most: contracts without a signature after 120 days of the clock
-- and of elapsed time, unless the conversation goes on and may still lead to one; signed ones after p_years, and never
-- before five years. Evidence goes with the last contract of its application. The PDFs are to be deleted. Returns the
-- number of contracts. Runs as the owner: the runtime role may not delete evidence.
CREATE OR REPLACE FUNCTION forget_contracts(p_years integer) RETURNS integer
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
        AND NOT EXISTS (SELECT FROM conversations v WHERE v.application_id = c.application_id AND v.ended_at IS NULL)
      ORDER BY c.made_at LIMIT 100);
  v_applications bigint[];
  v_debts constant bigint[] := ARRAY(
    SELECT d.id FROM loan_debts d
    WHERE d.contract_id IS NULL AND d.added_at < now() - v_days AND d.elapsed_ms < elapsed_ms() - ms_of(v_days)
      AND NOT EXISTS (SELECT FROM conversations v WHERE v.application_id = d.application_id AND v.ended_at IS NULL)
    ORDER BY d.added_at LIMIT 1000);
BEGIN
  v_applications := ARRAY(SELECT DISTINCT c.application_id FROM loan_contracts c WHERE c.id = ANY (v_ids));
  UPDATE loan_contracts c SET state = 'dropped', sealed = NULL, terms = NULL WHERE c.id = ANY (v_ids);
  v_applications := ARRAY(
    SELECT u.id FROM unnest(v_applications) AS u(id)
    WHERE NOT EXISTS (SELECT FROM loan_contracts c WHERE c.application_id = u.id AND c.state <> 'dropped'));
  DELETE FROM signing_codes s WHERE s.application_id = ANY (v_applications);
  DELETE FROM contract_evidence e WHERE e.application_id = ANY (v_applications);
  DELETE FROM loan_debts d WHERE d.contract_id = ANY (v_ids) OR d.id = ANY (v_debts);
  RETURN cardinality(v_ids);
END
$$;
SELECT runs_as_owner('forget_contracts(integer)');

-- Deletes a dropped contract, whose PDFs are gone, with the lines of its payment. Runs as the owner: the runtime role
-- may not delete lines, and a signed contract becomes a dropped one by forget_contracts alone.
CREATE OR REPLACE FUNCTION delete_dropped_contract(p_id bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM loan_contracts c WHERE c.id = p_id AND c.state = 'dropped' FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  DELETE FROM disbursements d WHERE d.contract_id = p_id;
  DELETE FROM loan_contracts c WHERE c.id = p_id;
END
$$;
SELECT runs_as_owner('delete_dropped_contract(bigint)');
