-- Schema 2, additive.
-- The views of applications beside the review queue (docs/operators.md, "Views").

-- What is signed and not paid out, by the time from which it may be paid: the end of the withdrawal period, or the
-- signature where the country has none.
CREATE INDEX application_states_signed ON application_states ((coalesce(withdrawable_until, signed_at)), application_id)
  WHERE status = 'pending_signature' AND signed_at IS NOT NULL;
-- The reviews that decided, by time.
CREATE INDEX application_events_reviews ON application_events (at, application_id)
  WHERE from_status = 'in_review' AND to_status <> 'in_review';
