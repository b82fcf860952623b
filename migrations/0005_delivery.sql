-- Delivery of the outbox: when each message is due, what the channel said, whom and what may not be sent to.

ALTER TABLE messages
  -- queued: when it may be claimed next; a worker that claims it moves this on, which is its lease.
  -- sending: when it is taken to be lost. uncertain: from when an operator may settle it.
  ADD COLUMN due_at timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN attempts smallint NOT NULL DEFAULT 0,
  -- The channel's own id of the last attempt.
  ADD COLUMN channel_message_id text,
  -- Why it waits, failed, is uncertain or was cancelled; a code, never personal data.
  ADD COLUMN reason text,
  ADD COLUMN changed_at timestamptz NOT NULL DEFAULT now();

CREATE INDEX messages_due ON messages (due_at) WHERE status IN ('queued', 'sending');
CREATE UNIQUE INDEX messages_channel_id ON messages (channel_message_id) WHERE channel_message_id IS NOT NULL;

-- When the applicant tapped "I am interested", the first time.
ALTER TABLE applications ADD COLUMN interested_at timestamptz;

-- Phones that asked for no more messages, by blind index. Kept: an opt-out does not expire.
CREATE TABLE suppressions (
  phone_index uuid PRIMARY KEY,
  -- keyword, channel or operator
  source text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Whom was sent to in the last 24 hours, for the pair limit and the limit of different recipients. Bound: the
-- upkeep deletes what is older.
CREATE TABLE recipients (
  phone_index uuid PRIMARY KEY,
  sent_at timestamptz NOT NULL,
  -- Until when the channel wants nothing sent to this one.
  paused_until timestamptz
);
CREATE INDEX recipients_sent_at ON recipients (sent_at);

-- The sender: its rate as a token bucket, and whether it is paused. One row, and the lock of who sends next.
CREATE TABLE sender (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  tokens double precision NOT NULL DEFAULT 0,
  refilled_at timestamptz NOT NULL DEFAULT now(),
  paused_at timestamptz,
  paused_reason text
);
INSERT INTO sender DEFAULT VALUES;

-- Templates that the channel refuses, until an operator resumes them.
CREATE TABLE paused_templates (
  name text PRIMARY KEY,
  reason text NOT NULL,
  paused_at timestamptz NOT NULL DEFAULT now()
);
