-- A conversation ends for want of an answer after a time that has certainly passed (D39): a clock that leaps ends none.

ALTER TABLE conversations
  -- elapsed_ms() at the last turn; NULL: that turn was before this column.
  ADD COLUMN moved_ms bigint;

-- As in 0044_conversation.sql, with the elapsed time beside the clock's.
CREATE OR REPLACE FUNCTION write_turns(
  p_ids bigint[], p_places text[], p_holders text[], p_statuses application_status[], p_states jsonb[],
  p_turns integer[], p_heard_at timestamptz[], p_timers text[], p_due_at timestamptz[], p_have_ended boolean[],
  p_contract_turns integer[], p_accepted_inputs bigint[]
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
    waits_since = CASE WHEN u.holder <> 'operator' OR u.has_ended THEN NULL
      WHEN c.held_by = 'operator' AND u.heard_at IS NOT DISTINCT FROM c.heard_at THEN c.waits_since
      ELSE coalesce(c.waits_since, v_now) END,
    contract_turn = u.contract_turn, accepted_input = u.accepted_input
  FROM unnest(p_ids, p_places, p_holders, p_statuses, p_states, p_turns, p_heard_at, p_timers, p_due_at, p_have_ended,
    p_contract_turns, p_accepted_inputs)
    AS u(id, place, holder, status, state, turn, heard_at, timer, due_at, has_ended, contract_turn, accepted_input)
  WHERE c.id = u.id;
END
$$;
