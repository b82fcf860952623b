-- Conversations: what follows the tap on "I am interested" (D43, docs/conversation.md).
--
-- The order of locks: rows of conversations in the order of their ids, then what a turn writes (replies, evidence, the
-- state of an application), then partner events. claim_conversations uses SKIP LOCKED and so waits for nothing. Inputs
-- are only inserted by those who hear them, so no message of a person waits for a turn.
--
-- On a cluster these tables are the coordinator's. A statement that writes them reads no other table but those of the
-- coordinator (docs/scale.md).

-- The versions of flows. A running conversation stays on its version. Bound: one row a flow of a brand.
CREATE TABLE flows (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- SHA-256 of the content.
  hash bytea NOT NULL UNIQUE,
  content jsonb NOT NULL,
  first_used_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- UPDATE is what a lock of a row asks for.
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'flows');

-- One row a conversation; an application has one open conversation at most. Nothing of the person lies here in clear:
-- codes, numbers and a blind index. Bound: the row goes with its application.
CREATE TABLE conversations (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  application_id bigint NOT NULL,
  partner_id integer NOT NULL,
  -- Blind index of the application's phone.
  phone_index bigint NOT NULL,
  -- What the first turn reads: the flow, the language, the locale of amounts, and the partner's name for applicants.
  -- NULL before.
  flow_id integer,
  language text,
  locale text,
  partner_name text,
  place text NOT NULL DEFAULT 'started',
  held_by text NOT NULL DEFAULT 'service',
  -- The application's status, as far as the conversation knows.
  status application_status NOT NULL,
  -- What the rules remember (src/conversation/rules/state.ts); NULL before the first turn.
  state jsonb,
  -- The number of the last turn. Turns of later conversations of the application go on from it.
  turn integer NOT NULL,
  began_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The person's last message by the channel's clock, but not in the future.
  heard_at timestamptz,
  moved_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The next timer, and when it rings. NULL: nothing is waited for.
  timer text,
  due_at timestamptz,
  ended_at timestamptz,
  -- The turn whose reply showed the contract, and the input that accepted it.
  contract_turn integer,
  accepted_input bigint
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX conversations_open ON conversations (application_id) WHERE ended_at IS NULL;
CREATE INDEX conversations_application ON conversations (application_id, id);
CREATE INDEX conversations_phone ON conversations (phone_index, id);
CREATE INDEX conversations_due ON conversations (due_at) WHERE due_at IS NOT NULL;
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'conversations');

-- Everything that happened to a conversation, sealed, once each. Bound: the row goes with its conversation.
CREATE TABLE conversation_inputs (
  -- The order of arrival.
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  conversation_id bigint NOT NULL,
  application_id bigint NOT NULL,
  -- Who brought it: person, work, sweep, timer or operator.
  source text NOT NULL,
  -- The identity that the content is sealed under, with the application.
  seal_id uuid NOT NULL,
  -- Blind index of the channel's id of a person's message; NULL where there is none.
  message_index bigint,
  -- The work whose end it is.
  work_id bigint,
  -- By the channel's clock, but not in the future.
  at timestamptz NOT NULL,
  stored_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- From then on a turn may take it: files wait for more files.
  settles_at timestamptz NOT NULL,
  -- Sealed. Its first byte is the id of the data key.
  content bytea NOT NULL,
  -- The turn that took it; NULL: it waits.
  turn integer,
  -- Why the turn left it aside; NULL: the turn used it.
  fault text
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX conversation_inputs_message ON conversation_inputs (message_index) WHERE message_index IS NOT NULL;
CREATE UNIQUE INDEX conversation_inputs_work ON conversation_inputs (work_id) WHERE work_id IS NOT NULL;
-- One look of the sweep waits at most.
CREATE UNIQUE INDEX conversation_inputs_sweep ON conversation_inputs (conversation_id)
  WHERE turn IS NULL AND source = 'sweep';
CREATE INDEX conversation_inputs_waiting ON conversation_inputs (conversation_id, at, id) WHERE turn IS NULL;
CREATE INDEX conversation_inputs_conversation ON conversation_inputs (conversation_id, id);
-- The search for what a data key has sealed.
CREATE INDEX conversation_inputs_key ON conversation_inputs (substring(content FROM 1 FOR 1));
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'conversation_inputs');

-- Work beside the conversations: files that are read, incomes that are checked, contracts that are made. A row goes
-- when its end is an input. Bound: a few rows an open conversation.
CREATE TABLE conversation_work (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  conversation_id bigint NOT NULL,
  application_id bigint NOT NULL,
  work text NOT NULL,
  -- Of a file: what it was asked for, and the input that has its id at the channel.
  purpose text,
  input_id bigint UNIQUE,
  tries smallint NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Until then a process works on it.
  leased_until timestamptz,
  -- A code: why the last try failed.
  reason text,
  queued_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX conversation_work_once ON conversation_work (conversation_id, work) WHERE input_id IS NULL;
CREATE INDEX conversation_work_due ON conversation_work ((work = 'read_document'), due_at);
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'conversation_work');

-- How long a file waits for more files, and how long a turn waits at most for a person who goes on sending files.
CREATE FUNCTION file_pause() RETURNS interval LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN interval '3 seconds';
CREATE FUNCTION longest_file_pause() RETURNS interval LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 5 * file_pause();

-- Begins conversations of applications that have had none, or (p_again) whose conversations have all ended. Returns the
-- applications whose conversation began now. Of two calls at once one begins it.
CREATE FUNCTION begin_conversations(
  p_application_ids bigint[], p_partner_ids integer[], p_phones bigint[], p_statuses application_status[],
  p_again boolean
) RETURNS SETOF bigint
LANGUAGE sql AS $$
  INSERT INTO conversations (application_id, partner_id, phone_index, status, turn)
  SELECT u.id, u.partner_id, u.phone_index, u.status,
    coalesce((SELECT max(c.turn) FROM conversations c WHERE c.application_id = u.id), 0)
  FROM unnest(p_application_ids, p_partner_ids, p_phones, p_statuses) AS u(id, partner_id, phone_index, status)
  WHERE p_again OR NOT EXISTS (SELECT FROM conversations c WHERE c.application_id = u.id)
  ORDER BY u.id
  ON CONFLICT (application_id) WHERE ended_at IS NULL DO NOTHING
  RETURNING application_id
$$;

-- Stores inputs, each once by its message or its work, in the order of the arrays. Raises where one of them was sealed
-- with a data key that is retired.
CREATE FUNCTION add_inputs(
  p_conversation_ids bigint[], p_application_ids bigint[], p_source text, p_seal_ids uuid[], p_messages bigint[],
  p_work_ids bigint[], p_at timestamptz[], p_are_files boolean[], p_contents bytea[]
) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  v_added integer;
BEGIN
  IF EXISTS (SELECT FROM unnest(p_contents) AS c WHERE NOT may_seal(get_byte(c, 0))) THEN
    RAISE EXCEPTION 'the data key of an input is retired' USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  INSERT INTO conversation_inputs (conversation_id, application_id, source, seal_id, message_index, work_id, at,
    settles_at, content)
  SELECT u.conversation_id, u.application_id, p_source, u.seal_id, u.message, u.work_id, least(u.at, v_now),
    CASE WHEN u.is_file THEN v_now + file_pause() ELSE v_now END, u.content
  FROM unnest(p_conversation_ids, p_application_ids, p_seal_ids, p_messages, p_work_ids, p_at, p_are_files, p_contents)
    WITH ORDINALITY AS u(conversation_id, application_id, seal_id, message, work_id, at, is_file, content, n)
  ORDER BY u.n
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS v_added = ROW_COUNT;
  RETURN v_added;
END
$$;

-- The conversations that a turn has to take, locked: those with inputs of which the last file is settled, and those
-- whose timer rings. Those that wait the longest come first; those that another session has locked are left to it. So
-- is a conversation with an input that none of p_keys has sealed (the first bytes of contents), because what came after
-- that input must not go before it. p_ids: only these, also before their last file is settled; NULL: all.
CREATE FUNCTION claim_conversations(p_limit integer, p_ids bigint[], p_keys bytea[]) RETURNS SETOF conversations
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
CREATE FUNCTION write_turns(
  p_ids bigint[], p_places text[], p_holders text[], p_statuses application_status[], p_states jsonb[],
  p_turns integer[], p_heard_at timestamptz[], p_timers text[], p_due_at timestamptz[], p_have_ended boolean[],
  p_contract_turns integer[], p_accepted_inputs bigint[]
) RETURNS void
LANGUAGE sql AS $$
  UPDATE conversations c SET place = u.place, held_by = u.holder, status = u.status, state = u.state, turn = u.turn,
    heard_at = u.heard_at, moved_at = clock_timestamp(), timer = u.timer, due_at = u.due_at,
    ended_at = CASE WHEN u.has_ended THEN coalesce(c.ended_at, clock_timestamp()) END,
    contract_turn = u.contract_turn, accepted_input = u.accepted_input
  FROM unnest(p_ids, p_places, p_holders, p_statuses, p_states, p_turns, p_heard_at, p_timers, p_due_at, p_have_ended,
    p_contract_turns, p_accepted_inputs)
    AS u(id, place, holder, status, state, turn, heard_at, timer, due_at, has_ended, contract_turn, accepted_input)
  WHERE c.id = u.id
$$;

-- The first due work that no process works on, leased: files to read (p_files), or all else.
CREATE FUNCTION claim_work(p_files boolean, p_limit integer, p_lease interval) RETURNS SETOF conversation_work
LANGUAGE plpgsql ROWS 10 AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
BEGIN
  RETURN QUERY
  UPDATE conversation_work w SET leased_until = v_now + p_lease, tries = w.tries + 1, due_at = v_now + p_lease
  FROM (
    SELECT d.id FROM conversation_work d WHERE d.due_at <= v_now AND (d.work = 'read_document') = p_files
    ORDER BY d.due_at LIMIT p_limit
    FOR NO KEY UPDATE SKIP LOCKED
  ) AS due WHERE w.id = due.id
  RETURNING w.*;
END
$$;

-- Corrects the times that were written while the clock was ahead (D39): each wait begins again. Returns how many rows
-- it corrected.
CREATE FUNCTION mend_conversations() RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  v_ahead constant timestamptz := v_now + interval '1 second';
  v_turns bigint;
  v_inputs bigint;
  v_work bigint;
BEGIN
  UPDATE conversations SET due_at = v_now + (due_at - moved_at), moved_at = v_now,
    heard_at = least(heard_at, v_now) WHERE id = ANY (ARRAY(
      SELECT c.id FROM conversations c WHERE c.due_at IS NOT NULL AND c.moved_at > v_ahead
      ORDER BY c.id LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED));
  GET DIAGNOSTICS v_turns = ROW_COUNT;
  UPDATE conversation_inputs SET settles_at = v_now, stored_at = v_now, at = least(at, v_now) WHERE id = ANY (ARRAY(
    SELECT i.id FROM conversation_inputs i WHERE i.turn IS NULL AND i.stored_at > v_ahead
    ORDER BY i.id LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED));
  GET DIAGNOSTICS v_inputs = ROW_COUNT;
  UPDATE conversation_work SET due_at = v_now, queued_at = v_now, leased_until = NULL WHERE id = ANY (ARRAY(
    SELECT w.id FROM conversation_work w WHERE w.queued_at > v_ahead AND w.due_at > v_now
    ORDER BY w.id LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED));
  GET DIAGNOSTICS v_work = ROW_COUNT;
  RETURN v_turns + v_inputs + v_work;
END
$$;

-- Deletes the conversations of these applications, and those of these phones, with everything of them.
CREATE FUNCTION erase_conversations(p_application_ids bigint[], p_phones bigint[]) RETURNS void
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
