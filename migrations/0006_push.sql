-- Pushes: partner events on their way to the endpoints of their partners (D41).
--
-- The order of locks: rows of partner_endpoints in the order of their partners, then rows of pushes. claim_pushes uses
-- SKIP LOCKED and so waits for nothing; after_partner_events, which runs in the transactions of the events, only
-- inserts.
--
-- Times are the database's own, and its clock may step (D39). A time that was written while the clock was ahead is
-- corrected by the upkeep (mend_pushes). What may end after days (a push, an endpoint, an old secret) is judged by
-- elapsed_ms(), which no step of the clock can move on.

-- Where a partner wants its events pushed to. One row a partner that asked for it.
CREATE TABLE partner_endpoints (
  partner_id integer PRIMARY KEY,
  -- The URL and the signing secrets, sealed: a URL may hold a secret too.
  sealed bytea NOT NULL,
  set_at timestamptz NOT NULL,
  -- Which setting of the URL this is. What becomes of an attempt on an earlier one says nothing about the endpoint.
  version integer NOT NULL DEFAULT 1,
  -- The partner has asked for the events of conversations too (D47).
  conversation_events boolean NOT NULL DEFAULT false,
  -- elapsed_ms() of the last rotation. For a day after it, pushes are also signed with the secret from before.
  rotated_ms bigint,
  -- Set while nothing is pushed: by an operator, or because the endpoint is dead.
  disabled_at timestamptz,
  disabled_reason text,
  -- Events in a row whose first push failed.
  failures integer NOT NULL DEFAULT 0,
  -- elapsed_ms() of the first failure since the last success.
  failing_ms bigint,
  last_failure text,
  last_failure_at timestamptz,
  last_success_at timestamptz,
  -- Since when there were too many failures, so that only probes go out; how many have, and when the next one does.
  broken_at timestamptz,
  probes integer NOT NULL DEFAULT 0,
  probe_at timestamptz
) WITH (fillfactor = 50);

-- Events that wait for their push, or whose push is under way. A push that succeeded is deleted, and so is one that
-- was given up: the event stays in the feed.
CREATE TABLE pushes (
  partner_id integer NOT NULL,
  number bigint NOT NULL,
  application_id bigint NOT NULL,
  -- elapsed_ms() when the push was queued.
  queued_ms bigint NOT NULL,
  -- When the two times below were set.
  set_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  -- Until then an attempt is under way. After it the process that made the attempt counts as dead.
  leased_until timestamptz,
  attempts smallint NOT NULL DEFAULT 0,
  PRIMARY KEY (partner_id, number)
) WITH (fillfactor = 70);
CREATE INDEX pushes_due ON pushes (partner_id, due_at, number);
CREATE INDEX pushes_application ON pushes (partner_id, application_id, number);
CREATE INDEX pushes_set_at ON pushes USING brin (set_at) WITH (pages_per_range = 16);

-- What became of an attempt. delivered, failed, gone (the endpoint said that it is gone for good) are about the
-- endpoint. unsent: the push was not sent because of our own data. forgotten: its event was deleted for its age.
CREATE TYPE push_result AS ENUM ('delivered', 'failed', 'gone', 'unsent', 'forgotten');
