-- The claim of due messages. The head of 0004_messages.sql gives the order of locks.

-- The partners that have messages in the outbox or, where p_is_due is true, deferred messages that are due. p_most
-- partners at most, in the order of their ids: first those after p_after, then the others. Looks at one row of each
-- partner.
CREATE OR REPLACE FUNCTION partners_in_turn(p_after integer, p_most integer, p_is_due boolean) RETURNS integer[]
LANGUAGE plpgsql STABLE
SET jit = off
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

-- Locks up to p_want deferred messages of a partner that are due and that no other session has locked, but for p_skip:
-- what this claim has from here already, all of it in few partitions. The longest due come first. letters: the type of
-- each message, as in outbox.
CREATE OR REPLACE FUNCTION claim_deferred(
  p_partner integer, p_skip bigint[], p_want integer,
  OUT ids bigint[], OUT letters text, OUT attempts smallint[], OUT tries smallint[]
)
LANGUAGE plpgsql AS $$
DECLARE
  -- More than it takes, because other workers may have locked the first ones. With p_skip they lie in few partitions.
  v_due bigint[] := of_few_partitions(p_skip || ARRAY(
    SELECT w.message_id FROM waiting_messages w
    WHERE w.status = 'queued' AND w.partner_id = p_partner AND w.due_at <= now() AND w.message_id <> ALL (p_skip)
    ORDER BY w.due_at LIMIT 4 * p_want));
BEGIN
  v_due := v_due[cardinality(p_skip) + 1:];
  IF v_due = '{}' THEN RETURN; END IF;
  EXECUTE $sql$
    SELECT array_agg(h.message_id ORDER BY h.n), string_agg(letter_of(h.type), '' ORDER BY h.n),
      array_agg(h.attempts ORDER BY h.n), array_agg(h.tries ORDER BY h.n)
    FROM (
      SELECT m.message_id, m.type, m.attempts, m.tries, g.n
      FROM unnest($1) WITH ORDINALITY AS g(id, n) JOIN message_records m ON m.message_id = g.id AND m.message_id = ANY ($1)
      WHERE m.status = 'queued' AND m.due_at <= now()
      ORDER BY g.n
      LIMIT $2
      FOR NO KEY UPDATE OF m SKIP LOCKED) AS h $sql$
  INTO ids, letters, attempts, tries USING v_due, p_want;
END
$$;

-- Locks batches of the outbox of a partner that no other session has locked, and gives their first p_want messages
-- after p_after; letters: the type of each message. Locks no more batches than it needs, and takes nothing out.
CREATE OR REPLACE FUNCTION claim_untouched(p_partner integer, p_after bigint, p_want integer, OUT ids bigint[], OUT letters text)
LANGUAGE plpgsql AS $$
DECLARE
  v_left integer := p_want;
  v_batch record;
  v_used integer;
  v_taken integer;
  v_outbox CURSOR FOR SELECT o.batch_id, o.positions, o.types FROM outbox o
    WHERE o.partner_id = p_partner AND o.batch_id >= batch_of(p_after) ORDER BY o.batch_id FOR UPDATE SKIP LOCKED;
BEGIN
  ids := '{}';
  letters := '';
  -- Row by row: a loop over a query would lock further batches.
  OPEN v_outbox;
  WHILE v_left > 0 LOOP
    FETCH v_outbox INTO v_batch;
    EXIT WHEN NOT FOUND;
    v_used := CASE WHEN v_batch.batch_id = batch_of(p_after) THEN
      (SELECT count(*) FROM unnest(v_batch.positions) AS p(position) WHERE p.position <= position_of(p_after)) ELSE 0 END;
    v_taken := least(cardinality(v_batch.positions) - v_used, v_left);
    CONTINUE WHEN v_taken = 0;
    ids := ids || ARRAY(
      SELECT application_id_at(v_batch.batch_id, p.position)
      FROM unnest(v_batch.positions[v_used + 1:v_used + v_taken]) WITH ORDINALITY AS p(position, n) ORDER BY p.n);
    letters := letters || substr(v_batch.types, v_used + 1, v_taken);
    v_left := v_left - v_taken;
  END LOOP;
  CLOSE v_outbox;
END
$$;

-- Up to p_limit due messages of these partners, locked, as claim_due gives them; letters: the type of each message.
-- p_is_due: there are deferred messages.
CREATE OR REPLACE FUNCTION claim_in_rounds(
  p_partners integer[], p_limit integer, p_is_due boolean,
  OUT ids bigint[], OUT letters text, OUT attempts smallint[], OUT tries smallint[], OUT nths integer[]
)
LANGUAGE plpgsql AS $$
DECLARE
  -- In the order of p_partners: how many messages the partner has got, and the last one of them from the outbox.
  v_got integer[] := array_fill(0, ARRAY[cardinality(p_partners)]);
  v_last bigint[] := array_fill(-1::bigint, ARRAY[cardinality(p_partners)]);
  v_left integer := p_limit;
  v_round integer[] := ARRAY(SELECT generate_series(1, cardinality(p_partners)));
  v_more integer[];
  v_share integer;
  v_want integer;
  v_deferred record;
  v_deferred_ids bigint[] := '{}';
  v_untouched record;
  v_partner integer;
BEGIN
  ids := '{}';
  letters := '';
  attempts := '{}';
  tries := '{}';
  nths := '{}';
  WHILE v_left > 0 AND v_round <> '{}' LOOP
    v_share := greatest(v_left / cardinality(v_round), 1);
    v_more := '{}';
    -- v_partner: the index of the partner in p_partners.
    FOREACH v_partner IN ARRAY v_round[:v_left] LOOP
      v_want := v_share;
      IF p_is_due THEN
        v_deferred := claim_deferred(p_partners[v_partner], v_deferred_ids, v_want);
        IF v_deferred.ids IS NOT NULL THEN
          v_deferred_ids := v_deferred_ids || v_deferred.ids;
          ids := ids || v_deferred.ids;
          letters := letters || v_deferred.letters;
          attempts := attempts || v_deferred.attempts;
          tries := tries || v_deferred.tries;
          v_want := v_want - cardinality(v_deferred.ids);
        END IF;
      END IF;
      IF v_want > 0 THEN
        v_untouched := claim_untouched(p_partners[v_partner], v_last[v_partner], v_want);
        IF v_untouched.ids <> '{}' THEN
          ids := ids || v_untouched.ids;
          letters := letters || v_untouched.letters;
          attempts := attempts || array_fill(0::smallint, ARRAY[cardinality(v_untouched.ids)]);
          tries := tries || array_fill(0::smallint, ARRAY[cardinality(v_untouched.ids)]);
          v_want := v_want - cardinality(v_untouched.ids);
          v_last[v_partner] := v_untouched.ids[cardinality(v_untouched.ids)];
        END IF;
      END IF;
      nths := nths || ARRAY(SELECT generate_series(v_got[v_partner] + 1, v_got[v_partner] + v_share - v_want));
      v_got[v_partner] := v_got[v_partner] + v_share - v_want;
      v_left := v_left - v_share + v_want;
      IF v_want = 0 THEN v_more := v_more || v_partner; END IF;
    END LOOP;
    v_round := v_more;
  END LOOP;
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
-- Raises VN005 where p_index_key (a fingerprint) is not the index key of the stored blind indexes.
--
-- nth: the number of the message among those of its partner in this claim; last_partner: for begin_sending.
--
-- The claim locks whole batches of the outbox and takes nothing out: begin_sending takes the messages out.
--
-- The planner guesses too few due messages, and would read and sort all of them for each claim; in the order of the
-- index it reads only as many as it takes.
CREATE OR REPLACE FUNCTION claim_due(p_limit integer, p_rate double precision, p_index_key uuid)
RETURNS TABLE (message_id bigint, type message_type, attempts smallint, tries smallint, nth integer, last_partner integer)
LANGUAGE plpgsql ROWS 100
SET jit = off
SET enable_bitmapscan = off
SET enable_seqscan = off
SET enable_sort = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
  v_sender sender;
  v_room double precision;
  v_limit integer;
  -- Usually no message was put off, and the records are in many partitions.
  v_is_due constant boolean := EXISTS (SELECT FROM waiting_messages w WHERE w.status = 'queued' AND w.due_at <= now());
  v_partners integer[];
  v_last integer;
  v_claimed record;
BEGIN
  PERFORM require_index_key(p_index_key);
  SELECT * INTO v_sender FROM sender;
  v_room := sender_room(v_sender, p_rate, clock_timestamp());
  IF v_room < 1 THEN RETURN; END IF;
  v_limit := CASE WHEN v_sender.broken_at IS NULL THEN least(p_limit, v_room) ELSE p_limit END;
  v_partners := partners_in_turn(v_sender.last_partner, v_limit, v_is_due);
  IF v_partners = '{}' THEN RETURN; END IF;
  -- Where all partners have their turn, the next claim begins with another one.
  v_last := v_partners[CASE WHEN cardinality(v_partners) < v_limit THEN 1 ELSE cardinality(v_partners) END];
  v_claimed := claim_in_rounds(v_partners, v_limit, v_is_due);
  RETURN QUERY SELECT u.id, message_type_of(u.letter), u.attempts, u.tries, u.nth, v_last
  FROM unnest(v_claimed.ids, string_to_array(v_claimed.letters, NULL), v_claimed.attempts, v_claimed.tries,
    v_claimed.nths) AS u(id, letter, attempts, tries, nth);
END
$$;
