-- The way of a message: it is claimed, its send begins, and the result is recorded. The head of 0005_delivery.sql
-- gives the order of locks.

-- The partners that have messages in the outbox or, where p_is_due is true, deferred messages that are due. p_most
-- partners at most, in the order of their ids: first those after p_after, then the others. Looks at one row of each
-- partner.
CREATE FUNCTION partners_in_turn(p_after integer, p_most integer, p_is_due boolean) RETURNS integer[]
LANGUAGE plpgsql STABLE
SET enable_bitmapscan = off
SET enable_seqscan = off
SET enable_sort = off
AS $$
DECLARE
  v_partners integer[] := '{}';
  v_after integer := p_after;
  v_is_round boolean := false;
  v_next integer;
  v_deferred integer;
BEGIN
  WHILE cardinality(v_partners) < p_most LOOP
    v_next := (SELECT o.partner_id FROM outbox o WHERE o.partner_id > v_after ORDER BY o.partner_id LIMIT 1);
    v_deferred := v_after;
    WHILE p_is_due LOOP
      v_deferred := (SELECT w.partner_id FROM waiting_messages w
        WHERE w.status = 'queued' AND w.partner_id > v_deferred ORDER BY w.partner_id LIMIT 1);
      EXIT WHEN v_deferred IS NULL OR v_deferred >= v_next OR EXISTS (
        SELECT FROM waiting_messages w WHERE w.status = 'queued' AND w.partner_id = v_deferred AND w.due_at <= now());
    END LOOP;
    IF p_is_due THEN v_next := least(v_next, v_deferred); END IF;
    IF v_is_round THEN
      EXIT WHEN v_next IS NULL OR v_next > p_after;
    ELSIF v_next IS NULL THEN
      v_is_round := true;
      v_after := -1;
      CONTINUE;
    END IF;
    v_partners := v_partners || v_next;
    v_after := v_next;
  END LOOP;
  RETURN v_partners;
END
$$;

-- Locks up to p_limit due messages that no other session has locked: no more than the sender may send at p_rate
-- (NULL: any number), and none while the sender is paused, because they would only be put off again. For a probe it
-- locks as many as it can, because the first one may be a message that may not go out.
--
-- The partners take turns (D42). Each partner gets an equal part. What one partner does not need goes to the others, in
-- further rounds. Where there are more partners than messages, the next claim goes on after the last partner. Of one
-- partner, deferred messages come first.
--
-- place: the number of the message among those of its partner in this claim; last_partner: for begin_sending.
--
-- It locks whole batches of the outbox and takes nothing out: the function that decides on the messages does that.
--
-- The planner guesses too few due messages, and would read and sort all of them for each claim; in the order of the
-- index it reads only as many as it takes.
CREATE FUNCTION claim_due(p_limit integer, p_rate double precision)
RETURNS TABLE (message_id bigint, type message_type, attempts smallint, tries smallint, place integer, last_partner integer)
LANGUAGE plpgsql ROWS 100
SET enable_bitmapscan = off
SET enable_seqscan = off
SET enable_sort = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
  v_sender sender;
  v_room double precision;
  v_left integer;
  -- Usually no message was put off, and the records are in many partitions.
  v_is_due constant boolean := EXISTS (SELECT FROM waiting_messages w WHERE w.status = 'queued' AND w.due_at <= now());
  v_partners integer[];
  v_last integer;
  -- By place in v_partners: how many messages the partner has got, and how many of them are of which batch, the last one.
  v_got integer[];
  v_batches bigint[];
  v_used integer[];
  v_round integer[];
  v_more integer[];
  v_share integer;
  v_want integer;
  v_taken integer;
  v_deferred bigint[] := '{}';
  v_message record;
  v_due bigint[];
  v_batch record;
  v_outbox CURSOR (p_partner integer, p_from bigint) FOR SELECT o.batch_id, o.positions, o.types FROM outbox o
    WHERE o.partner_id = p_partner AND o.batch_id >= p_from ORDER BY o.batch_id FOR UPDATE SKIP LOCKED;
BEGIN
  SELECT * INTO v_sender FROM sender;
  v_room := sender_room(v_sender, p_rate, clock_timestamp());
  IF v_room < 1 THEN RETURN; END IF;
  IF v_sender.broken_at IS NOT NULL THEN v_room := p_limit; END IF;
  v_left := least(p_limit, v_room);
  v_partners := partners_in_turn(v_sender.last_partner, v_left, v_is_due);
  IF v_partners = '{}' THEN RETURN; END IF;
  -- Where all partners have their turn, the next claim begins with another one.
  v_last := v_partners[CASE WHEN cardinality(v_partners) < v_left THEN 1 ELSE cardinality(v_partners) END];
  v_got := array_fill(0, ARRAY[cardinality(v_partners)]);
  v_used := v_got;
  v_batches := array_fill(0::bigint, ARRAY[cardinality(v_partners)]);
  v_round := ARRAY(SELECT generate_series(1, cardinality(v_partners)));
  WHILE v_left > 0 AND v_round <> '{}' LOOP
    v_share := greatest(v_left / cardinality(v_round), 1);
    v_more := '{}';
    FOR i IN 1..least(cardinality(v_round), v_left) LOOP
      v_want := v_share;
      IF v_is_due THEN
        -- More than it takes, because other workers may have locked the first ones. All that this claim takes lie in few
        -- partitions.
        v_due := of_few_partitions(v_deferred || ARRAY(
          SELECT w.message_id FROM waiting_messages w
          WHERE w.status = 'queued' AND w.partner_id = v_partners[v_round[i]] AND w.due_at <= now()
            AND w.message_id <> ALL (v_deferred)
          ORDER BY w.due_at LIMIT 4 * v_want));
        v_due := v_due[cardinality(v_deferred) + 1:];
        -- An empty array would name no partition.
        FOR v_message IN EXECUTE $sql$
          SELECT m.message_id, m.type, m.attempts, m.tries
          FROM unnest($1) WITH ORDINALITY AS g(id, n) JOIN message_records m ON m.message_id = g.id AND m.message_id = ANY ($1)
          WHERE m.status = 'queued' AND m.due_at <= now()
          ORDER BY g.n
          LIMIT $2
          FOR NO KEY UPDATE OF m SKIP LOCKED $sql$ USING nullif(v_due, '{}'), v_want
        LOOP
          v_deferred := v_deferred || v_message.message_id;
          v_got[v_round[i]] := v_got[v_round[i]] + 1;
          v_want := v_want - 1;
          RETURN QUERY SELECT v_message.message_id, v_message.type, v_message.attempts, v_message.tries,
            v_got[v_round[i]], v_last;
        END LOOP;
      END IF;
      -- Row by row, so that no more batches are locked than necessary.
      OPEN v_outbox(v_partners[v_round[i]], v_batches[v_round[i]]);
      WHILE v_want > 0 LOOP
        FETCH v_outbox INTO v_batch;
        EXIT WHEN NOT FOUND;
        IF v_batch.batch_id > v_batches[v_round[i]] THEN
          v_batches[v_round[i]] := v_batch.batch_id;
          v_used[v_round[i]] := 0;
        END IF;
        v_taken := least(cardinality(v_batch.positions) - v_used[v_round[i]], v_want);
        CONTINUE WHEN v_taken = 0;
        RETURN QUERY SELECT v_batch.batch_id * 128 + u.position, message_type_of(u.letter), 0::smallint, 0::smallint,
          v_got[v_round[i]] + u.n::integer, v_last
        FROM unnest(v_batch.positions[v_used[v_round[i]] + 1:v_used[v_round[i]] + v_taken],
          string_to_array(substr(v_batch.types, v_used[v_round[i]] + 1, v_taken), NULL))
          WITH ORDINALITY AS u(position, letter, n);
        v_used[v_round[i]] := v_used[v_round[i]] + v_taken;
        v_got[v_round[i]] := v_got[v_round[i]] + v_taken;
        v_want := v_want - v_taken;
      END LOOP;
      CLOSE v_outbox;
      v_left := v_left - v_share + v_want;
      IF v_want = 0 THEN v_more := v_more || v_round[i]; END IF;
    END LOOP;
    v_round := v_more;
  END LOOP;
END
$$;

-- Puts off or ends messages that the caller has locked and found queued: each waits until due_at or has ended.
CREATE FUNCTION put_off(p_ids bigint[], p_due_at timestamptz[], p_reasons text[], p_statuses message_status[])
RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_new_ids bigint[];
  v_new_types message_type[];
  v_new_partners integer[];
BEGIN
  SELECT array_agg(t.id), array_agg(t.type), array_agg(t.partner_id) INTO v_new_ids, v_new_types, v_new_partners
  FROM take_from_outbox(p_ids) AS t;
  PERFORM make_records('queued', 0::smallint, now(), array_agg(t.id), array_agg(t.type), array_agg(t.partner_id),
    array_agg(g.status), array_agg(g.due_at), array_agg(g.reason))
  FROM unnest(v_new_ids, v_new_types, v_new_partners) AS t(id, type, partner_id)
  JOIN unnest(p_ids, p_due_at, p_reasons, p_statuses) AS g(id, due_at, reason, status) ON g.id = t.id
  HAVING count(*) > 0;
  UPDATE message_records m SET due_at = g.due_at, reason = g.reason, status = g.status, changed_at = now()
  FROM unnest(p_ids, p_due_at, p_reasons, p_statuses) AS g(id, due_at, reason, status)
  WHERE m.message_id = g.id AND m.message_id = ANY (p_ids) AND (g.id = ANY (v_new_ids)) IS NOT TRUE;
END
$$;

-- The moment of sending: decides whether each message that the caller has locked and found queued goes out now, and
-- marks those that do as sending, by a lease, before any of them is sent.
--
-- verdict: 'send', 'wait' (queued again until due_at) or 'cancelled'; reason as in message_records.
--
-- p_partners: the partner of each message; p_last_partner: last_partner of claim_due. The next claim begins after it.
--
-- p_rate: messages a second, with bursts of as many; p_pair: least time between two messages to one phone, from the
-- answer to the first one, or the last moment at which that answer can come; p_recipients: most different phones in
-- 24 hours; p_messages, p_rejected: most messages to one phone in 24 hours, and `rejected` ones among them; NULL: no such
-- limit. The sender's row is locked, so that any number of workers keep the limits together.
CREATE FUNCTION begin_sending(
  p_ids bigint[], p_templates text[], p_partners integer[], p_last_partner integer, p_rate double precision,
  p_pair interval, p_recipients integer, p_messages integer, p_rejected integer, p_answer_within interval
) RETURNS TABLE (id bigint, verdict text, attempt smallint, reason text)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
-- A table that was empty when the plan was made may be long now.
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
  v_elapsed_ms constant bigint := elapsed_ms();
  v_at timestamptz;
  v_sender sender;
  v_room double precision;
  v_fresh bigint;
  -- What is left for partners that have used up their share.
  v_fresh_of_sated bigint;
  v_new_phones integer;
  v_sent integer;
  v_applications constant bigint[] := ARRAY(SELECT application_of_message(g.id) FROM unnest(p_ids) AS g(id));
  v_batches constant bigint[] := ARRAY(SELECT DISTINCT a.id >> 7 FROM unnest(v_applications) AS a(id));
  -- The status of each application that changed since its registration.
  v_changed_ids bigint[];
  v_changed_to application_status[];
  -- Messages that do not fit the status of their application any more (D40).
  v_closed bigint[];
  v_replaced bigint[];
  -- Messages over the limits of their phone.
  v_over bigint[];
  v_tokens double precision;
  v_credit double precision;
  v_new_ids bigint[];
  v_new_types message_type[];
  v_old_ids bigint[];
  v_old_types message_type[];
  v_old_attempts smallint[];
  v_given_ids bigint[];
  v_given_phones bigint[];
  -- Of the phones that got a message in the last day: when, and by when that message was certainly at the channel.
  v_known bigint[];
  v_known_at timestamptz[];
  v_known_by timestamptz[];
  v_known_last bigint[];
  -- By message, in the order of their ids. The attempt is the one that begins.
  v_ids bigint[];
  v_types message_type[];
  v_attempts smallint[];
  v_phones bigint[];
  v_partners integer[];
  v_reasons text[];
  v_statuses message_status[];
  v_due_at timestamptz[];
BEGIN
  SELECT array_agg(t.id), array_agg(t.type) INTO v_new_ids, v_new_types FROM take_from_outbox(p_ids) AS t;
  -- A message that was put off or sent before has a record, which the caller has locked.
  IF coalesce(cardinality(v_new_ids), 0) < cardinality(p_ids) THEN
    EXECUTE $sql$
      SELECT array_agg(m.message_id), array_agg(m.type), array_agg(m.attempts)
      FROM message_records m WHERE m.message_id = ANY ($1) AND m.status = 'queued' $sql$
    INTO v_old_ids, v_old_types, v_old_attempts USING p_ids;
  END IF;
  SELECT array_agg(a.id), array_agg(a.phone_index) INTO v_given_ids, v_given_phones FROM phones_of(p_ids) AS a;
  SELECT * INTO v_sender FROM sender s FOR NO KEY UPDATE;
  -- After the wait for the lock.
  v_at := clock_timestamp();
  v_room := sender_room(v_sender, p_rate, v_at);
  SELECT array_agg(s.application_id), array_agg(s.status) INTO v_changed_ids, v_changed_to FROM application_states s
  WHERE s.batch_id = ANY (v_batches) AND s.application_id = ANY (v_applications);
  IF v_changed_ids IS NOT NULL THEN
    SELECT array_agg(u.id) FILTER (WHERE u.is_closed), array_agg(u.id) FILTER (WHERE NOT u.is_closed)
    INTO v_closed, v_replaced FROM (
      SELECT g.id, c.status IN ('rejected', 'disbursed') AS is_closed
      FROM unnest(v_old_ids || v_new_ids, v_old_types || v_new_types) AS g(id, type)
      JOIN unnest(v_changed_ids, v_changed_to) AS c(id, status) ON c.id = application_of_message(g.id)
      WHERE g.type IS DISTINCT FROM message_type_for(c.status)) AS u;
  END IF;
  IF p_recipients IS NOT NULL THEN
    -- To count a million takes 0.1 s. The number is never more than the last count and the recipients since, unless
    -- the clock has stepped back to before the count.
    IF v_sender.recent_phones IS NULL OR v_sender.counted_at > v_at
      OR v_sender.recent_phones + cardinality(p_ids) > p_recipients AND v_sender.counted_at < v_at - interval '10 seconds'
    THEN
      SELECT count(*), least(min(r.sent_at), v_at) + interval '24 hours', v_at
      INTO v_sender.recent_phones, v_sender.room_at, v_sender.counted_at
      FROM recipients r WHERE r.sent_at > v_at - interval '24 hours';
    END IF;
    v_fresh := greatest(p_recipients - v_sender.recent_phones, 0);
    -- The last tenth is for partners that have not used up their share.
    v_fresh_of_sated := greatest(v_fresh - p_recipients / 10, 0);
    IF v_fresh > 0 AND v_fresh_of_sated < cardinality(p_ids) AND (v_sender.sated_at IS NULL OR v_sender.sated_at > v_at
      OR v_sender.sated_at < v_at - interval '10 seconds'
      OR v_sender.recent_phones - v_sender.sated_phones NOT BETWEEN 0 AND p_recipients / 100)
    THEN
      v_sender.sated_partners := sated_partners(p_recipients, v_at);
      v_sender.sated_at := v_at;
      v_sender.sated_phones := v_sender.recent_phones;
    END IF;
  END IF;
  -- The answer came when the record changed; without that, at the last moment at which it can come.
  SELECT array_agg(r.phone_index), array_agg(r.sent_at), array_agg(least(r.sent_at + p_answer_within, r.answered_at)),
    array_agg(r.message_id)
  INTO v_known, v_known_at, v_known_by, v_known_last
  FROM recipients r WHERE r.phone_index = ANY (v_given_phones);
  IF v_known IS NOT NULL THEN
    EXECUTE $sql$
      SELECT array_agg(least(k.sent_by, l.changed_at) ORDER BY k.n)
      FROM unnest($1, $2) WITH ORDINALITY AS k(sent_by, last, n)
      LEFT JOIN message_records l
        ON l.message_id = k.last AND l.message_id = ANY ($2) AND l.status NOT IN ('queued', 'sending') $sql$
    INTO v_known_by USING v_known_by, v_known_last;
  END IF;
  IF v_known IS NOT NULL OR 'rejected' = ANY (v_old_types || v_new_types)
    OR cardinality(v_given_phones) > (SELECT count(DISTINCT p.phone_index) FROM unnest(v_given_phones) AS p(phone_index))
  THEN
    SELECT messages_over_limit(array_agg(g.id), array_agg(t.type), array_agg(a.phone_index), array_agg(g.partner_id), v_at,
      p_messages, p_rejected)
    INTO v_over
    FROM unnest(p_ids, p_partners) AS g(id, partner_id)
    JOIN unnest(v_given_ids, v_given_phones) AS a(id, phone_index) ON a.id = g.id
    JOIN unnest(v_old_ids || v_new_ids, v_old_types || v_new_types) AS t(id, type) ON t.id = g.id
    HAVING count(*) > 0;
  END IF;

  WITH given AS (
    SELECT g.id, t.type, coalesce(t.attempts, 0) AS attempts, a.phone_index, g.template, g.partner_id, g.n,
      count(*) FILTER (WHERE (g.id = ANY (v_over)) IS NOT TRUE) OVER (PARTITION BY a.phone_index ORDER BY g.n) AS turn
    FROM unnest(p_ids, p_templates, p_partners) WITH ORDINALITY AS g(id, template, partner_id, n)
    JOIN unnest(v_given_ids, v_given_phones) AS a(id, phone_index) ON a.id = g.id
    JOIN unnest(v_old_ids || v_new_ids, v_old_types || v_new_types, v_old_attempts) AS t(id, type, attempts)
      ON t.id = g.id
  ), looked_up AS (
    SELECT g.*, k.sent_at, k.sent_by
    FROM given g
    LEFT JOIN unnest(v_known, v_known_at, v_known_by) AS k(phone_index, sent_at, sent_by) ON k.phone_index = g.phone_index
  ), checked AS MATERIALIZED (
    SELECT g.*, g.sent_at IS NULL OR g.sent_at <= v_at - interval '24 hours' AS fresh,
      CASE
        WHEN g.id = ANY (v_closed) THEN 'application_closed'
        WHEN g.id = ANY (v_replaced) THEN 'replaced'
        -- Uses no EXISTS: the planner may turn that into a hash of the whole table.
        WHEN (SELECT s.active FROM suppressions s WHERE s.phone_index = g.phone_index) THEN 'suppressed'
        WHEN v_sender.paused_at IS NOT NULL THEN 'sender_paused'
        WHEN EXISTS (SELECT FROM paused_templates t WHERE t.name = g.template) THEN 'template_paused'
        WHEN g.id = ANY (v_over) THEN 'recipient_limit'
        WHEN g.turn > 1 OR g.sent_by > v_at - p_pair THEN 'pair_limit'
      END AS reason,
      -- A phone without an answer is looked at again soon: the answer may come long before the last moment.
      greatest(least(g.sent_by, v_at) + p_pair, v_at + CASE WHEN g.turn > 1 THEN p_pair * (g.turn - 1) END)
        AS free_at
    FROM looked_up g
  ), ranked AS (
    SELECT c.*, count(*) FILTER (WHERE c.reason IS NULL) OVER (ORDER BY c.n) AS place,
      count(*) FILTER (WHERE c.reason IS NULL AND c.fresh) OVER (ORDER BY c.n) AS fresh_place
    FROM checked c
  ), judged AS (
    SELECT c.id, c.type, c.attempts, c.phone_index, c.partner_id, c.sent_at, c.place, c.free_at, c.fresh,
      CASE
        WHEN c.reason IS NOT NULL THEN c.reason
        WHEN c.fresh AND c.fresh_place > CASE WHEN c.partner_id = ANY (v_sender.sated_partners) THEN v_fresh_of_sated
          ELSE v_fresh END THEN 'daily_recipients'
        WHEN c.place > v_room THEN 'rate'
      END AS reason
    FROM ranked c
  )
  SELECT array_agg(j.id ORDER BY j.id), array_agg(j.type ORDER BY j.id),
    array_agg((j.attempts + 1)::smallint ORDER BY j.id), array_agg(j.phone_index ORDER BY j.id),
    array_agg(j.partner_id ORDER BY j.id), array_agg(j.reason ORDER BY j.id),
    array_agg(CASE
      WHEN j.reason IS NULL THEN 'sending'::message_status
      WHEN j.reason IN ('application_closed', 'replaced', 'suppressed', 'recipient_limit') THEN 'cancelled'
      ELSE 'queued' END ORDER BY j.id),
    array_agg(CASE j.reason
      WHEN 'pair_limit' THEN j.free_at
      WHEN 'rate' THEN v_at + coalesce((j.place - v_room) / p_rate, 1) * interval '1 second'
      WHEN 'daily_recipients' THEN greatest(v_sender.room_at, v_at + interval '10 minutes')
      WHEN 'sender_paused' THEN v_at + interval '1 minute'
      -- A resume of the template makes them due.
      WHEN 'template_paused' THEN v_at + interval '1 hour' END ORDER BY j.id),
    array_agg(j.phone_index ORDER BY j.phone_index) FILTER (WHERE j.reason IS NULL AND j.sent_at IS NOT NULL),
    count(*) FILTER (WHERE j.reason IS NULL), count(*) FILTER (WHERE j.reason IS NULL AND j.fresh)
  INTO v_ids, v_types, v_attempts, v_phones, v_partners, v_reasons, v_statuses, v_due_at, v_known, v_sent, v_new_phones
  FROM judged j;

  IF v_old_ids IS NOT NULL THEN
    EXECUTE $sql$
      UPDATE message_records m SET
        status = g.status,
        attempts = CASE WHEN g.reason IS NULL THEN g.attempt ELSE m.attempts END,
        tries = CASE WHEN g.reason IS NULL THEN m.tries + 1 ELSE m.tries END,
        -- The id of an earlier attempt would pass for this attempt's.
        channel_message_id = CASE WHEN g.reason IS NULL THEN NULL ELSE m.channel_message_id END,
        reason = g.reason,
        changed_at = $6,
        due_at = g.due_at
      FROM unnest($1, $2, $3, $4, $5) AS g(id, attempt, status, reason, due_at)
      WHERE m.message_id = g.id AND m.message_id = ANY ($7) AND m.status = 'queued' $sql$
    USING v_ids, v_attempts, v_statuses, v_reasons, v_due_at, v_at, v_old_ids;
  END IF;
  IF v_sent < cardinality(v_ids) THEN
    PERFORM make_records('queued', 0::smallint, v_at, array_agg(g.id), array_agg(g.type), array_agg(g.partner_id),
      array_agg(g.status), array_agg(g.due_at), array_agg(g.reason))
    FROM unnest(v_ids, v_types, v_partners, v_statuses, v_due_at, v_reasons)
      AS g(id, type, partner_id, status, due_at, reason)
    JOIN unnest(v_new_ids) AS t(id) ON t.id = g.id
    WHERE g.reason IS NOT NULL HAVING count(*) > 0;
  END IF;
  IF v_closed IS NOT NULL OR v_replaced IS NOT NULL THEN
    -- At the review such a message seemed to have gone out, so that there may be no other one. New records after the lock
    -- on the sender, against the order of locks: a review of the application waits for the messages locked here.
    PERFORM queue_fitting_messages(array_agg(c.id), array_agg(c.status))
    FROM unnest(v_closed || v_replaced) AS g(id)
    JOIN unnest(v_changed_ids, v_changed_to) AS c(id, status) ON c.id = application_of_message(g.id);
  END IF;

  IF v_sent > 0 THEN
    INSERT INTO leases (begun_at, lost_at, ids, types, attempts)
    SELECT v_at, v_at + p_answer_within, array_agg(g.id ORDER BY g.id),
      string_agg(left(g.type::text, 1), '' ORDER BY g.id), array_agg(g.attempt ORDER BY g.id)
    FROM unnest(v_ids, v_types, v_attempts, v_reasons) AS g(id, type, attempt, reason) WHERE g.reason IS NULL;
    INSERT INTO message_counts
    SELECT s.status, s.sign * s.count FROM (
      SELECT count(*) AS count FROM unnest(v_ids, v_reasons) AS g(id, reason) JOIN unnest(v_new_ids) AS t(id) ON t.id = g.id
      WHERE g.reason IS NULL
    ) AS c CROSS JOIN LATERAL (VALUES ('queued'::message_status, -1, c.count), ('sending', 1, c.count)) AS s(status, sign, count)
    WHERE c.count > 0;

    IF v_known IS NOT NULL THEN
      PERFORM FROM recipients r WHERE r.phone_index = ANY (v_known) ORDER BY r.phone_index FOR NO KEY UPDATE;
      WITH again AS (
        UPDATE recipients r SET sent_at = v_at, sent_ms = v_elapsed_ms, message_id = g.id, answered_at = NULL,
          partner_id = g.partner_id, is_rejected = g.type = 'rejected',
          -- The last one before goes to the front, unless it is the same message; this message is not twice among them.
          earlier_ids = CASE WHEN r.message_id = g.id THEN r.earlier_ids ELSE r.message_id
            || r.earlier_ids[:coalesce(array_position(r.earlier_ids, g.id), 19) - 1]
            || r.earlier_ids[coalesce(array_position(r.earlier_ids, g.id), 19) + 1:19] END,
          earlier_at = CASE WHEN r.message_id = g.id THEN r.earlier_at ELSE least(r.sent_at, v_at)
            || r.earlier_at[:coalesce(array_position(r.earlier_ids, g.id), 19) - 1]
            || r.earlier_at[coalesce(array_position(r.earlier_ids, g.id), 19) + 1:19] END,
          earlier_partners = CASE WHEN r.message_id = g.id THEN r.earlier_partners ELSE r.partner_id
            || r.earlier_partners[:coalesce(array_position(r.earlier_ids, g.id), 19) - 1]
            || r.earlier_partners[coalesce(array_position(r.earlier_ids, g.id), 19) + 1:19] END,
          earlier_rejected = CASE WHEN r.message_id = g.id THEN r.earlier_rejected ELSE r.is_rejected
            || r.earlier_rejected[:coalesce(array_position(r.earlier_ids, g.id), 19) - 1]
            || r.earlier_rejected[coalesce(array_position(r.earlier_ids, g.id), 19) + 1:19] END
        FROM unnest(v_ids, v_types, v_phones, v_partners, v_reasons) AS g(id, type, phone_index, partner_id, reason)
        WHERE r.phone_index = ANY (v_known) AND r.phone_index = g.phone_index AND g.reason IS NULL
        RETURNING r.phone_index
      )
      SELECT array_agg(a.phone_index) INTO v_known FROM again a;
    END IF;
    INSERT INTO recipients (phone_index, sent_at, sent_ms, message_id, partner_id, is_rejected)
    SELECT g.phone_index, v_at, v_elapsed_ms, g.id, g.partner_id, g.type = 'rejected'
    FROM unnest(v_ids, v_types, v_phones, v_partners, v_reasons) AS g(id, type, phone_index, partner_id, reason)
    WHERE g.reason IS NULL AND (g.phone_index = ANY (v_known)) IS NOT TRUE
    ORDER BY g.phone_index;
  END IF;

  v_tokens := coalesce(sender_tokens(v_sender, p_rate, v_at) - v_sent, 0);
  v_credit := sender_credit(v_sender, p_rate, v_at) - v_sent;
  UPDATE sender s SET tokens = v_tokens, credit = v_credit, refilled_at = v_at,
    latest_at = greatest(s.latest_at, v_at), recent_phones = v_sender.recent_phones + v_new_phones,
    counted_at = v_sender.counted_at, room_at = v_sender.room_at, sated_partners = v_sender.sated_partners,
    sated_at = v_sender.sated_at, sated_phones = v_sender.sated_phones,
    last_partner = coalesce(p_last_partner, s.last_partner);
  IF v_sender.broken_at IS NOT NULL AND v_sent > 0 THEN
    v_at := v_at + least(interval '15 seconds' * 2 ^ least(v_sender.probes + 1, 10), interval '15 minutes');
    UPDATE sender s SET probes = v_sender.probes + 1, probe_at = v_at;
  END IF;

  RETURN QUERY SELECT g.id,
    CASE g.status WHEN 'sending' THEN 'send' WHEN 'cancelled' THEN 'cancelled' ELSE 'wait' END,
    (g.attempt - CASE g.status WHEN 'sending' THEN 0 ELSE 1 END)::smallint, g.reason
  FROM unnest(v_ids, v_statuses, v_attempts, v_reasons) AS g(id, status, attempt, reason);
END
$$;
