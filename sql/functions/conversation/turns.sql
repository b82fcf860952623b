-- What a turn of a conversation reads and writes in one round trip each. The head of migrations/0010_conversation.sql
-- gives the order of locks.

-- The number of a turn in a state; NULL: there is none, or somebody has damaged the state. It must not stop the claim.
CREATE OR REPLACE FUNCTION turn_in(p_value jsonb) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN p_value::text ~ '^\d{1,9}$' THEN p_value::text::integer END;

-- Claims conversations, and reads what turns of them need: the inputs that wait, the replies that what was said stands
-- on, and whether the newest reply is untold (src/subjects/messages/sql/replies.ts). These are read after the
-- claim, so that a turn which committed before it is seen. The members of JSON with an underscore are for processes of
-- 1.0, which work beside this version: they go one release later.
CREATE OR REPLACE FUNCTION claim_turns(p_limit integer, p_ids bigint[], p_keys bytea[])
RETURNS TABLE (conversation conversations, now timestamptz, waited_ms bigint, inputs json, told json, untold text)
LANGUAGE plpgsql ROWS 100 AS $$
DECLARE
  v_claimed constant conversations[] := ARRAY(SELECT c FROM claim_conversations(p_limit, p_ids, p_keys) AS c);
BEGIN
  IF cardinality(v_claimed) = 0 THEN RETURN; END IF;
  RETURN QUERY SELECT c::conversations, clock_timestamp(), elapsed_ms() - c.moved_ms, (
    SELECT json_agg(json_build_object('id', i.id::text, 'conversationId', i.conversation_id::text,
      'applicationId', i.application_id, 'source', i.source, 'sealId', i.seal_id,
      'messageIndex', lpad(to_hex(i.message_index), 16, '0'), 'at', i.at, 'content', encode(i.content, 'base64'),
      'conversation_id', i.conversation_id::text, 'application_id', i.application_id::text, 'seal_id', i.seal_id,
      'message_index', i.message_index::text) ORDER BY i.at, i.id)
    FROM conversation_inputs i WHERE i.conversation_id = c.id AND i.turn IS NULL
  ), (
    SELECT json_agg(json_build_object('turn', t.turn, 'fate', t.fate, 'arrivedAt', t.arrived_at,
      'arrived_at', t.arrived_at))
    FROM told_replies(c.application_id, ARRAY[c.contract_turn, turn_in(c.state -> 'askedTurn'),
      turn_in(c.state -> 'approvalTurn'), turn_in(c.state -> 'copyTurn'), turn_in(c.state -> 'scheduleTurn')]) AS t
  ), (
    SELECT untold_as(n.status) FROM (
      SELECT r.status FROM replies r WHERE r.application_id = c.application_id AND r.turn > 0
      ORDER BY r.turn DESC LIMIT 1) AS n
  ) FROM unnest(v_claimed) AS c;
END
$$;

-- Notes which turn took each input, and why it left one aside.
CREATE OR REPLACE FUNCTION take_inputs(p_ids bigint[], p_turns integer[], p_faults text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE conversation_inputs i SET turn = u.turn, fault = u.fault
  FROM unnest(p_ids, p_turns, p_faults) AS u(id, turn, fault) WHERE i.id = u.id;
END
$$;

-- Queues work. What waits already is not queued twice: its end answers both.
CREATE OR REPLACE FUNCTION queue_work(
  p_conversation_ids bigint[], p_application_ids bigint[], p_work text[], p_purposes text[], p_input_ids bigint[]
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO conversation_work (conversation_id, application_id, partner_id, work, purpose, input_id)
  SELECT u.conversation_id, u.application_id, c.partner_id, u.work, u.purpose, u.input_id
  FROM unnest(p_conversation_ids, p_application_ids, p_work, p_purposes, p_input_ids)
    AS u(conversation_id, application_id, work, purpose, input_id)
  JOIN conversations c ON c.id = u.conversation_id
  ON CONFLICT DO NOTHING;
END
$$;
