-- Applications, their messages and their history.

CREATE TYPE decision AS ENUM ('approved', 'in_review', 'rejected');
CREATE TYPE application_status AS ENUM ('pending_signature', 'in_review', 'rejected', 'disbursed');
CREATE TYPE message_type AS ENUM ('approved', 'offer', 'rejected');
CREATE TYPE message_status AS ENUM ('queued', 'sending', 'accepted', 'sent', 'delivered', 'read', 'failed',
  'uncertain', 'cancelled');

-- Numbers batches. The id of an application is the number of its batch * 128 + its position in the batch as it was
-- sent (0 to 99), so that the id alone tells where the application is. Ids stay below 2^53.
CREATE SEQUENCE batch_numbers AS bigint MAXVALUE 70368744177663 CACHE 10;

-- No foreign keys on this table and its like: the registering function takes partner and key from their own
-- rows, which are never deleted, and a check by trigger costs more than the insert itself.
CREATE TABLE applications (
  id bigint PRIMARY KEY,
  created_at timestamptz NOT NULL,
  -- Blind indexes: 16 bytes of a keyed hash. uuid is PostgreSQL's fixed 16-byte type, a quarter smaller in
  -- an index than bytea.
  phone_index uuid,
  id_number_index uuid NOT NULL,
  -- Whose envelope holds the personal data, and under which position of the batch as it was sent.
  batch_id uuid NOT NULL,
  partner_id integer NOT NULL,
  api_key_id integer NOT NULL,
  policy_id smallint NOT NULL,
  position smallint NOT NULL,
  score smallint NOT NULL,
  payment_capacity_points smallint NOT NULL,
  channel_points smallint NOT NULL,
  debt_age_points smallint NOT NULL,
  num_debts_points smallint NOT NULL,
  prior_history_points smallint NOT NULL,
  decision decision NOT NULL,
  status application_status NOT NULL,
  messaging_optin boolean NOT NULL,
  num_debts text NOT NULL,
  debt_age text NOT NULL,
  prior_history text NOT NULL,
  currency text NOT NULL,
  platform text NOT NULL,
  income numeric NOT NULL,
  debt_amount numeric NOT NULL
);

-- The duplicate rule: one open application a phone (contract, "Duplicate rule"). With the index after it
-- every phone is in exactly one of the two, so that a search by phone reads both.
CREATE UNIQUE INDEX applications_open_phone ON applications (phone_index)
  WHERE phone_index IS NOT NULL AND status IN ('pending_signature', 'in_review');
CREATE INDEX applications_final_phone ON applications (phone_index)
  WHERE phone_index IS NOT NULL AND status IN ('rejected', 'disbursed');
CREATE INDEX applications_id_number ON applications (id_number_index);
CREATE INDEX applications_partner ON applications (partner_id, id);
-- What waits for an operator, among millions that do not.
CREATE INDEX applications_in_review ON applications (id) WHERE status = 'in_review';

-- Name, ID number, city and phone of a batch's applicants, sealed together: {"<position>": {field: value}}.
-- Erasing one applicant rewrites the envelope without it. The id is a version 7 UUID.
CREATE TABLE batches (
  id uuid PRIMARY KEY,
  envelope bytea NOT NULL,
  -- True until the envelope is rewritten without the candidates that were not registered.
  surplus boolean NOT NULL,
  -- When the upkeep found that a surplus envelope does not open; it tries again from an hour later on.
  unreadable_at timestamptz
);
-- What is sealed does not compress.
ALTER TABLE batches ALTER COLUMN envelope SET STORAGE EXTERNAL;
CREATE INDEX batches_surplus ON batches (id) WHERE surplus;

-- The outbox. One message an application: the key says so.
CREATE TABLE messages (
  application_id bigint PRIMARY KEY,
  created_at timestamptz NOT NULL,
  type message_type NOT NULL,
  status message_status NOT NULL DEFAULT 'queued'
);

CREATE TABLE application_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  application_id bigint NOT NULL REFERENCES applications,
  at timestamptz NOT NULL DEFAULT now(),
  actor text NOT NULL,
  action text NOT NULL,
  from_status application_status NOT NULL,
  to_status application_status NOT NULL,
  reason text NOT NULL CHECK (reason <> '')
);
CREATE INDEX application_events_application ON application_events (application_id, id);
