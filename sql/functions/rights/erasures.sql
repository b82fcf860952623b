-- What one person may ask for (src/subjects/rights, docs/subject.md).

-- Raises where the erasure is not of all these applications. A function that runs as the owner deletes what only an
-- erasure may delete: its caller can make an erasure, and cannot take it back, so that it tells of the deletion.
CREATE OR REPLACE FUNCTION require_erasure(p_erasure uuid, p_application_ids bigint[]) RETURNS void
LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF EXISTS (
    SELECT unnest(p_application_ids) EXCEPT SELECT unnest(e.application_ids) FROM erasures e WHERE e.id = p_erasure)
  THEN
    RAISE EXCEPTION 'no erasure of these applications is stored' USING ERRCODE = '42501';
  END IF;
END
$$;
