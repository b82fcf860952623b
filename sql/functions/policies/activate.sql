-- Versions of policies (D51): the acts that the runtime role may do by these functions alone. On a cluster they reach
-- tables alone that all machines copy. There Citus refuses changes of two roles in one transaction to tables of one
-- sort, and the runtime role changes tables of the coordinator, such as the record of acts.

-- Makes a version the live one by the activation p_id, a number that takeId gave, and returns the number. NULL: another
-- one than p_after was activated meanwhile. Nothing waits for it: registrations read the live version without a lock.
-- Raises VN006 if the version is withdrawn or not there, and VN008 if p_backtest is no backtest of this version and
-- content.
CREATE OR REPLACE FUNCTION activate_policy(
  p_id bigint, p_policy_id smallint, p_after bigint, p_actor text, p_second_actor text, p_reason text, p_accepted text[],
  p_backtest bigint DEFAULT NULL
) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_live policy_live;
BEGIN
  -- One activation after the other: the second one sees the first one's.
  SELECT * INTO v_live FROM policy_live l FOR UPDATE;
  IF v_live.activation_id IS DISTINCT FROM p_after OR p_id <= p_after THEN RETURN NULL; END IF;
  IF NOT EXISTS (SELECT FROM policies p WHERE p.id = p_policy_id AND p.withdrawn_at IS NULL) THEN
    RAISE EXCEPTION 'policy % is withdrawn or not there', p_policy_id USING ERRCODE = 'VN006';
  END IF;
  IF p_backtest IS NOT NULL AND NOT EXISTS (
    SELECT FROM policies p JOIN policy_backtests b ON b.version = p.version AND b.sha256 = p.sha256
    WHERE p.id = p_policy_id AND b.id = p_backtest)
  THEN
    RAISE EXCEPTION 'backtest % is not of policy %', p_backtest, p_policy_id USING ERRCODE = 'VN008';
  END IF;
  INSERT INTO policy_activations (id, policy_id, at, actor, second_actor, reason, accepted, backtest_id)
  VALUES (p_id, p_policy_id, clock_timestamp(), p_actor, p_second_actor, p_reason, p_accepted, p_backtest);
  UPDATE policy_live SET policy_id = p_policy_id, activation_id = p_id;
  RETURN p_id;
END
$$;
SELECT runs_as_owner('activate_policy(bigint, smallint, bigint, text, text, text, text[], bigint)');

-- Stores a version. Fails with a unique violation where it is there.
CREATE OR REPLACE FUNCTION add_policy(
  p_policy_id smallint, p_version text, p_content jsonb, p_constants jsonb, p_sha256 bytea, p_actor text, p_accepted text[]
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO policies (id, version, content, constants, sha256, added_by, accepted)
  VALUES (p_policy_id, p_version, p_content, p_constants, p_sha256, p_actor, p_accepted);
END
$$;
SELECT runs_as_owner('add_policy(smallint, text, jsonb, jsonb, bytea, text, text[])');

-- Keeps what a version of before 1.1 decides with. What is there stays.
CREATE OR REPLACE FUNCTION keep_policy_constants(p_policy_id smallint, p_constants jsonb, p_sha256 bytea) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE policies SET constants = p_constants, sha256 = p_sha256 WHERE id = p_policy_id AND constants IS NULL;
END
$$;
SELECT runs_as_owner('keep_policy_constants(smallint, jsonb, bytea)');

-- Withdraws a version that was never live. Returns whether there was one.
CREATE OR REPLACE FUNCTION withdraw_policy(p_version text, p_actor text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz;
BEGIN
  -- An activation at the same moment is over by then, or comes after and is refused.
  PERFORM FROM policy_live l FOR UPDATE;
  -- Read before the change: a cluster takes no clock in it.
  v_now := clock_timestamp();
  UPDATE policies p SET withdrawn_at = v_now, withdrawn_by = p_actor
  WHERE p.version = p_version AND p.added_by IS NOT NULL AND p.withdrawn_at IS NULL
    AND NOT EXISTS (SELECT FROM policy_activations a WHERE a.policy_id = p.id);
  RETURN FOUND;
END
$$;
SELECT runs_as_owner('withdraw_policy(text, text)');

-- Stores the result of a backtest under a number that takeId gave, and lets older ones go: the newest 100 stay, and
-- those that an activation rests on.
CREATE OR REPLACE FUNCTION keep_policy_backtest(
  p_id bigint, p_version text, p_sha256 bytea, p_since date, p_actor text, p_report json
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  -- An activation that rests on an older one is over by then.
  PERFORM FROM policy_live l FOR UPDATE;
  INSERT INTO policy_backtests (id, version, sha256, since, at, actor, report)
  VALUES (p_id, p_version, p_sha256, p_since, clock_timestamp(), p_actor, p_report);
  DELETE FROM policy_backtests b
  WHERE b.id <= (SELECT n.id FROM policy_backtests n ORDER BY n.id DESC OFFSET 100 LIMIT 1)
    AND NOT EXISTS (SELECT FROM policy_activations a WHERE a.backtest_id = b.id);
END
$$;
SELECT runs_as_owner('keep_policy_backtest(bigint, text, bytea, date, text, json)');
