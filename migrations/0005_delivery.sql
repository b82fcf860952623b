-- Delivery: when each message is due, what the channel said, and which phones may not get messages.
--
-- A message is in one of three places, so that it costs little while nothing goes wrong:
-- - outbox: the message waits for its first send, and no worker or operator has touched it. One row a batch.
-- - leases: its first send has begun, and no result is recorded. One row a turn of a worker.
-- - message_records: any other message, and a message after a review from its beginning. One row a message.
--
-- The view `messages` shows all of them. A statement that changes a single message makes its record first
-- (make_messages).
--
-- The order of locks. A transaction locks rows in this order of tables, and within one table in the order of its key;
-- or it uses SKIP LOCKED, which does not wait. So no two transactions wait for each other in a circle: early_events (with
-- SKIP LOCKED), application_states, review_queue, open_phones, outbox, leases, message_records (new rows, then existing
-- ones), waiting_messages, sender, paused_templates (a row, or the whole table), recipients, channel_users,
-- suppressions, partner_event_totals.
--
-- Times are the database's own, and its clock may step. A time in the future that no statement asked for comes from a
-- clock that was ahead: no message waits for it, and the upkeep corrects it (mend_leap).

-- Messages that are untouched since their registration, due at once.
CREATE TABLE outbox (
  batch_id bigint PRIMARY KEY,
  partner_id integer NOT NULL,
  created_at timestamptz NOT NULL,
  -- The positions with a message, ascending, and the type of each message: its first letter.
  positions smallint[] NOT NULL,
  types text NOT NULL
);
-- Workers take messages of the partners in turn.
CREATE INDEX outbox_turn ON outbox (partner_id, batch_id);

-- The registration's message has the id of its application. A later message of the same application has 2^53 (approved)
-- or 2^54 (rejected) more: ids of applications are below 2^53, and an application has one message of a type at most.
CREATE FUNCTION application_of_message(p_message_id bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_message_id & 9007199254740991;

-- The type of message that fits a status; NULL: no type does.
CREATE FUNCTION message_type_for(p_status application_status) RETURNS message_type LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN p_status = 'in_review' THEN 'offer'::message_type WHEN p_status = 'pending_signature' THEN 'approved'
  WHEN p_status = 'rejected' THEN 'rejected' END;

-- The id of the message after a review that leads to a status.
CREATE FUNCTION message_after_review(p_application_id bigint, p_status application_status) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_application_id + CASE WHEN p_status = 'pending_signature' THEN 9007199254740992
  WHEN p_status = 'rejected' THEN 18014398509481984 END;

CREATE FUNCTION message_type_of(p_letter text) RETURNS message_type LANGUAGE sql IMMUTABLE
RETURN CASE p_letter WHEN 'a' THEN 'approved'::message_type WHEN 'o' THEN 'offer' WHEN 'r' THEN 'rejected' END;

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
SELECT make_batch_partitions();
-- The messages after reviews, of all batches: there are few.
CREATE TABLE message_records_after_reviews PARTITION OF message_records (PRIMARY KEY (message_id))
  FOR VALUES FROM (9007199254740992) TO (27021597764222976) WITH (fillfactor = 80);
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

CREATE VIEW outbox_messages AS
SELECT o.batch_id * 128 + u.position AS message_id, o.batch_id * 128 + u.position AS application_id, o.batch_id,
  message_type_of(u.letter) AS type, 'queued'::message_status AS status, 0::smallint AS attempts, 0::smallint AS tries,
  NULL::text AS reason, o.created_at AS due_at, o.created_at AS changed_at, NULL::bigint AS channel_message_id
FROM outbox o, unnest(o.positions, string_to_array(o.types, NULL)) AS u(position, letter);

-- The messages of leases, also those that are recorded since.
CREATE VIEW begun_messages AS
SELECT u.id AS message_id, application_of_message(u.id) AS application_id, application_of_message(u.id) >> 7 AS batch_id,
  message_type_of(u.letter) AS type, 'sending'::message_status AS status, u.attempt AS attempts, u.attempt AS tries,
  NULL::text AS reason, l.lost_at AS due_at, l.begun_at AS changed_at, NULL::bigint AS channel_message_id
FROM leases l, unnest(l.ids, string_to_array(l.types, NULL), l.attempts) AS u(id, letter, attempt);

-- Every message, in whatever place, for a look by hand: it reads all partitions. messages_of finds single ones.
CREATE VIEW messages AS
SELECT m.message_id, application_of_message(m.message_id) AS application_id,
  application_of_message(m.message_id) >> 7 AS batch_id, m.type, m.status, m.attempts, m.tries, m.reason, m.due_at,
  m.changed_at, m.channel_message_id
FROM message_records m
UNION ALL SELECT * FROM outbox_messages
UNION ALL SELECT * FROM begun_messages g
WHERE NOT EXISTS (SELECT FROM message_records m WHERE m.message_id = g.message_id);

-- The messages with these ids.
CREATE FUNCTION messages_of(p_ids bigint[]) RETURNS SETOF messages
LANGUAGE plpgsql STABLE ROWS 100
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_ids constant bigint[] := nullif(p_ids, '{}');
  v_batches constant bigint[] := ARRAY(
    SELECT DISTINCT application_of_message(g.id) >> 7 FROM unnest(p_ids) AS g(id));
BEGIN
  RETURN QUERY
  SELECT m.message_id, application_of_message(m.message_id), application_of_message(m.message_id) >> 7, m.type, m.status,
    m.attempts, m.tries, m.reason, m.due_at, m.changed_at, m.channel_message_id
  FROM message_records m WHERE m.message_id = ANY (v_ids)
  UNION ALL
  SELECT * FROM outbox_messages o WHERE o.batch_id = ANY (v_batches) AND o.message_id = ANY (p_ids)
  UNION ALL
  SELECT * FROM begun_messages g WHERE g.message_id = ANY (p_ids)
    AND NOT EXISTS (SELECT FROM message_records m WHERE m.message_id = g.message_id AND m.message_id = ANY (v_ids));
END
$$;

-- The messages with the highest ids, from p_from up to but without p_before. The caller names few partitions.
CREATE FUNCTION newest_messages(p_from bigint, p_before bigint, p_limit integer) RETURNS SETOF messages
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_custom_plan
AS $$
BEGIN
  RETURN QUERY SELECT * FROM (
    (SELECT m.message_id, application_of_message(m.message_id), application_of_message(m.message_id) >> 7, m.type,
      m.status, m.attempts, m.tries, m.reason, m.due_at, m.changed_at, m.channel_message_id
    FROM message_records m WHERE m.message_id >= p_from AND m.message_id < p_before
    ORDER BY m.message_id DESC LIMIT p_limit)
    UNION ALL
    (SELECT * FROM outbox_messages o
    WHERE o.batch_id BETWEEN p_from >> 7 AND p_before >> 7
      AND o.message_id >= p_from AND o.message_id < p_before
    ORDER BY o.batch_id DESC, o.message_id DESC LIMIT p_limit)
    UNION ALL
    SELECT * FROM begun_messages g WHERE g.message_id >= p_from AND g.message_id < p_before AND NOT EXISTS (
      SELECT FROM message_records m
      WHERE m.message_id = g.message_id AND m.message_id >= p_from AND m.message_id < p_before)
  ) AS newest ORDER BY 1 DESC LIMIT p_limit;
END
$$;

-- When these batches were registered.
CREATE FUNCTION registered_at(p_batch_ids bigint[]) RETURNS TABLE (id bigint, created_at timestamptz)
LANGUAGE plpgsql STABLE ROWS 100
SET plan_cache_mode = force_custom_plan
AS $$
BEGIN
  RETURN QUERY SELECT b.id, b.created_at FROM batches b WHERE b.id = ANY (nullif(p_batch_ids, '{}'));
END
$$;

-- Most partitions that one statement touches, as in src/storage/partition-runs.ts.
CREATE FUNCTION most_partitions() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 16;

-- The messages of the array that lie in the first partitions which the array touches (most_partitions), in the order of the
-- array. A statement locks every partition of its messages, so callers leave the other messages for their next statement.
CREATE FUNCTION of_few_partitions(p_message_ids bigint[]) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN (
    WITH placed AS (
      -- The messages after reviews have one partition.
      SELECT g.id, g.n, CASE WHEN g.id < 9007199254740992 THEN partition_end(g.id >> 7) END AS ends_at
      FROM unnest(p_message_ids) WITH ORDINALITY AS g(id, n)
    ), few AS (
      SELECT p.ends_at FROM placed p GROUP BY p.ends_at ORDER BY min(p.n) LIMIT most_partitions()
    )
    SELECT coalesce(array_agg(p.id ORDER BY p.n), '{}') FROM placed p JOIN few f ON f.ends_at IS NOT DISTINCT FROM p.ends_at);
END
$$;

-- The first batch number of the newest 17 partitions, the empty one included. Where an event of the channel does not
-- name its message, only these and the messages after reviews are searched, because the channel's id tells no
-- partition.
CREATE FUNCTION recent_from() RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT greatest(e.partitions_end - 17 * partition_width(), 0) FROM elapsed e);
END
$$;

-- The messages that have one of these ids of the channel, as blind indexes.
CREATE FUNCTION messages_of_channel(p_channel_ids bigint[]) RETURNS TABLE (message_id bigint, channel_message_id bigint)
LANGUAGE plpgsql STABLE ROWS 100
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_from constant bigint := recent_from() * 128;
BEGIN
  RETURN QUERY SELECT m.message_id, m.channel_message_id FROM message_records m
  WHERE m.channel_message_id = ANY (p_channel_ids) AND m.message_id >= v_from;
END
$$;

-- The phones of applications, by blind index; p_ids: of applications or of their messages.
CREATE FUNCTION phones_of(p_ids bigint[]) RETURNS TABLE (id bigint, phone_index bigint)
LANGUAGE plpgsql STABLE ROWS 100
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  -- With these values the planner finds the partitions to read, also on another machine.
  v_batches constant bigint[] := nullif(ARRAY(
    SELECT DISTINCT application_of_message(g.id) >> 7 FROM unnest(p_ids) AS g(id)), '{}');
BEGIN
  RETURN QUERY SELECT g.id, b.phones[(g.id & 127)::integer + 1]
  FROM unnest(p_ids) AS g(id)
  JOIN (SELECT t.id, t.phones FROM batches t WHERE t.id = ANY (v_batches)) AS b ON b.id = application_of_message(g.id) >> 7;
END
$$;

-- The partners of messages or applications, in the order of p_ids; 0: the batch is deleted.
CREATE FUNCTION partners_of(p_ids bigint[]) RETURNS integer[]
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  -- With these values the planner finds the partitions to read, also on another machine.
  v_batches constant bigint[] := nullif(ARRAY(
    SELECT DISTINCT application_of_message(g.id) >> 7 FROM unnest(p_ids) AS g(id)), '{}');
  v_found bigint[];
  v_partners integer[];
BEGIN
  SELECT array_agg(b.id), array_agg(b.partner_id) INTO v_found, v_partners FROM batches b WHERE b.id = ANY (v_batches);
  RETURN ARRAY(
    SELECT coalesce(f.partner_id, 0) FROM unnest(p_ids) WITH ORDINALITY AS g(id, n)
    LEFT JOIN unnest(v_found, v_partners) AS f(id, partner_id) ON f.id = application_of_message(g.id) >> 7
    ORDER BY g.n);
END
$$;

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
  -- The messages before the last one, newest first, 19 at most; NULL: none. A message that was sent again has one place,
  -- with the time of its last send.
  earlier_ids bigint[],
  earlier_at timestamptz[],
  earlier_partners integer[],
  earlier_rejected boolean[]
) WITH (fillfactor = 90);
-- New rows lie together, so ranges of pages tell as much as an index on each row.
CREATE INDEX recipients_sent_at ON recipients USING brin (sent_at) WITH (pages_per_range = 16);

-- p_ids with NULL in place of the applications that have no consent, and so no message.
CREATE FUNCTION messaged_applications(p_ids bigint[]) RETURNS bigint[]
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  -- With these values the planner finds the partitions to read, also on another machine.
  v_batches constant bigint[] := nullif(ARRAY(SELECT DISTINCT g.id >> 7 FROM unnest(p_ids) AS g(id)), '{}');
  v_found bigint[];
  v_facts bytea[];
BEGIN
  SELECT array_agg(b.id), array_agg(b.facts) INTO v_found, v_facts FROM batches b WHERE b.id = ANY (v_batches);
  RETURN ARRAY(
    SELECT CASE WHEN has_consent(f.facts, (g.id & 127)::integer) THEN g.id END
    FROM unnest(p_ids) WITH ORDINALITY AS g(id, n)
    LEFT JOIN unnest(v_found, v_facts) AS f(id, facts) ON f.id = g.id >> 7
    ORDER BY g.n);
END
$$;

-- Deletes up to p_most recipients that no limit needs any more; returns their number. The deletion itself locks them,
-- in the order of the subquery, because a lock before it would cost as much again.
CREATE FUNCTION forget_recipients(p_most integer) RETURNS integer
LANGUAGE plpgsql
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
  v_before constant timestamptz := now() - interval '24 hours';
  v_forgotten integer;
BEGIN
  DELETE FROM recipients p USING (
    SELECT o.phone_index FROM (
      SELECT r.phone_index FROM recipients r
      WHERE r.sent_at < v_before AND r.sent_ms <= (SELECT e.ms FROM elapsed e) - 24 * 3600000
      LIMIT p_most) AS o
    ORDER BY o.phone_index
  ) AS r
  WHERE p.phone_index = r.phone_index AND p.sent_at < v_before;
  GET DIAGNOSTICS v_forgotten = ROW_COUNT;
  RETURN v_forgotten;
END
$$;

-- The messages that may not go out any more at p_at because of the limits of their phones (D42): a phone gets p_most
-- messages in 24 hours, p_most_rejected of them `rejected`, over all partners (NULL: any number). A message also gives way
-- to a later message of the same partner to the same phone: to a message of this call, or to a message that was sent. A
-- `rejected` also gives way to the message of an open application. Other types need no such rule: where the phone has a
-- later open application, the application of the earlier message is closed, and that message is cancelled.
--
-- Every message whose send has begun counts, whatever the channel answered. A message that was refused for now goes out
-- again, so it keeps its place. A message that was refused for good keeps its place too: otherwise a partner could try a
-- phone again and again. All attempts of a message count as one message.
--
-- The caller has locked the sender, so that no other session begins to send. A time ahead of the clock counts as now.
CREATE FUNCTION messages_over_limit(
  p_ids bigint[], p_types message_type[], p_phones bigint[], p_partners integer[], p_at timestamptz, p_most integer,
  p_most_rejected integer
) RETURNS bigint[]
LANGUAGE plpgsql STABLE
SET enable_seqscan = off
AS $$
DECLARE
  v_since constant timestamptz := p_at - interval '24 hours';
  v_rejected constant bigint[] := ARRAY(
    SELECT g.phone_index FROM unnest(p_types, p_phones) AS g(type, phone_index) WHERE g.type = 'rejected');
  v_over bigint[];
  v_open_phones bigint[];
  v_open_ids bigint[];
BEGIN
  v_over := ARRAY(
    SELECT g.id FROM (
      SELECT u.id, lead(u.id) OVER (
        PARTITION BY u.phone_index, u.partner_id ORDER BY application_of_message(u.id), u.id) AS later
      FROM unnest(p_ids, p_phones, p_partners) AS u(id, phone_index, partner_id)) AS g
    WHERE g.later IS NOT NULL);
  v_over := v_over || ARRAY(
    SELECT g.id FROM unnest(p_ids, p_types, p_phones, p_partners) AS g(id, type, phone_index, partner_id)
    JOIN recipients r ON r.phone_index = g.phone_index
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE s.at > v_since) AS messages,
        count(*) FILTER (WHERE s.at > v_since AND s.is_rejected) AS rejected,
        bool_or(s.partner_id = g.partner_id
          AND (application_of_message(s.id), s.id) > (application_of_message(g.id), g.id)) AS has_later
      FROM (
        SELECT r.message_id, r.sent_at, r.partner_id, r.is_rejected
        UNION ALL
        SELECT * FROM unnest(r.earlier_ids, r.earlier_at, r.earlier_partners, r.earlier_rejected)
      ) AS s(id, at, partner_id, is_rejected)
      WHERE s.id <> g.id) AS sent
    WHERE sent.messages >= p_most OR g.type = 'rejected' AND sent.rejected >= p_most_rejected OR sent.has_later);
  IF v_rejected = '{}' THEN RETURN v_over; END IF;
  SELECT array_agg(o.phone_index), array_agg(o.application_id) INTO v_open_phones, v_open_ids
  FROM open_phones o WHERE o.phone_index = ANY (v_rejected);
  IF v_open_ids IS NULL THEN RETURN v_over; END IF;
  v_open_ids := messaged_applications(v_open_ids);
  RETURN v_over || ARRAY(
    SELECT g.id FROM unnest(p_ids, p_types, p_phones, p_partners) AS g(id, type, phone_index, partner_id)
    JOIN unnest(v_open_ids, v_open_phones, partners_of(v_open_ids)) AS o(id, phone_index, partner_id)
      ON o.phone_index = g.phone_index AND o.partner_id = g.partner_id AND o.id > application_of_message(g.id)
    WHERE g.type = 'rejected');
END
$$;

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

-- Status events without our callback that came before the record of their message. Bound: the upkeep deletes those
-- older than an hour; a record comes within minutes of its send.
CREATE TABLE early_events (
  -- Blind index.
  channel_message_id bigint NOT NULL,
  status text NOT NULL,
  at timestamptz NOT NULL,
  -- What a failure means; NULL for the other statuses.
  failure jsonb,
  -- elapsed_ms() when the event came.
  came_ms bigint NOT NULL,
  PRIMARY KEY (channel_message_id, status)
);
CREATE INDEX early_events_came ON early_events (came_ms);

-- Templates that the channel refuses, until an operator resumes them.
CREATE TABLE paused_templates (
  name text PRIMARY KEY,
  reason text NOT NULL,
  paused_at timestamptz NOT NULL DEFAULT now()
);
