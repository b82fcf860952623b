-- Ids and types of messages.

-- The registration's message has the id of its application. A later message of the same application has 2^53 (approved)
-- or 2^54 (rejected) more, and its reminder 2^55: ids of applications are below 2^53, and an application has one
-- message of a type at most.
CREATE OR REPLACE FUNCTION application_of_message(p_message_id bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_message_id & 9007199254740991;

-- The batch of a message.
CREATE OR REPLACE FUNCTION batch_of_message(p_message_id bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (p_message_id & 9007199254740991) >> 7;

-- The type of message that fits a status; NULL: no type does.
CREATE OR REPLACE FUNCTION message_type_for(p_status application_status) RETURNS message_type LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN p_status = 'in_review' THEN 'offer'::message_type WHEN p_status = 'pending_signature' THEN 'approved'
  WHEN p_status = 'rejected' THEN 'rejected' END;

-- The id of the message after a review that leads to a status.
CREATE OR REPLACE FUNCTION message_after_review(p_application_id bigint, p_status application_status) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_application_id + CASE WHEN p_status = 'pending_signature' THEN 9007199254740992
  WHEN p_status = 'rejected' THEN 18014398509481984 END;

-- The id of the reminder of an application, and whether a message is a reminder.
CREATE OR REPLACE FUNCTION reminder_of(p_application_id bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_application_id + 36028797018963968;

CREATE OR REPLACE FUNCTION is_reminder(p_message_id bigint) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_message_id >= 36028797018963968;

-- The letter that stands for a type in outbox and leases, and the type that a letter stands for.
CREATE OR REPLACE FUNCTION letter_of(p_type message_type) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE p_type WHEN 'approved' THEN 'a' WHEN 'offer' THEN 'o' WHEN 'rejected' THEN 'r' WHEN 'reminder' THEN 'm' END;

CREATE OR REPLACE FUNCTION message_type_of(p_letter text) RETURNS message_type LANGUAGE sql IMMUTABLE
RETURN CASE p_letter WHEN 'a' THEN 'approved'::message_type WHEN 'o' THEN 'offer' WHEN 'r' THEN 'rejected'
  WHEN 'm' THEN 'reminder' END;

CREATE OR REPLACE FUNCTION is_waiting(p_status message_status) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN p_status IN ('queued', 'uncertain', 'failed');
