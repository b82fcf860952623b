-- Delivery: when each message is due, what the channel said, and which phones may not get messages.
--
-- A message is in one of three tables, so that it costs little while nothing goes wrong:
-- - outbox: the message waits for its first send, and no worker or operator has touched it. One row a batch.
-- - leases: its first send has begun, and no result is recorded. One row a turn of a worker.
-- - message_records: any other message, and a message after a review from its beginning. One row a message.
--
-- The view `messages` shows all of them. A statement that changes a single message makes its record first
-- (make_messages).
--
-- The order of locks. A transaction locks rows in this order of tables, and within one table in the order of its key;
-- or it uses SKIP LOCKED, which does not wait. So no two transactions wait for each other in a circle: early_events
-- (with SKIP LOCKED), conversations, application_states, review_queue, review_items, open_phones, replies, outbox,
-- leases, message_records (new rows, then existing ones), waiting_messages, waiting_rejections (those of messages that
-- the transaction has locked; others with SKIP LOCKED), sender, paused_templates (a row, or the whole table),
-- recipients, channel_users, suppressions, partner_event_totals. Ids of more than 16 partitions are locked run by run;
-- should two such transactions meet in a circle, the one that PostgreSQL ends begins anew.
--
-- Times are the database's own, and its clock may step. A time in the future that no statement asked for comes from a
-- clock that was ahead: no message waits for it, and the upkeep corrects it (mend_leap).

CREATE TYPE message_type AS ENUM ('approved', 'offer', 'rejected', 'reminder');

CREATE TYPE message_status AS ENUM ('queued', 'sending', 'accepted', 'sent', 'delivered', 'read', 'failed',
  'uncertain', 'cancelled');

-- Messages that are untouched since their registration, due at once.
CREATE TABLE outbox (
  batch_id bigint PRIMARY KEY,
  partner_id integer NOT NULL,
  created_at timestamptz NOT NULL,
  -- The positions with a message, ascending, and the type of each message: its letter (letter_of).
  positions smallint[] NOT NULL,
  types text NOT NULL
);
-- Workers take messages of the partners in turn.
CREATE INDEX outbox_turn ON outbox (partner_id, batch_id);

-- The `rejected` messages that wait, by phone: each gives way to a later message of its partner to its phone (D42),
-- also where another turn claims that one. Other messages need no such row, because an open application has its phone
-- in open_phones. A row may stay when its message waits no more. Delivery deletes only the rows of messages that it
-- cancels, of which a phone may have thousands. Bound: the upkeep deletes the others.
CREATE TABLE waiting_rejections (
  -- Blind index.
  phone_index bigint NOT NULL,
  partner_id integer NOT NULL,
  message_id bigint NOT NULL,
  PRIMARY KEY (phone_index, partner_id, message_id)
);

-- The messages that a turn of a worker sends. The upkeep deletes a lease whose messages are all recorded.
CREATE TABLE leases (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  begun_at timestamptz NOT NULL,
  -- From when on a message without a record counts as lost.
  lost_at timestamptz NOT NULL,
  -- The messages, ascending; the type of each one, as in outbox; and the number of its attempt.
  ids bigint[] NOT NULL,
  types text NOT NULL,
  attempts smallint[] NOT NULL
);

-- Messages since the answer to their first send, or since they were put off or cancelled before; messages after reviews
-- from their beginning. No column that changes often has an index, so that an update writes none (HOT). Partitioned as
-- batches are, because the keys of the index on the channel's ids are random; each partition has its own indexes, as
-- those of batches have.
CREATE TABLE message_records (
  message_id bigint NOT NULL,
  changed_at timestamptz NOT NULL,
  -- queued: when the message may be claimed next. uncertain: from when on an operator may settle it. Otherwise
  -- without meaning.
  due_at timestamptz,
  -- 8-byte blind index of the channel's own id of the last attempt. The id itself may contain the phone.
  channel_message_id bigint,
  type message_type NOT NULL,
  status message_status NOT NULL,
  attempts smallint NOT NULL,
  -- Attempts since an operator last queued the message again, or all: after too many of them it fails.
  tries smallint NOT NULL,
  -- 0: the batch is deleted.
  partner_id integer NOT NULL,
  -- Why the message waits, failed, is uncertain or was cancelled; a code, never personal data.
  reason text
) PARTITION BY RANGE (message_id);

-- The messages after reviews and the reminders, of all batches: there are few.
CREATE TABLE message_records_after_reviews PARTITION OF message_records (PRIMARY KEY (message_id))
  FOR VALUES FROM (9007199254740992) TO (45035996273704960) WITH (fillfactor = 80);
-- Not unique, as in the other partitions: if a channel gives one id twice, the records of other messages must not fail
-- because of that.
CREATE INDEX ON message_records_after_reviews (channel_message_id) WHERE channel_message_id IS NOT NULL;

-- The records that wait for their time or for an operator: queued, uncertain, failed. A trigger keeps the table in
-- step.
CREATE TABLE waiting_messages (
  status message_status NOT NULL,
  message_id bigint NOT NULL,
  due_at timestamptz,
  partner_id integer NOT NULL,
  PRIMARY KEY (status, message_id)
);
CREATE INDEX waiting_messages_due ON waiting_messages (status, due_at);
CREATE INDEX waiting_messages_turn ON waiting_messages (partner_id, due_at) WHERE status = 'queued';

-- The number of messages of each status, without a count, which takes seconds among millions. The rows of a status
-- add up to its number. Every statement that moves messages adds its changes, in its own transaction, so that the sum
-- is exact in every snapshot, and no session waits for a row of another one. Bound: the upkeep folds the rows of a
-- status.
CREATE TABLE message_counts (
  status message_status NOT NULL,
  count bigint NOT NULL
);

-- Recipients of the last 24 hours, for the pair gap, the limits of a phone (D42) and the limit of different recipients.
-- Bound: the upkeep deletes older ones.
CREATE TABLE recipients (
  phone_index bigint PRIMARY KEY,
  sent_at timestamptz NOT NULL,
  -- elapsed_ms() at that time.
  sent_ms bigint NOT NULL DEFAULT 0,
  -- The last message: when its record changed, the channel had answered.
  message_id bigint NOT NULL,
  -- When the channel answered, if the record does not tell it (record_send_results).
  answered_at timestamptz,
  -- Of the last message.
  partner_id integer NOT NULL,
  is_rejected boolean NOT NULL,
  -- The messages before the last one, newest first, 19 at most; NULL: none. A message that was sent again is there
  -- once, with the time of its last send.
  earlier_ids bigint[],
  earlier_at timestamptz[],
  earlier_partners integer[],
  earlier_rejected boolean[]
) WITH (fillfactor = 90);
-- New rows lie together, so ranges of pages tell as much as an index on each row.
CREATE INDEX recipients_sent_at ON recipients USING brin (sent_at) WITH (pages_per_range = 16);

-- The sender: its rate as a token bucket, its credit at the channel, and whether it is paused. One row, whose lock
-- lets one worker decide at a time.
CREATE TABLE sender (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  tokens double precision NOT NULL DEFAULT 0,
  refilled_at timestamptz NOT NULL DEFAULT now(),
  -- The latest time that a worker has seen: if the clock is behind it, the clock has stepped back.
  latest_at timestamptz NOT NULL DEFAULT now(),
  paused_at timestamptz,
  paused_reason text,
  -- Messages that may go out before the channel has answered for more: see sender_credit.
  credit double precision NOT NULL DEFAULT 10,
  -- When the channel last answered about a message, whatever it answered.
  alive_at timestamptz,
  -- Sends since then without an answer about their message.
  failures integer NOT NULL DEFAULT 0,
  -- Since when there were too many of these, so that only probes go out; how many have, and when the next one does.
  broken_at timestamptz,
  broken_reason text,
  probes integer NOT NULL DEFAULT 0,
  probe_at timestamptz,
  -- Different phones in the last 24 hours, or more: those of the last count and those that came since; NULL: not
  -- counted. When they were counted, and from when on the first of them does not count any more.
  recent_phones bigint,
  counted_at timestamptz,
  room_at timestamptz,
  -- Partners that have used up their share of these phones; when they were counted, and recent_phones at that time.
  sated_partners integer[] NOT NULL DEFAULT '{}',
  sated_at timestamptz,
  sated_phones bigint,
  -- The partner whose turn was the last.
  last_partner integer NOT NULL DEFAULT 0
);
INSERT INTO sender DEFAULT VALUES;

-- Templates that the channel refuses, until an operator resumes them.
CREATE TABLE paused_templates (
  name text PRIMARY KEY,
  reason text NOT NULL,
  paused_at timestamptz NOT NULL DEFAULT now()
);

-- Status events without our callback that came before the record of their message. Bound: an hour.
CREATE TABLE early_events (
  -- Blind index.
  channel_message_id bigint NOT NULL,
  status text NOT NULL,
  at timestamptz NOT NULL,
  -- What a failure means; NULL for the other statuses.
  failure jsonb,
  -- Blind index of the recipient's id at the channel; NULL: the channel did not tell.
  user_index bigint,
  -- elapsed_ms() when the event came.
  came_ms bigint NOT NULL,
  PRIMARY KEY (channel_message_id, status)
);
CREATE INDEX early_events_came ON early_events (came_ms);

-- Which phones get no messages, by blind index. One row a phone, so that a change of it waits for the change before,
-- and the last one to commit holds. Changes of operators hold in the order in which they come. Those of the channel
-- carry its own time and come late, repeated and in any order, so they are compared by that time. Bound: active rows
-- are kept, because an opt-out does not expire; the upkeep deletes others 30 days after the last change; the channel
-- repeats its events for 7.
CREATE TABLE suppressions (
  phone_index bigint PRIMARY KEY,
  -- The phone gets no message.
  active boolean NOT NULL DEFAULT true,
  -- The source: keyword, channel or operator.
  source text NOT NULL,
  -- When the source last asked.
  created_at timestamptz NOT NULL DEFAULT now(),
  -- By the database's clock: when the phone was last suppressed or lifted.
  changed_at timestamptz NOT NULL DEFAULT now(),
  -- By the channel's clock: the latest known opt-out and resume.
  stopped_at timestamptz,
  resumed_at timestamptz,
  -- By the database's clock: when an operator last lifted the suppression; and the latest opt-out that was known
  -- then.
  lifted_at timestamptz,
  lifted_stop timestamptz,
  -- elapsed_ms() of the last change.
  heard_ms bigint NOT NULL DEFAULT elapsed_ms()
);
CREATE INDEX suppressions_newest ON suppressions (created_at, phone_index);
-- Conversations hear of opt-outs by their time.
CREATE INDEX suppressions_changed ON suppressions (changed_at) WHERE active;

-- The channel's own ids of persons, by blind index, with the phone of each person. The channel leaves out the phone of
-- a person with a user name, but an opt-out of the person has to hold for the phone. Statuses of messages, and answers
-- that have both id and phone, tell which phone belongs to an id. Bound: one row a person; the upkeep deletes the row
-- about a year after the person's last event.
CREATE TABLE channel_users (
  user_index bigint PRIMARY KEY,
  -- Blind index; NULL: not known yet.
  phone_index bigint,
  -- The latest opt-out and resume, by the channel's clock, that came before the phone was known, and the source of the
  -- opt-out.
  stopped_at timestamptz,
  stop_source text,
  resumed_at timestamptz,
  -- elapsed_ms() of the person's last event, rounded down to 30 days where the phone is known.
  heard_ms bigint NOT NULL
);
CREATE INDEX channel_users_heard ON channel_users (heard_ms);
-- A person is erased by the phone.
CREATE INDEX channel_users_phone ON channel_users (phone_index) WHERE phone_index IS NOT NULL;

-- Messages that the caller has locked and found queued, in the order of the partners' turns; an element a message.
CREATE TYPE claimed_messages AS (
  ids bigint[],
  types message_type[],
  -- Sends so far; NULL: the message was in the outbox.
  attempts smallint[],
  phones bigint[],
  partners integer[],
  templates text[]
);

-- What was decided on messages, an element each. A reason that is NULL: the message goes out. due_at: when a message
-- that waits is due.
CREATE TYPE send_decisions AS (
  reasons text[],
  statuses message_status[],
  due_at timestamptz[]
);

-- Replies: answers to what persons wrote, a class of messages of their own (docs/messages.md). One row a turn of a
-- conversation. On a cluster the table is the coordinator's. Bound: the row goes with its application; the upkeep
-- deletes the rows of applications that are gone.
CREATE TABLE replies (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  application_id bigint NOT NULL,
  turn integer NOT NULL,
  partner_id integer NOT NULL,
  -- Blind index.
  phone_index bigint NOT NULL,
  -- Sealed. Its first byte is the id of the data key.
  content bytea NOT NULL,
  -- The channel takes the reply until then.
  window_until timestamptz NOT NULL,
  status message_status NOT NULL DEFAULT 'queued',
  -- As in message_records.
  reason text,
  -- Since it went out somebody has said that the phone is not the applicant's (D43): it does not go out again.
  never_again boolean NOT NULL DEFAULT false,
  attempts smallint NOT NULL DEFAULT 0,
  -- queued: when the reply may be claimed next. sending: from when on it counts as lost. Otherwise without meaning.
  due_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- 8-byte blind index of the channel's own id of the last attempt.
  channel_message_id bigint,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When the channel took it by the database's clock; when it reached its phone, and was read, by the channel's.
  sent_at timestamptz,
  delivered_at timestamptz,
  read_at timestamptz,
  -- Of an answer to a person without a conversation (its turn is below 1): when the upkeep first saw it, by the elapsed
  -- time (D39), because a clock that leaps makes nothing old. NULL: it has not seen it.
  seen_ms bigint,
  -- A turn has one reply for ever, however often it is queued.
  UNIQUE (application_id, turn)
);
CREATE INDEX replies_waiting ON replies (status, due_at) WHERE status IN ('queued', 'sending');
CREATE INDEX replies_uncertain ON replies (window_until) WHERE status = 'uncertain';
CREATE INDEX replies_channel ON replies (channel_message_id) WHERE channel_message_id IS NOT NULL;
-- The search for what a data key has sealed.
CREATE INDEX replies_key ON replies (substring(content FROM 1 FOR 1), id);
-- A person is erased by the phone.
CREATE INDEX replies_phone ON replies (phone_index);
-- The answer to a person without a conversation goes before its application does (docs/upkeep.md).
CREATE INDEX replies_strangers ON replies (seen_ms) WHERE turn < 1;
