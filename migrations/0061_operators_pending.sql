-- The sign-in of operators by OpenID Connect (D48; src/subjects/operators, docs/operators.md). The tables are of the
-- coordinator alone, as those of 0045_operators.sql are.

-- Sign-ins that are under way at the identity provider. Bound: each counts once and for ten minutes, an address begins
-- 50 in 15 minutes, and the upkeep deletes those that are over.
CREATE TABLE operator_pending_sign_ins (
  -- SHA-256 of the secret in the browser's cookie, of which the rest is derived.
  id bytea PRIMARY KEY,
  started_at timestamptz NOT NULL DEFAULT now(),
  purpose text NOT NULL CHECK (purpose IN ('sign in', 'enrol', 'again')),
  -- For an enrolment: SHA-256 of the link's token.
  enrolment bytea,
  -- For a sign-in again: the session that it renews, and whether a code of the app was right.
  session_id bytea,
  has_code boolean NOT NULL DEFAULT false,
  -- As that of operators, over the row.
  mac bytea NOT NULL DEFAULT '',
  CHECK (started_at BETWEEN '2000-01-01Z' AND '9999-12-31Z')
);
CREATE INDEX operator_pending_sign_ins_started ON operator_pending_sign_ins (started_at);

-- What the runtime role may do (0001_shared.sql).
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'operator_pending_sign_ins');
