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

-- The registration's message has the id of its application. A later message of the same application has 2^53 (approved)
-- or 2^54 (rejected) more, and its reminder 2^55: ids of applications are below 2^53, and an application has one
-- message of a type at most.
CREATE FUNCTION application_of_message(p_message_id bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_message_id & 9007199254740991;

-- The batch of a message.
CREATE FUNCTION batch_of_message(p_message_id bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (p_message_id & 9007199254740991) >> 7;

-- The type of message that fits a status; NULL: no type does.
CREATE FUNCTION message_type_for(p_status application_status) RETURNS message_type LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN p_status = 'in_review' THEN 'offer'::message_type WHEN p_status = 'pending_signature' THEN 'approved'
  WHEN p_status = 'rejected' THEN 'rejected' END;

-- The id of the message after a review that leads to a status.
CREATE FUNCTION message_after_review(p_application_id bigint, p_status application_status) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_application_id + CASE WHEN p_status = 'pending_signature' THEN 9007199254740992
  WHEN p_status = 'rejected' THEN 18014398509481984 END;

-- The id of the reminder of an application, and whether a message is a reminder.
CREATE FUNCTION reminder_of(p_application_id bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_application_id + 36028797018963968;
CREATE FUNCTION is_reminder(p_message_id bigint) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_message_id >= 36028797018963968;

-- The letter that stands for a type in outbox and leases, and the type that a letter stands for.
CREATE FUNCTION letter_of(p_type message_type) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE p_type WHEN 'approved' THEN 'a' WHEN 'offer' THEN 'o' WHEN 'rejected' THEN 'r' WHEN 'reminder' THEN 'm' END;
CREATE FUNCTION message_type_of(p_letter text) RETURNS message_type LANGUAGE sql IMMUTABLE
RETURN CASE p_letter WHEN 'a' THEN 'approved'::message_type WHEN 'o' THEN 'offer' WHEN 'r' THEN 'rejected'
  WHEN 'm' THEN 'reminder' END;

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

CREATE FUNCTION is_waiting(p_status message_status) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN p_status IN ('queued', 'uncertain', 'failed');

-- The number of messages of each status, without a count, which takes seconds among millions. The rows of a status
-- add up to its number. Every statement that moves messages adds its changes, in its own transaction, so that the sum
-- is exact in every snapshot, and no session waits for a row of another one. Bound: the upkeep folds the rows of a
-- status.
CREATE TABLE message_counts (
  status message_status NOT NULL,
  count bigint NOT NULL
);

-- A statement that inserts records keeps the counts and waiting_messages in step itself, because a trigger costs four
-- times as much.
CREATE FUNCTION note_records() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  -- Where the database is spread over machines, no statement may read these tables and write another one.
  v_statuses message_status[];
  v_changes bigint[];
  v_left_ids bigint[];
  v_left_statuses message_status[];
  v_come_ids bigint[];
  v_come_statuses message_status[];
  v_come_due timestamptz[];
  v_come_partners integer[];
BEGIN
  SELECT array_agg(g.message_id), array_agg(g.status) INTO v_left_ids, v_left_statuses
  FROM gone g WHERE is_waiting(g.status);
  IF TG_OP = 'DELETE' THEN
    SELECT array_agg(s.status), array_agg(s.change) INTO v_statuses, v_changes
    FROM (SELECT g.status, -count(*) AS change FROM gone g GROUP BY g.status) AS s;
  ELSE
    SELECT array_agg(s.status), array_agg(s.change) INTO v_statuses, v_changes FROM (
      SELECT c.status, sum(c.change) AS change FROM (
        SELECT status, 1 AS change FROM came UNION ALL SELECT status, -1 FROM gone
      ) AS c GROUP BY c.status HAVING sum(c.change) <> 0
    ) AS s;
    SELECT array_agg(c.message_id), array_agg(c.status), array_agg(c.due_at), array_agg(c.partner_id)
    INTO v_come_ids, v_come_statuses, v_come_due, v_come_partners FROM came c WHERE is_waiting(c.status);
  END IF;
  IF v_statuses IS NOT NULL THEN
    INSERT INTO message_counts SELECT g.status, g.change FROM unnest(v_statuses, v_changes) AS g(status, change);
  END IF;
  IF v_left_ids IS NOT NULL THEN
    DELETE FROM waiting_messages w USING unnest(v_left_statuses, v_left_ids) AS g(status, id)
    WHERE w.status = g.status AND w.message_id = g.id;
  END IF;
  IF v_come_ids IS NOT NULL THEN
    INSERT INTO waiting_messages (status, message_id, due_at, partner_id)
    SELECT g.status, g.id, g.due_at, g.partner_id
    FROM unnest(v_come_statuses, v_come_ids, v_come_due, v_come_partners) AS g(status, id, due_at, partner_id);
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER records_gone AFTER DELETE ON message_records REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION note_records();
CREATE TRIGGER records_changed AFTER UPDATE ON message_records REFERENCING OLD TABLE AS gone NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION note_records();

-- What the runtime role may do (0001_shared.sql).
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'outbox');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'waiting_rejections');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'leases');
SELECT runtime_may('SELECT, INSERT, UPDATE', 'message_records');
SELECT runtime_may('SELECT, INSERT, DELETE', 'waiting_messages');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'message_counts');
