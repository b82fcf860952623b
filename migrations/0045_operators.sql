-- The accounts of operators, their factors and their sessions (D48; src/operators, docs/operators.md). The tables are
-- of the coordinator alone: a statement about them reads no table of other machines.
--
-- The order of locks: rows of operators in the order of their ids, then the rows of one of them in the other tables.

-- One row an operator, for ever: the history names operators by their ids.
CREATE TABLE operators (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- In lower case.
  login text NOT NULL UNIQUE,
  role text NOT NULL CHECK (role IN ('viewer', 'reviewer', 'admin')),
  created_at timestamptz NOT NULL DEFAULT now(),
  disabled_at timestamptz,
  -- SHA-256 of the token in the link by which the operator sets the password and the second factor, and its end.
  enrolment bytea,
  enrolment_ends timestamptz,
  -- argon2id, with its parameters and its salt.
  password text,
  -- The secret of the one-time codes (RFC 6238), sealed under the operator's id.
  totp bytea,
  -- The time step of the last code that was taken: a code counts once.
  totp_step bigint NOT NULL DEFAULT 0,
  -- Since when both factors stand; NULL: the operator cannot sign in.
  enrolled_at timestamptz
);

-- The largest amount, by currency, that an operator decides alone. No row: none.
CREATE TABLE operator_authorities (
  -- Without a foreign key, which a table of a cluster's coordinator cannot have.
  operator_id integer NOT NULL,
  currency text NOT NULL,
  amount numeric(20, 2) NOT NULL CHECK (amount > 0),
  PRIMARY KEY (operator_id, currency)
);

-- SHA-256 of the recovery codes that are left: each takes the place of a one-time code once. Ten an operator at most.
CREATE TABLE operator_recovery_codes (
  -- Without a foreign key, which a table of a cluster's coordinator cannot have.
  operator_id integer NOT NULL,
  code bytea NOT NULL,
  PRIMARY KEY (operator_id, code)
);

-- The sessions of browsers. Bound: the upkeep deletes those that ended; an operator has ten at most.
CREATE TABLE operator_sessions (
  id bytea PRIMARY KEY,
  -- SHA-256 of the secret in the cookie.
  secret bytea NOT NULL,
  -- Without a foreign key, which a table of a cluster's coordinator cannot have.
  operator_id integer NOT NULL,
  -- The password and the one-time code were right; else the password alone.
  is_whole boolean NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now(),
  -- When the operator proved both factors last.
  proved_at timestamptz NOT NULL DEFAULT now(),
  -- Wrong codes in a session without its second factor.
  wrong_codes smallint NOT NULL DEFAULT 0
);
CREATE INDEX operator_sessions_operator ON operator_sessions (operator_id, started_at);

-- Tries to sign in, counted by a keyed hash of what they name. Bound: the upkeep deletes windows that are over.
CREATE TABLE operator_tries (
  -- login and address, login, address, or the codes of an operator.
  name bytea PRIMARY KEY,
  since timestamptz NOT NULL,
  tries integer NOT NULL
);
CREATE INDEX operator_tries_since ON operator_tries (since);

-- Counts a try under each name, and returns for each how many there were in its window, and the seconds until the
-- window ends. A window that begins in the future was written while the clock was ahead: it begins anew.
CREATE FUNCTION count_operator_tries(p_names bytea[], p_window interval)
RETURNS TABLE (name bytea, tries integer, ends_in_seconds integer)
LANGUAGE plpgsql AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
BEGIN
  RETURN QUERY
  INSERT INTO operator_tries AS t (name, since, tries)
  SELECT u.name, v_now, 1 FROM unnest(p_names) AS u(name) ORDER BY u.name
  ON CONFLICT ON CONSTRAINT operator_tries_pkey DO UPDATE SET
    since = CASE WHEN t.since BETWEEN v_now - p_window AND v_now THEN t.since ELSE v_now END,
    tries = CASE WHEN t.since BETWEEN v_now - p_window AND v_now THEN t.tries + 1 ELSE 1 END
  RETURNING t.name, t.tries, ceil(extract(epoch FROM t.since + p_window - v_now))::integer;
END
$$;

-- What the runtime role may do (0001_shared.sql).
SELECT runtime_may('SELECT, INSERT, UPDATE', 'operators');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'operator_authorities');
SELECT runtime_may('SELECT, INSERT, DELETE', 'operator_recovery_codes');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'operator_sessions');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'operator_tries');
