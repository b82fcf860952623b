-- Conversations (D43, docs/conversation.md). The head of migrations/0010_conversation.sql gives the order of locks.

-- Begins conversations of applications that have had none, or (p_again) whose conversations have all ended. Returns the
-- applications whose conversation began now. Of two calls at once one begins it.
CREATE OR REPLACE FUNCTION begin_conversations(
  p_application_ids bigint[], p_partner_ids integer[], p_phones bigint[], p_statuses application_status[],
  p_again boolean
) RETURNS SETOF bigint
LANGUAGE plpgsql AS $$
DECLARE
  -- Taken from where the table is, as that of batches (number_batches).
  v_ids constant bigint[] := ARRAY(
    SELECT nextval('conversations_id_seq'::text) FROM elapsed, generate_series(1, cardinality(p_application_ids)));
  v_turns constant integer[] := ARRAY(
    SELECT max(c.turn) FROM unnest(p_application_ids) WITH ORDINALITY AS u(id, n)
    LEFT JOIN conversations c ON c.application_id = u.id GROUP BY u.n ORDER BY u.n);
BEGIN
  RETURN QUERY INSERT INTO conversations AS n (id, application_id, partner_id, phone_index, status, turn)
  SELECT u.conversation_id, u.id, u.partner_id, u.phone_index, u.status, coalesce(u.turn, 0)
  FROM unnest(v_ids, p_application_ids, p_partner_ids, p_phones, p_statuses, v_turns)
    AS u(conversation_id, id, partner_id, phone_index, status, turn)
  WHERE p_again OR u.turn IS NULL
  ORDER BY u.id
  ON CONFLICT (application_id) WHERE ended_at IS NULL DO NOTHING
  RETURNING n.application_id;
END
$$;

-- Stores inputs, each once by its message or its work, in the order of the arrays. Raises where one of them was sealed
-- with a data key that is retired.
CREATE OR REPLACE FUNCTION add_inputs(
  p_conversation_ids bigint[], p_application_ids bigint[], p_source text, p_seal_ids uuid[], p_messages bigint[],
  p_work_ids bigint[], p_at timestamptz[], p_are_files boolean[], p_contents bytea[]
) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  -- Taken from where the table is, as that of batches (number_batches).
  v_ids constant bigint[] := ARRAY(
    SELECT nextval('conversation_inputs_id_seq'::text) FROM elapsed, generate_series(1, cardinality(p_contents)));
  v_added integer;
BEGIN
  IF EXISTS (SELECT FROM unnest(p_contents) AS c WHERE NOT may_seal(get_byte(c, 0))) THEN
    RAISE EXCEPTION 'the data key of an input is retired' USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  -- ROW_COUNT on a cluster counts what is there too.
  WITH added AS (
    INSERT INTO conversation_inputs (id, conversation_id, application_id, source, seal_id, message_index, work_id, at,
      settles_at, content)
    SELECT u.id, u.conversation_id, u.application_id, p_source, u.seal_id, u.message, u.work_id, least(u.at, v_now),
      CASE WHEN u.is_file THEN v_now + file_pause() ELSE v_now END, u.content
    FROM unnest(v_ids, p_conversation_ids, p_application_ids, p_seal_ids, p_messages, p_work_ids, p_at, p_are_files,
      p_contents) AS u(id, conversation_id, application_id, seal_id, message, work_id, at, is_file, content)
    ORDER BY u.id
    ON CONFLICT DO NOTHING RETURNING 1)
  SELECT count(*) INTO v_added FROM added;
  RETURN v_added;
END
$$;

-- The conversations that a turn has to take, locked: those with inputs of which the last file is settled, and those
-- whose timer rings. Those that wait the longest come first; those that another session has locked are left to it. So
-- is a conversation with an input that none of p_keys has sealed (the first bytes of contents), because what came after
-- that input must not go before it. p_ids: only these, also before their last file is settled; NULL: all.
CREATE OR REPLACE FUNCTION claim_conversations(p_limit integer, p_ids bigint[], p_keys bytea[]) RETURNS SETOF conversations
LANGUAGE plpgsql ROWS 100 AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
BEGIN
  RETURN QUERY
  SELECT c.* FROM conversations c JOIN (
    SELECT r.id, min(r.since) AS since FROM (
      SELECT i.conversation_id AS id, min(i.stored_at) AS since FROM conversation_inputs i
      WHERE i.turn IS NULL AND (p_ids IS NULL OR i.conversation_id = ANY (p_ids))
      GROUP BY i.conversation_id
      HAVING (p_ids IS NOT NULL OR max(i.settles_at) <= v_now OR min(i.stored_at) <= v_now - longest_file_pause())
        AND bool_and(substring(i.content FROM 1 FOR 1) = ANY (p_keys))
      UNION ALL
      SELECT d.id, d.due_at FROM conversations d WHERE d.due_at <= v_now AND (p_ids IS NULL OR d.id = ANY (p_ids))
        AND NOT EXISTS (SELECT FROM conversation_inputs i WHERE i.conversation_id = d.id AND i.turn IS NULL
          AND substring(i.content FROM 1 FOR 1) <> ALL (p_keys))
    ) AS r GROUP BY r.id
  ) AS ready ON ready.id = c.id
  ORDER BY ready.since, c.id LIMIT p_limit
  FOR NO KEY UPDATE OF c SKIP LOCKED;
END
$$;

-- Writes what turns came to, for conversations that the caller has locked.
CREATE OR REPLACE FUNCTION write_turns(
  p_ids bigint[], p_places text[], p_holders text[], p_statuses application_status[], p_states jsonb[],
  p_turns integer[], p_heard_at timestamptz[], p_timers text[], p_due_at timestamptz[], p_have_ended boolean[],
  p_contract_turns integer[], p_accepted_inputs bigint[], p_have_heard boolean[]
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  -- Read before the change: on a cluster an UPDATE calls no such function.
  v_now constant timestamptz := clock_timestamp();
  v_now_ms constant bigint := elapsed_ms();
BEGIN
  UPDATE conversations c SET place = u.place, held_by = u.holder, status = u.status, state = u.state, turn = u.turn,
    heard_at = u.heard_at, moved_at = v_now, moved_ms = v_now_ms, timer = u.timer, due_at = u.due_at,
    ended_at = CASE WHEN u.has_ended THEN coalesce(c.ended_at, v_now) END,
    -- Who ends a conversation waits for nobody. Who asks for a person afterwards waits.
    waits_since = CASE WHEN u.holder <> 'operator' OR u.has_ended AND c.ended_at IS NULL THEN NULL
      WHEN c.held_by = 'operator' AND NOT u.has_heard THEN c.waits_since
      ELSE coalesce(c.waits_since, v_now) END,
    contract_turn = u.contract_turn, accepted_input = u.input
  FROM unnest(p_ids, p_places, p_holders, p_statuses, p_states, p_turns, p_heard_at, p_timers, p_due_at, p_have_ended,
    p_contract_turns, p_accepted_inputs, p_have_heard)
    AS u(id, place, holder, status, state, turn, heard_at, timer, due_at, has_ended, contract_turn, input, has_heard)
  WHERE c.id = u.id;
END
$$;

-- Corrects the times that were written while the clock was ahead (D39): each wait begins again. Returns how many rows.
CREATE OR REPLACE FUNCTION mend_conversations() RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  -- In UTC: where the database is spread over machines, an UPDATE can add only to a time without a zone.
  v_utc constant timestamp := v_now AT TIME ZONE 'UTC';
  v_ahead constant timestamptz := v_now + interval '1 second';
  v_turns constant bigint[] := ARRAY(
    SELECT c.id FROM conversations c WHERE c.due_at IS NOT NULL AND c.moved_at > v_ahead
    ORDER BY c.id LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED);
  v_inputs constant bigint[] := ARRAY(
    SELECT i.id FROM conversation_inputs i WHERE i.turn IS NULL AND i.stored_at > v_ahead
    ORDER BY i.id LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED);
  v_work constant bigint[] := ARRAY(
    SELECT w.id FROM conversation_work w WHERE w.queued_at > v_ahead AND w.due_at > v_now
    ORDER BY w.id LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED);
  v_held constant bigint[] := ARRAY(
    SELECT c.id FROM conversations c WHERE c.waits_since > v_ahead ORDER BY c.id FOR NO KEY UPDATE SKIP LOCKED);
BEGIN
  UPDATE conversations SET due_at = (v_utc + (due_at - moved_at)) AT TIME ZONE 'UTC', moved_at = v_now,
    heard_at = least(heard_at, v_now) WHERE id = ANY (v_turns);
  UPDATE conversation_inputs SET settles_at = v_now, stored_at = v_now, at = least(at, v_now) WHERE id = ANY (v_inputs);
  UPDATE conversation_work SET due_at = v_now, queued_at = v_now, leased_until = NULL WHERE id = ANY (v_work);
  UPDATE conversations SET waits_since = v_now WHERE id = ANY (v_held);
  RETURN cardinality(v_turns) + cardinality(v_inputs) + cardinality(v_work) + cardinality(v_held);
END
$$;

-- Deletes the conversations of these applications, and those of these phones, with everything of them.
CREATE OR REPLACE FUNCTION erase_conversations(p_application_ids bigint[], p_phones bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_ids bigint[];
BEGIN
  SELECT array_agg(h.id) INTO v_ids FROM (
    SELECT c.id FROM conversations c WHERE c.application_id = ANY (p_application_ids) OR c.phone_index = ANY (p_phones)
    ORDER BY c.id FOR UPDATE) AS h;
  DELETE FROM conversation_work w WHERE w.conversation_id = ANY (v_ids);
  DELETE FROM conversation_inputs i WHERE i.conversation_id = ANY (v_ids);
  DELETE FROM conversations c WHERE c.id = ANY (v_ids);
END
$$;

CREATE OR REPLACE FUNCTION count_conversation() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.ended_at IS NULL THEN
    INSERT INTO conversation_counts (step, holder, conversations) VALUES (OLD.place, OLD.held_by, -1);
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.ended_at IS NULL THEN
    INSERT INTO conversation_counts (step, holder, conversations) VALUES (NEW.place, NEW.held_by, 1);
  END IF;
  RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER conversations_counted AFTER INSERT OR DELETE ON conversations
  FOR EACH ROW EXECUTE FUNCTION count_conversation();
CREATE OR REPLACE TRIGGER conversations_recounted AFTER UPDATE ON conversations
  FOR EACH ROW WHEN ((OLD.place, OLD.held_by, OLD.ended_at) IS DISTINCT FROM (NEW.place, NEW.held_by, NEW.ended_at))
  EXECUTE FUNCTION count_conversation();
