-- Schema 2, additive.
-- The applications to which an offer was shown, by time (docs/business.md, "The list behind a number").

-- Only the offers among the evidence: other rows cost nothing.
CREATE INDEX contract_evidence_offers ON contract_evidence (recorded_at, application_id) WHERE kind = 'offer_shown';
