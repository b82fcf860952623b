-- The first offer that was shown of an application waits to be counted. Evidence has no index by time, and a clock that
-- steps would hide rows from a look by time; a row of a queue is counted once.
CREATE OR REPLACE FUNCTION note_first_offer() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO business_offers (application_id, at)
  SELECT NEW.application_id, NEW.recorded_at
  WHERE NOT EXISTS (
    SELECT FROM contract_evidence e
    WHERE e.application_id = NEW.application_id AND e.kind = 'offer_shown' AND e.number < NEW.number)
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER contract_evidence_offered AFTER INSERT ON contract_evidence
  FOR EACH ROW WHEN (NEW.kind = 'offer_shown') EXECUTE FUNCTION note_first_offer();
