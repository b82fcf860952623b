-- Decisions that were applied, counted by hour.

-- Counts an applied decision.
CREATE OR REPLACE FUNCTION count_decision(p_operator_id integer, p_act text, p_reason_code text, p_is_against boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_hour constant timestamptz := date_trunc('hour', clock_timestamp(), 'UTC');
  v_ms constant bigint := elapsed_ms();
BEGIN
  INSERT INTO decision_hours AS h (hour, operator_id, act, reason_code, is_against_score, decisions, first_ms)
  VALUES (v_hour, p_operator_id, p_act, p_reason_code, p_is_against, 1, v_ms)
  ON CONFLICT (hour, operator_id, act, reason_code, is_against_score) DO UPDATE SET decisions = h.decisions + 1;
END
$$;
