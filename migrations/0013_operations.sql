-- What operators did and read (src/program/operations, docs/audit.md).

-- Every act of an operator, and every reading of personal data. Rows are added and stay. No row holds personal data:
-- the reason is the operator's text. Bound: one row an act, and one an application that an operator has read.
CREATE TABLE operator_events (
  -- 1, 2, 3 and so on, without gaps, up to 2^53 - 1.
  id bigint PRIMARY KEY CHECK (id BETWEEN 1 AND 9007199254740991),
  at timestamptz NOT NULL CHECK (at BETWEEN '2000-01-01Z' AND '9999-12-31Z'),
  actor text NOT NULL,
  -- The command, without its values.
  act text NOT NULL,
  -- What the act changed, such as `key 3`; NULL where the act has none, or an application.
  target text,
  application_id bigint,
  reason text,
  -- Which of the INDEX_KEYs the chain's key comes from: 0 is the oldest one.
  key_number smallint NOT NULL,
  -- HMAC-SHA-256 over the row and the mac of the row before it.
  mac bytea NOT NULL CHECK (octet_length(mac) = 32),
  -- Who may add rows may add wrong ones: none that a reader of the record could not hold.
  CHECK (octet_length(actor) <= 1000 AND octet_length(act) <= 1000 AND octet_length(target) <= 20000
    AND octet_length(reason) <= 20000)
);
CREATE INDEX operator_events_by_application ON operator_events (application_id) WHERE application_id IS NOT NULL;

-- The last row of operator_events. Its lock puts the rows of several commands one after the other. One row.
CREATE TABLE operator_events_head (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  event_id bigint NOT NULL CHECK (event_id BETWEEN 0 AND 9007199254740991),
  mac bytea NOT NULL CHECK (octet_length(mac) = 32)
);
INSERT INTO operator_events_head (event_id, mac) VALUES (0, decode(repeat('00', 32), 'hex'));

-- How often an operator has revealed personal data at the desk within the last hour is counted in the record of acts.
CREATE INDEX operator_events_reveals ON operator_events (actor, at) WHERE act = 'application reveal';
