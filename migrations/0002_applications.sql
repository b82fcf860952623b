-- Applications: one row a batch for what never changes, narrow tables for what does (docs/decisions/0006).

CREATE TYPE decision AS ENUM ('approved', 'in_review', 'rejected');
CREATE TYPE application_status AS ENUM ('pending_signature', 'in_review', 'rejected', 'disbursed');
CREATE TYPE message_type AS ENUM ('approved', 'offer', 'rejected');
CREATE TYPE message_status AS ENUM ('queued', 'sending', 'accepted', 'sent', 'delivered', 'read', 'failed',
  'uncertain', 'cancelled');

-- Numbers batches. The id of an application is the number of its batch * 128 + its position in the batch as it was
-- sent (0 to 99), so the id alone tells where the application is. Ids stay below 2^53.
CREATE SEQUENCE batch_numbers AS bigint MAXVALUE 70368744177663;

-- Batches. A position without a registered application is NULL in id_numbers. No foreign keys on this table and the
-- next ones: the registering function reads partner and key from their own rows, which are never deleted. Bound:
-- partitions by number, which the upkeep makes ahead of time.
--
-- make_batch_partitions gives each partition its indexes, and the table has none. With indexes of the table, Citus would
-- lock the indexes of every partition against registrations whenever a partition is made.
--
-- A statement about batches or message_records names its partitions, by constants or parameters that the planner sees
-- (id = ANY (array), id >= from AND id < before). Otherwise PostgreSQL plans and locks every partition, and with thousands
-- of partitions its table of locks is full. An empty array names no partition, and so locks all; NULL in place of the
-- array locks none. A plan that PostgreSQL keeps for any parameters (a generic plan) locks all partitions, also where it
-- then reads one. So functions about these tables have plan_cache_mode = force_custom_plan, or EXECUTE such a statement
-- with USING, and such a statement of the service has no name. INSERT locks only its own partitions. A second condition
-- on the rows is another array, id = ANY (ARRAY(SELECT ..)), and not IN: with IN a nested loop sorts the first array again
-- for each row. test/storage/many-partitions.test.ts counts the locks.
CREATE TABLE batches (
  id bigint NOT NULL,
  created_at timestamptz NOT NULL,
  -- The envelope is bound to this id, which is also the key of the receipt: the service chose it before the number
  -- was known.
  seal_id uuid NOT NULL,
  partner_id integer NOT NULL,
  api_key_id integer NOT NULL,
  policy_id smallint NOT NULL,
  -- True until the envelope is rewritten without the candidates that were not registered.
  surplus boolean NOT NULL,
  -- When the upkeep found that a surplus envelope does not open; it tries again an hour later.
  unreadable_at timestamptz,
  -- Blind indexes, 64 bits of a keyed hash, by position + 1.
  phones bigint[] NOT NULL,
  id_numbers bigint[] NOT NULL,
  -- 28 bytes a position: see application_at.
  facts bytea NOT NULL,
  -- The platforms that occur, each once, one a line: names hold no control characters (D7).
  platforms text NOT NULL,
  -- Name, ID number, city and phone of the applicants, sealed together: {field: [value, ...]} by position. To erase
  -- an applicant, the envelope is rewritten without the values; NULL: all are erased.
  envelope bytea
) PARTITION BY RANGE (id);
-- Hashes and sealed bytes do not compress. Long values lie beside the row, so a walk over the indexes skips them.
ALTER TABLE batches ALTER COLUMN envelope SET STORAGE EXTERNAL, ALTER COLUMN facts SET STORAGE EXTERNAL,
  ALTER COLUMN phones SET STORAGE EXTERNAL, ALTER COLUMN id_numbers SET STORAGE EXTERNAL;

-- The duplicate rule: one open application a phone, over all partners (contract, "Duplicate rule").
CREATE TABLE open_phones (
  -- Blind index.
  phone_index bigint PRIMARY KEY,
  application_id bigint NOT NULL
);

-- The states of applications that changed since their registration. An application without a row has the status that
-- its decision gave.
CREATE TABLE application_states (
  -- Where a database is spread over machines, the row is on the machine of its batch.
  batch_id bigint NOT NULL,
  application_id bigint NOT NULL,
  status application_status NOT NULL,
  -- When the applicant first tapped "I am interested".
  interested_at timestamptz,
  PRIMARY KEY (batch_id, application_id)
);
-- The leads, newest first. Few applications have one, so the index is small.
CREATE INDEX application_states_interested ON application_states (interested_at, application_id)
  WHERE interested_at IS NOT NULL;

-- The applications that wait for a review: the positions in review of each batch that has any.
CREATE TABLE review_queue (
  batch_id bigint PRIMARY KEY,
  partner_id integer NOT NULL,
  positions smallint[] NOT NULL
);

CREATE TABLE application_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  application_id bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  actor text NOT NULL,
  action text NOT NULL,
  from_status application_status NOT NULL,
  to_status application_status NOT NULL,
  reason text NOT NULL CHECK (reason <> ''),
  -- NULL: the applicant's tap, which has none.
  reason_code text
);
CREATE INDEX application_events_application ON application_events (application_id, id);

-- The double (IEEE 754, big-endian) at an offset. Amounts are finite and above zero; NULL: damaged.
CREATE FUNCTION double_at(p_bytes bytea, p_offset integer) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
  SELECT CASE WHEN d.exponent = 0 THEN d.fraction * 2::float8 ^ -1074 WHEN d.exponent = 2047 THEN NULL
    -- Stays in the range of doubles: 2 ^ 971 and 2 ^ -1074 are doubles.
    ELSE (d.fraction + 4503599627370496) * 2::float8 ^ (d.exponent - 1075) END
  FROM (SELECT (b.bits >> 52)::integer & 2047 AS exponent, (b.bits & 4503599627370495)::float8 AS fraction
    FROM (SELECT ('x' || encode(substring(p_bytes FROM p_offset + 1 FOR 8), 'hex'))::bit(64)::bigint AS bits) AS b) AS d
);

-- Whether the application at a position of a batch has consent (application_at).
CREATE FUNCTION has_consent(p_facts bytea, p_position integer) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(p_facts) >= 28 * (p_position + 1)
  THEN (get_byte(p_facts, 28 * p_position + 6) >> 2 & 1) = 1 ELSE false END;

-- The application at a position of a batch, as it was registered. Its 28 bytes of facts:
--   0 score; 1 to 5 points by criterion in the contract's order;
--   6 codes, each the place of the value in its list: decision (bits 0-1), messaging_optin (2), prior_history (3),
--     num_debts (4-5), debt_age (6-7);
--   7 which line of platforms; 8 to 10 currency; 12 to 19 income; 20 to 27 debt_amount.
-- src/storage/facts.ts writes them. Of damaged facts it makes no error, which would keep the other applications of a
-- statement from being read, but NULLs: no decision is the sign of them.
-- Its arguments are columns, not a row: on another machine a table's part has a row type of its own.
CREATE FUNCTION application_at(
  p_id bigint, p_created_at timestamptz, p_partner_id integer, p_api_key_id integer, p_policy_id smallint,
  p_phones bigint[], p_id_numbers bigint[], p_facts bytea, p_platforms text, p_position integer
) RETURNS TABLE (
  id bigint, batch_id bigint, "position" smallint, created_at timestamptz, partner_id integer, api_key_id integer,
  policy_id smallint, phone_index bigint, id_number_index bigint, score smallint, payment_capacity_points smallint,
  channel_points smallint, debt_age_points smallint, num_debts_points smallint, prior_history_points smallint,
  decision decision, messaging_optin boolean, num_debts text, debt_age text, prior_history text, currency text,
  platform text, income double precision, debt_amount double precision
)
LANGUAGE sql STABLE AS $$
  SELECT p_id * 128 + p_position, p_id, p_position::smallint, p_created_at, p_partner_id, p_api_key_id, p_policy_id,
    p_phones[p_position + 1], p_id_numbers[p_position + 1], get_byte(f.bytes, 0)::smallint,
    get_byte(f.bytes, 1)::smallint, get_byte(f.bytes, 2)::smallint, get_byte(f.bytes, 3)::smallint,
    get_byte(f.bytes, 4)::smallint, get_byte(f.bytes, 5)::smallint,
    ('{approved,in_review,rejected}'::decision[])[1 + (get_byte(f.bytes, 6) & 3)],
    (get_byte(f.bytes, 6) >> 2 & 1) = 1,
    ('{1,2,3}'::text[])[1 + (get_byte(f.bytes, 6) >> 4 & 3)],
    ('{lt6,6a12,1a2,gt2}'::text[])[1 + (get_byte(f.bytes, 6) >> 6 & 3)],
    ('{yes,no}'::text[])[1 + (get_byte(f.bytes, 6) >> 3 & 1)],
    encode(substring(f.bytes FROM 9 FOR 3), 'escape'),
    split_part(p_platforms, E'\n', 1 + get_byte(f.bytes, 7)),
    double_at(f.bytes, 12), double_at(f.bytes, 20)
  FROM (SELECT CASE WHEN octet_length(p_facts) >= 28 * (p_position + 1)
    THEN substring(p_facts FROM 28 * p_position + 1 FOR 28) END AS bytes OFFSET 0) AS f
  WHERE p_id_numbers[p_position + 1] IS NOT NULL
$$;

-- The status that a decision gives (contract, "Outcome at creation"); NULL: the decision cannot be read.
CREATE FUNCTION initial_status(p_decision decision) RETURNS application_status
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE p_decision WHEN 'approved' THEN 'pending_signature'::application_status WHEN 'in_review' THEN 'in_review'
  WHEN 'rejected' THEN 'rejected' END;

-- Every application as it is now, for a look by hand and for statements on whole batches. The view walks over all
-- applications; applications_of finds single ones.
CREATE VIEW applications AS
SELECT a.*, coalesce(s.status, initial_status(a.decision)) AS status, s.interested_at
FROM batches b
CROSS JOIN LATERAL generate_series(0, cardinality(b.id_numbers) - 1) AS p(place)
CROSS JOIN LATERAL application_at(b.id, b.created_at, b.partner_id, b.api_key_id, b.policy_id, b.phones,
  b.id_numbers, b.facts, b.platforms, p.place) AS a
LEFT JOIN application_states s ON s.batch_id = b.id AND s.application_id = b.id * 128 + p.place;

-- The applications with these ids, by the keys of their batches.
CREATE FUNCTION applications_of(p_ids bigint[]) RETURNS SETOF applications
LANGUAGE plpgsql STABLE ROWS 100
SET plan_cache_mode = force_custom_plan
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
AS $$
DECLARE
  -- With these values the planner finds the partitions to read, also on another machine.
  v_batches constant bigint[] := nullif(ARRAY(SELECT DISTINCT g.id >> 7 FROM unnest(p_ids) AS g(id)), '{}');
BEGIN
  RETURN QUERY SELECT a.*, coalesce(s.status, initial_status(a.decision)), s.interested_at
  FROM unnest(p_ids) AS g(id)
  JOIN batches b ON b.id = g.id >> 7 AND b.id = ANY (v_batches)
  CROSS JOIN LATERAL application_at(b.id, b.created_at, b.partner_id, b.api_key_id, b.policy_id, b.phones,
    b.id_numbers, b.facts, b.platforms, (g.id & 127)::integer) AS a
  LEFT JOIN application_states s ON s.batch_id = b.id AND s.application_id = g.id;
END
$$;

-- Moves an application and writes its history if its status is one of p_from (D34). A final one frees its phone, and
-- one in review leaves the queue (D35). An approval and a rejection queue a message (D40), and every move is an event
-- (D41). Returns the status before (NULL: it cannot be read) and whether the application moved; no row if
-- there is no such application. Re-reads the status after taking the lock, so that of two reviews at once the second
-- sees the first.
CREATE FUNCTION move_application(
  p_id bigint, p_from application_status[], p_to application_status, p_actor text, p_action text, p_reason text,
  p_reason_code text
) RETURNS TABLE (status application_status, moved boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_status application_status;
  v_phone bigint;
  v_partner_id integer;
  -- The key of the application, if the applicant has consented and has a phone.
  v_key_id integer;
  v_left smallint[];
BEGIN
  SELECT a.status, a.phone_index, a.partner_id,
    CASE WHEN a.messaging_optin AND a.phone_index IS NOT NULL THEN a.api_key_id END
  INTO v_status, v_phone, v_partner_id, v_key_id FROM applications_of(ARRAY[p_id]) AS a;
  IF NOT FOUND THEN RETURN; END IF;
  IF v_status <> ALL (p_from) OR v_status IS NULL THEN RETURN QUERY SELECT v_status, false; RETURN; END IF;
  INSERT INTO application_states AS s (batch_id, application_id, status) VALUES (p_id >> 7, p_id, v_status)
  ON CONFLICT (batch_id, application_id) DO UPDATE SET status = s.status
  RETURNING s.status INTO v_status;
  IF v_status <> ALL (p_from) THEN RETURN QUERY SELECT v_status, false; RETURN; END IF;

  UPDATE application_states s SET status = p_to WHERE s.batch_id = p_id >> 7 AND s.application_id = p_id;
  INSERT INTO application_events (application_id, at, actor, action, from_status, to_status, reason, reason_code)
  VALUES (p_id, clock_timestamp(), p_actor, p_action, v_status, p_to, p_reason, p_reason_code);
  IF v_status = 'in_review' THEN
    UPDATE review_queue q SET positions = array_remove(q.positions, (p_id & 127)::smallint) WHERE q.batch_id = p_id >> 7
    RETURNING q.positions INTO v_left;
    IF v_left = '{}' THEN DELETE FROM review_queue q WHERE q.batch_id = p_id >> 7; END IF;
  END IF;
  IF p_to IN ('rejected', 'disbursed') AND v_phone IS NOT NULL THEN
    DELETE FROM open_phones o WHERE o.phone_index = v_phone AND o.application_id = p_id;
  END IF;
  IF p_to <> 'disbursed' AND v_key_id IS NOT NULL THEN PERFORM queue_message_after_review(p_id, p_to, v_key_id); END IF;
  PERFORM add_partner_events('application.status_changed', ARRAY[v_partner_id], ARRAY[p_id], v_status, p_to,
    p_reason_code, NULL);
  RETURN QUERY SELECT v_status, true;
END
$$;

-- True in a session on a worker of Citus: the sequence of the batches is on the coordinator, which also makes all
-- tables.
CREATE FUNCTION is_worker() RETURNS boolean
LANGUAGE sql STABLE
RETURN to_regclass('batch_numbers') IS NULL;

-- Runs a command with one result on the coordinator, in a transaction of its own.
CREATE FUNCTION on_coordinator(p_command text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  v_done record;
BEGIN
  SELECT c.success, c.result INTO STRICT v_done FROM run_command_on_coordinator(p_command) AS c;
  IF NOT v_done.success THEN RAISE EXCEPTION 'on the coordinator: %', v_done.result; END IF;
  RETURN nullif(v_done.result, '');
END
$$;

-- The names of the transactions that a machine of a Citus cluster has prepared, and has neither committed nor undone. NULL
-- where the database is on one machine.
CREATE FUNCTION prepared_transactions() RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
  v_machine record;
  v_names text[] := '{}';
BEGIN
  IF to_regclass('pg_dist_node') IS NULL THEN RETURN NULL; END IF;
  FOR v_machine IN SELECT c.success, c.result FROM run_command_on_all_nodes(
    'SELECT array_agg(gid) FROM pg_prepared_xacts WHERE database = current_database()') AS c
  LOOP
    IF NOT v_machine.success THEN
      RAISE EXCEPTION 'a machine does not answer: %', v_machine.result USING ERRCODE = 'connection_failure';
    END IF;
    v_names := v_names || coalesce(nullif(v_machine.result, '')::text[], '{}');
  END LOOP;
  RETURN v_names;
END
$$;

-- The batch numbers of a partition of batches: 2^23. Partitions begin at multiples of the width, so a number tells its
-- partition. The width suits batches of one application. Of larger batches a partition takes fewer numbers: the upkeep
-- leaves the partition when it holds enough applications (leave_partition).
CREATE FUNCTION partition_width() RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 8388608;

-- Where the partition of a batch ends.
CREATE FUNCTION partition_end(p_number bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (p_number / 8388608 + 1) * 8388608;

-- Makes the tables of a partition, which are attached later: batches_to_SUFFIX and message_records_to_SUFFIX.
CREATE FUNCTION make_partition_tables(p_suffix text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_name text;
BEGIN
  v_name := 'batches_to_' || p_suffix;
  EXECUTE format('CREATE TABLE %I (LIKE batches INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE,
    PRIMARY KEY (id))', v_name);
  EXECUTE format('CREATE INDEX ON %I (partner_id, id)', v_name);
  EXECUTE format('CREATE INDEX ON %I (id) WHERE surplus', v_name);
  v_name := 'message_records_to_' || p_suffix;
  EXECUTE format('CREATE TABLE %I (LIKE message_records INCLUDING DEFAULTS INCLUDING CONSTRAINTS,
    PRIMARY KEY (message_id)) WITH (fillfactor = 80)', v_name);
  -- Not unique: if a channel gives one id twice, the records of other messages must not fail because of that.
  EXECUTE format('CREATE INDEX ON %I (channel_message_id) WHERE channel_message_id IS NOT NULL', v_name);
END
$$;

-- Attaches the tables batches_to_P_END and message_records_to_P_END as the partition that ends at p_end.
CREATE FUNCTION attach_partition_tables(p_end bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_begin constant bigint := p_end - partition_width();
BEGIN
  EXECUTE format('ALTER TABLE batches ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)',
    'batches_to_' || p_end, v_begin, p_end);
  EXECUTE format('ALTER TABLE message_records ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)',
    'message_records_to_' || p_end, v_begin * 128, p_end * 128);
END
$$;

-- Makes partitions until a whole partition follows the one in use. Returns how many it made. Any number of sessions may
-- call this at once. Waits for a second at most for each lock of a session that does something else, on all machines of
-- a cluster. Where a shard moves, Citus refuses the partition.
CREATE FUNCTION make_batch_partitions() RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_last bigint;
  v_end bigint;
  v_made integer := 0;
BEGIN
  IF is_worker() THEN RETURN on_coordinator('SELECT make_batch_partitions()'); END IF;
  PERFORM pg_advisory_xact_lock(8726, 2);
  SELECT last_value INTO v_last FROM batch_numbers;
  SELECT e.partitions_end INTO v_end FROM elapsed e;
  IF v_end <= v_last + partition_width() THEN
    SET LOCAL citus.propagate_set_commands = 'local';
    SET LOCAL lock_timeout = '1s';
  END IF;
  WHILE v_end <= v_last + partition_width() LOOP
    v_end := v_end + partition_width();
    -- Attaches tables instead of creating them as parts, so that registrations go on meanwhile.
    PERFORM make_partition_tables(v_end::text);
    PERFORM attach_partition_tables(v_end);
    v_made := v_made + 1;
  END LOOP;
  IF v_made > 0 THEN UPDATE elapsed SET partitions_end = v_end; END IF;
  RETURN v_made;
END
$$;
