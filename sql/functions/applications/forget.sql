-- Which old partitions lose their closed applications, and when (RETENTION_DAYS, RETENTION_POLICY).

CREATE OR REPLACE FUNCTION keep_closed_at() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  IF acts_as_owner_of('closed_segments') THEN RETURN NEW; END IF;
  NEW.closed_at := clock_timestamp();
  IF TG_OP = 'UPDATE' AND NEW.ends_at = OLD.ends_at THEN NEW.closed_at := OLD.closed_at; END IF;
  RETURN NEW;
END
$$;
CREATE OR REPLACE TRIGGER closed_segments_keep_time BEFORE INSERT OR UPDATE ON closed_segments
  FOR EACH ROW EXECUTE FUNCTION keep_closed_at();

-- Raises where the caller of forget_partition chooses less than a retention can say, and than the owner allows (VN007).
CREATE OR REPLACE FUNCTION require_retention(p_days integer, p_disbursed_days integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_least record;
BEGIN
  IF p_days IS NULL OR least(p_days, p_disbursed_days) < 1 THEN RAISE EXCEPTION 'p_days must be 1 or more'; END IF;
  SELECT * INTO v_least FROM least_retention;
  IF p_days < v_least.rejected OR p_disbursed_days < v_least.disbursed THEN
    RAISE EXCEPTION 'the owner of the tables keeps rejected applications for % days, and disbursed ones for % days',
      v_least.rejected, v_least.disbursed USING ERRCODE = 'VN007';
  END IF;
END
$$;

-- The end of the oldest partition that has been closed for p_days, by the clock and by the elapsed time (D39), and was
-- not looked at in the last day. NULL: there is none.
CREATE OR REPLACE FUNCTION old_partition(p_days integer) RETURNS bigint
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_now constant timestamptz := clock_timestamp();
  v_now_ms constant bigint := elapsed_ms();
  v_end bigint;
  v_newest timestamptz;
BEGIN
  FOR v_end IN
    SELECT s.ends_at FROM closed_segments s
    WHERE s.ends_at = partition_end(s.begins_at) AND s.in_buckets
      AND s.closed_ms <= v_now_ms - ms_of(p_days * interval '1 day')
      AND s.closed_at <= v_now - p_days * interval '1 day'
      AND (s.kept_ms IS NULL OR s.kept_ms <= v_now_ms - ms_of(interval '1 day'))
    ORDER BY s.ends_at
  LOOP
    -- The end of the block frees its locks: after a step of the clock all partitions may seem young.
    BEGIN
      v_newest := (SELECT max(b.created_at) FROM batches b WHERE b.id >= v_end - partition_width() AND b.id < v_end);
      RAISE EXCEPTION 'free' USING ERRCODE = 'VN003';
    EXCEPTION WHEN SQLSTATE 'VN003' THEN
      CONTINUE WHEN v_newest > v_now - p_days * interval '1 day';
    END;
    RETURN v_end;
  END LOOP;
  RETURN NULL;
END
$$;

-- The final statuses whose applications stay in the partition that ends at p_end: it is not so old yet, by the clock or
-- by the elapsed time (D39).
CREATE OR REPLACE FUNCTION kept_statuses(p_end bigint, p_days integer, p_disbursed_days integer) RETURNS application_status[]
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_newest constant timestamptz := (
    SELECT max(b.created_at) FROM batches b WHERE b.id >= p_end - partition_width() AND b.id < p_end);
  v_closed constant closed_segments := (SELECT s FROM closed_segments s WHERE s.ends_at = p_end);
BEGIN
  RETURN ARRAY(
    SELECT u.status FROM (VALUES ('rejected'::application_status, p_days), ('disbursed', p_disbursed_days)) AS u(status, days)
    WHERE v_newest > clock_timestamp() - u.days * interval '1 day'
      OR v_closed.closed_at > clock_timestamp() - u.days * interval '1 day'
      OR v_closed.closed_ms > elapsed_ms() - ms_of(u.days * interval '1 day'));
END
$$;

-- Deletes the applications of an old partition that are not open, rejected ones after p_days and disbursed ones after
-- p_disbursed_days (NULL: p_days), with their messages, history and look-ups. A smaller partition with the open ones
-- takes the place of the old one, where there are any. Returns the number of deleted applications; NULL if there is no
-- such partition, or another session does it; `unreadable` are some of the batches whose facts cannot be read, so that
-- they count as open.
--
-- To write a partition again costs as much as its open applications. So a partition is written again where half of its
-- applications go, and otherwise once in 30 days. It is looked at each day.
--
-- Registrations, claims and reads go on meanwhile. Only where the new tables take the place of the old ones, claims,
-- events and reviews wait for as long as it takes to read the records once, and registrations for a moment. No
-- statement changes a batch of the partition until then.
CREATE OR REPLACE FUNCTION forget_partition(p_days integer, p_disbursed_days integer DEFAULT NULL)
RETURNS TABLE (applications bigint, unreadable bigint[])
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  v_now_ms constant bigint := elapsed_ms();
  v_disbursed constant integer := coalesce(p_disbursed_days, p_days);
  v_kept application_status[];
  v_end bigint;
  v_begin bigint;
  v_is_due boolean;
  v_segment record;
  v_found record;
  v_since xid;
  v_open bigint[] := '{}';
  v_mixed bigint[] := '{}';
  v_final bigint[] := '{}';
BEGIN
  PERFORM require_retention(p_days, v_disbursed);
  IF is_worker() THEN
    RETURN QUERY SELECT j.applications, j.unreadable FROM json_to_record(
      on_coordinator(format('SELECT row_to_json(f) FROM forget_partition(%s, %s) AS f', p_days, v_disbursed))::json
    ) AS j(applications bigint, unreadable bigint[]);
    RETURN;
  END IF;
  unreadable := '{}';
  IF hold_closed_segments() THEN v_end := old_partition(least(p_days, v_disbursed)); END IF;
  IF v_end IS NULL THEN RETURN NEXT; RETURN; END IF;
  v_begin := v_end - partition_width();
  v_kept := kept_statuses(v_end, p_days, v_disbursed);
  applications := 0;
  FOR v_segment IN SELECT * FROM closed_segments s WHERE s.begins_at >= v_begin AND s.begins_at < v_end LOOP
    v_found := open_applications(v_segment.begins_at, v_segment.ends_at, v_kept);
    v_open := v_open || v_found.open_ids;
    v_mixed := v_mixed || v_found.mixed;
    v_final := v_final || v_found.final;
    applications := applications + v_found.others;
    unreadable := unreadable || v_found.damaged[1:20];
  END LOOP;
  -- In a transaction of its own: to look at all partitions may take longer than a statement may.
  UPDATE closed_segments s SET kept_ms = v_now_ms WHERE s.ends_at = v_end
  RETURNING s.written_ms IS NULL OR s.written_ms <= v_now_ms - ms_of(interval '30 days') INTO v_is_due;
  IF applications = 0 AND v_open <> '{}' OR applications < cardinality(v_open) AND NOT v_is_due THEN
    applications := 0;
    RETURN NEXT;
    RETURN;
  END IF;

  PERFORM forget_beside(v_end, v_open, v_final);
  v_since := copy_open_applications(v_end, v_open, v_mixed);
  DELETE FROM look_up_buckets k USING closed_segments s
  WHERE k.begins_at = s.begins_at AND s.begins_at >= v_begin AND s.begins_at < v_end;
  IF v_open <> '{}' THEN
    FOR v_segment IN SELECT * FROM closed_segments s WHERE s.begins_at >= v_begin AND s.begins_at < v_end LOOP
      PERFORM fill_segment(v_segment.begins_at, v_segment.ends_at, 'batches_to_' || v_end || '_kept');
    END LOOP;
  END IF;
  PERFORM replace_partition(v_end, v_open <> '{}', v_since);
  IF v_open = '{}' THEN
    DELETE FROM closed_segments s WHERE s.begins_at >= v_begin AND s.begins_at < v_end;
  ELSE
    UPDATE closed_segments s SET may_have_surplus = may_have_surplus OR v_mixed <> '{}',
      written_ms = CASE WHEN s.ends_at = v_end THEN v_now_ms END
    WHERE s.begins_at >= v_begin AND s.begins_at < v_end;
  END IF;
  RETURN NEXT;
END
$$;
SELECT runs_as_owner('forget_partition(integer, integer)');
