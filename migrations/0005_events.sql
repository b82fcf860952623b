-- Partner events: what changed on a partner's applications after their registration (D41).
--
-- The events of a partner are numbered 1, 2, 3 and so on, in the order in which their transactions commit: the row of
-- the partner in partner_event_totals stays locked from the number to the commit. So a reader never sees a number
-- before a smaller one, and there are no gaps. This lock is the last one that a transaction takes, and a transaction
-- with events of several partners takes the locks in the order of the partners (the head of 0004_messages.sql has the
-- order of the other locks).

CREATE TYPE partner_event_type AS ENUM ('application.status_changed', 'application.interested', 'message.failed',
  'conversation.started', 'documents.received', 'income.verified', 'contract.signed', 'contract.withdrawn',
  'conversation.ended');

CREATE TABLE partner_event_totals (
  partner_id integer PRIMARY KEY,
  -- The number of the newest event.
  last bigint NOT NULL,
  -- Events up to this number were deleted for their age.
  forgotten bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- The fields from from_status on are NULL where the type of the event has no such field. No personal data: the ID
-- number of the applicant is read from the envelope when the event is told. Bound: the upkeep deletes old events.
CREATE TABLE partner_events (
  partner_id integer NOT NULL,
  number bigint NOT NULL,
  at timestamptz NOT NULL,
  -- elapsed_ms() at that time.
  stored_ms bigint NOT NULL,
  application_id bigint NOT NULL,
  type partner_event_type NOT NULL,
  from_status application_status,
  to_status application_status,
  reason_code text,
  message_type message_type,
  -- Of income.verified and conversation.ended: a code.
  outcome text,
  PRIMARY KEY (partner_id, number)
);
