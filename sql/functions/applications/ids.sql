-- Ids of applications, and the status that a decision gives.

-- The id of the application at a position of a batch. PostgreSQL puts the bodies of these functions in the place of
-- their calls. Their bodies call no other function: Citus sends a function before those that its parsed body calls.
CREATE OR REPLACE FUNCTION application_id_at(p_batch_id bigint, p_position integer) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN p_batch_id * 128 + p_position;

-- The batch of an application.
CREATE OR REPLACE FUNCTION batch_of(p_application_id bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN p_application_id >> 7;

-- The position of an application in its batch, from 0 on.
CREATE OR REPLACE FUNCTION position_of(p_application_id bigint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (p_application_id & 127)::integer;

-- The status that a decision gives (contract, "Outcome at creation"); NULL: the decision cannot be read.
CREATE OR REPLACE FUNCTION initial_status(p_decision decision) RETURNS application_status
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE p_decision WHEN 'approved' THEN 'pending_signature'::application_status WHEN 'in_review' THEN 'in_review'
  WHEN 'rejected' THEN 'rejected' END;

-- Whether an application of a status is open: an open one holds its phone, a final one does not (D35).
CREATE OR REPLACE FUNCTION is_open(p_status application_status) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_status NOT IN ('rejected', 'disbursed');
