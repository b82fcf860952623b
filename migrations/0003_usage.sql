-- The quota's ledger (D18): what a partner registered, by second, and a running total of a part of it.

-- `second` is the end of the second in which the applications came: an entry counts while
-- second > now - 24 hours, so never less than a whole day and at most a second more.
-- `slot` keeps two sessions of a partner without a cap from waiting for each other's row.
-- Bound: the maintenance deletes what has left the window.
CREATE TABLE usage_entries (
  partner_id integer NOT NULL,
  second timestamptz NOT NULL,
  slot smallint NOT NULL,
  count integer NOT NULL CHECK (count > 0),
  PRIMARY KEY (partner_id, second, slot)
) WITH (fillfactor = 70);

-- total = the sum of the entries with since < second <= until. The row is also the lock under which a
-- capped batch is counted; it is made with its partner.
CREATE TABLE usage_totals (
  partner_id integer PRIMARY KEY REFERENCES partners,
  total bigint NOT NULL DEFAULT 0,
  since timestamptz NOT NULL DEFAULT '-infinity',
  until timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50);

-- Applications that count for the partner at `at`: the running total, less what has left the window, plus
-- what is newer than the total. Exact whenever the maintenance ran last; it only decides how many entries
-- are read here.
CREATE FUNCTION usage_at(p_partner_id integer, p_at timestamptz) RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT t.total
    - coalesce((SELECT sum(e.count) FROM usage_entries e
        WHERE e.partner_id = t.partner_id AND e.second > t.since AND e.second <= p_at - interval '24 hours'), 0)
    + coalesce((SELECT sum(e.count) FROM usage_entries e
        WHERE e.partner_id = t.partner_id AND e.second > t.until), 0)
  FROM usage_totals t WHERE t.partner_id = p_partner_id
$$;
