-- The makings that were cut off, which the upkeep looks for every 15 seconds: without the index it reads every
-- application of 120 days that got no contract.
CREATE INDEX loan_contracts_making ON loan_contracts (elapsed_ms) WHERE state = 'making';

-- Lets go of what is old, 100 contracts of each kind at most: contracts without a signature after 120 days of the clock
-- and of elapsed time, unless the conversation goes on and may still lead to one; signed ones after p_years, and never
-- before five years. Evidence goes with the last contract of its application. The PDFs are to be deleted. Returns the
-- number of contracts. Runs as the owner: the runtime role may not delete evidence.
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
        AND NOT EXISTS (SELECT FROM conversations v WHERE v.application_id = c.application_id AND v.ended_at IS NULL)
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
