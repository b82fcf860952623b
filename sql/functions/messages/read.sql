-- Messages as they are read, in whatever table, and what their applications tell about them.

CREATE OR REPLACE VIEW outbox_messages AS
SELECT application_id_at(o.batch_id, u.position) AS message_id,
  application_id_at(o.batch_id, u.position) AS application_id, o.batch_id,
  message_type_of(u.letter) AS type, 'queued'::message_status AS status, 0::smallint AS attempts, 0::smallint AS tries,
  NULL::text AS reason, o.created_at AS due_at, o.created_at AS changed_at, NULL::bigint AS channel_message_id
FROM outbox o, unnest(o.positions, string_to_array(o.types, NULL)) AS u(position, letter);
SELECT runtime_may('SELECT', 'outbox_messages');

-- The messages of leases, also those that are recorded since.
CREATE OR REPLACE VIEW begun_messages AS
SELECT u.id AS message_id, application_of_message(u.id) AS application_id, batch_of_message(u.id) AS batch_id,
  message_type_of(u.letter) AS type, 'sending'::message_status AS status, u.attempt AS attempts, u.attempt AS tries,
  NULL::text AS reason, l.lost_at AS due_at, l.begun_at AS changed_at, NULL::bigint AS channel_message_id
FROM leases l, unnest(l.ids, string_to_array(l.types, NULL), l.attempts) AS u(id, letter, attempt);
SELECT runtime_may('SELECT', 'begun_messages');

-- Every message, in whatever table, for a look by hand: it reads all partitions. messages_of finds single ones.
CREATE OR REPLACE VIEW messages AS
SELECT m.message_id, application_of_message(m.message_id) AS application_id,
  batch_of_message(m.message_id) AS batch_id, m.type, m.status, m.attempts, m.tries, m.reason, m.due_at,
  m.changed_at, m.channel_message_id
FROM message_records m
UNION ALL SELECT * FROM outbox_messages
UNION ALL SELECT * FROM begun_messages g
WHERE NOT EXISTS (SELECT FROM message_records m WHERE m.message_id = g.message_id);
SELECT runtime_may('SELECT', 'messages');

-- The messages with these ids.
CREATE OR REPLACE FUNCTION messages_of(p_ids bigint[]) RETURNS SETOF messages
LANGUAGE plpgsql STABLE ROWS 100
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_ids constant bigint[] := nullif(p_ids, '{}');
  v_batches constant bigint[] := ARRAY(
    SELECT DISTINCT batch_of_message(g.id) FROM unnest(p_ids) AS g(id));
BEGIN
  RETURN QUERY
  SELECT m.message_id, application_of_message(m.message_id), batch_of_message(m.message_id), m.type, m.status,
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
CREATE OR REPLACE FUNCTION newest_messages(p_from bigint, p_before bigint, p_limit integer) RETURNS SETOF messages
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_custom_plan
AS $$
BEGIN
  RETURN QUERY SELECT * FROM (
    (SELECT m.message_id, application_of_message(m.message_id), batch_of_message(m.message_id), m.type,
      m.status, m.attempts, m.tries, m.reason, m.due_at, m.changed_at, m.channel_message_id
    FROM message_records m WHERE m.message_id >= p_from AND m.message_id < p_before
    ORDER BY m.message_id DESC LIMIT p_limit)
    UNION ALL
    (SELECT * FROM outbox_messages o
    WHERE o.batch_id BETWEEN batch_of(p_from) AND batch_of(p_before)
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
CREATE OR REPLACE FUNCTION registered_at(p_batch_ids bigint[]) RETURNS TABLE (id bigint, created_at timestamptz)
LANGUAGE plpgsql STABLE ROWS 100
SET plan_cache_mode = force_custom_plan
AS $$
BEGIN
  RETURN QUERY SELECT b.id, b.created_at FROM batches b WHERE b.id = ANY (nullif(p_batch_ids, '{}'));
END
$$;

-- Most partitions that one statement touches, as in src/subjects/applications/sql/partition-runs.ts.
CREATE OR REPLACE FUNCTION most_partitions() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 16;

-- The messages of the array that lie in the first partitions which the array touches (most_partitions), in the order of
-- the array. A statement locks every partition of its messages, so callers leave the other messages for their next
-- statement.
CREATE OR REPLACE FUNCTION of_few_partitions(p_message_ids bigint[]) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN (
    WITH located AS (
      -- The messages after reviews have one partition.
      SELECT g.id, g.n, CASE WHEN g.id < 9007199254740992 THEN partition_end(batch_of(g.id)) END AS ends_at
      FROM unnest(p_message_ids) WITH ORDINALITY AS g(id, n)
    ), few AS (
      SELECT p.ends_at FROM located p GROUP BY p.ends_at ORDER BY min(p.n) LIMIT most_partitions()
    )
    SELECT coalesce(array_agg(p.id ORDER BY p.n), '{}') FROM located p JOIN few f ON f.ends_at IS NOT DISTINCT FROM p.ends_at);
END
$$;

-- The first batch number of the newest 17 partitions, the empty one included. Where an event of the channel does not
-- name its message, only these and the messages after reviews are searched, because the channel's id tells no
-- partition.
CREATE OR REPLACE FUNCTION recent_from() RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT greatest(e.partitions_end - 17 * partition_width(), 0) FROM elapsed e);
END
$$;

-- The messages that have one of these ids of the channel, as blind indexes.
CREATE OR REPLACE FUNCTION messages_of_channel(p_channel_ids bigint[]) RETURNS TABLE (message_id bigint, channel_message_id bigint)
LANGUAGE plpgsql STABLE ROWS 100
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_from constant bigint := application_id_at(recent_from(), 0);
BEGIN
  RETURN QUERY SELECT m.message_id, m.channel_message_id FROM message_records m
  WHERE m.channel_message_id = ANY (p_channel_ids) AND m.message_id >= v_from;
END
$$;

-- The messages of the registrations in batches p_from up to but without p_before that have one of these ids of the
-- channel. The caller names few partitions.
CREATE OR REPLACE FUNCTION older_messages_of_channel(p_channel_ids bigint[], p_from bigint, p_before bigint)
RETURNS TABLE (message_id bigint, channel_message_id bigint)
LANGUAGE plpgsql STABLE ROWS 100
SET plan_cache_mode = force_custom_plan
AS $$
BEGIN
  RETURN QUERY SELECT m.message_id, m.channel_message_id FROM message_records m
  WHERE m.channel_message_id = ANY (p_channel_ids) AND m.message_id >= application_id_at(p_from, 0) AND m.message_id < application_id_at(p_before, 0);
END
$$;

-- The phones of applications, by blind index; p_ids: of applications or of their messages.
CREATE OR REPLACE FUNCTION phones_of(p_ids bigint[]) RETURNS TABLE (id bigint, phone_index bigint)
LANGUAGE plpgsql STABLE ROWS 100
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  -- With these values the planner finds the partitions to read, also on another machine.
  v_batches constant bigint[] := nullif(ARRAY(
    SELECT DISTINCT batch_of_message(g.id) FROM unnest(p_ids) AS g(id)), '{}');
BEGIN
  RETURN QUERY SELECT g.id, b.phones[position_of(g.id) + 1]
  FROM unnest(p_ids) AS g(id)
  JOIN (SELECT t.id, t.phones FROM batches t WHERE t.id = ANY (v_batches)) AS b
    ON b.id = batch_of_message(g.id);
END
$$;

-- The partners of messages or applications, in the order of p_ids; 0: the batch is deleted.
CREATE OR REPLACE FUNCTION partners_of(p_ids bigint[]) RETURNS integer[]
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  -- With these values the planner finds the partitions to read, also on another machine.
  v_batches constant bigint[] := nullif(ARRAY(
    SELECT DISTINCT batch_of_message(g.id) FROM unnest(p_ids) AS g(id)), '{}');
  v_found bigint[];
  v_partners integer[];
BEGIN
  SELECT array_agg(b.id), array_agg(b.partner_id) INTO v_found, v_partners FROM batches b WHERE b.id = ANY (v_batches);
  RETURN ARRAY(
    SELECT coalesce(f.partner_id, 0) FROM unnest(p_ids) WITH ORDINALITY AS g(id, n)
    LEFT JOIN unnest(v_found, v_partners) AS f(id, partner_id) ON f.id = batch_of_message(g.id)
    ORDER BY g.n);
END
$$;

-- p_ids with NULL in place of the applications that have no consent, and so no message.
CREATE OR REPLACE FUNCTION messaged_applications(p_ids bigint[]) RETURNS bigint[]
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  -- With these values the planner finds the partitions to read, also on another machine.
  v_batches constant bigint[] := nullif(ARRAY(SELECT DISTINCT batch_of(g.id) FROM unnest(p_ids) AS g(id)), '{}');
  v_found bigint[];
  v_facts bytea[];
BEGIN
  SELECT array_agg(b.id), array_agg(b.facts) INTO v_found, v_facts FROM batches b WHERE b.id = ANY (v_batches);
  RETURN ARRAY(
    SELECT CASE WHEN has_consent(f.facts, position_of(g.id)) THEN g.id END
    FROM unnest(p_ids) WITH ORDINALITY AS g(id, n)
    LEFT JOIN unnest(v_found, v_facts) AS f(id, facts) ON f.id = batch_of(g.id)
    ORDER BY g.n);
END
$$;
