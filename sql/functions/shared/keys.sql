-- Which secrets the stored data needs.

-- Lets no batch that is sealed with a data key be registered from now on, or lets it again.
CREATE OR REPLACE FUNCTION refuse_data_key(p_id integer, p_is_refused boolean) RETURNS void
LANGUAGE sql AS $$
  UPDATE elapsed SET refused_keys = array_remove(refused_keys, p_id) || CASE WHEN p_is_refused THEN ARRAY[p_id] END
$$;

-- Says which index key the stored blind indexes are made with from now on, by its fingerprint.
CREATE OR REPLACE FUNCTION put_index_key(p_key uuid) RETURNS void
LANGUAGE sql AS $$
  UPDATE elapsed SET index_key = p_key WHERE index_key IS DISTINCT FROM p_key
$$;

-- Raises VN005 where the stored blind indexes are made with another index key, or in another form: a process that a
-- vault reindex passed by would find nobody.
CREATE OR REPLACE FUNCTION require_index_key(p_key uuid) RETURNS void
LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF EXISTS (SELECT FROM elapsed e WHERE e.index_key <> p_key) THEN
    RAISE EXCEPTION 'the stored blind indexes are not those of this process: a vault reindex began after its start'
      USING ERRCODE = 'VN005';
  END IF;
END
$$;

-- Whether a data key may seal what is stored now. Not in SQL: Citus computes the call of a function before it sends an
-- UPDATE to other machines, and refuses a subquery in its place.
CREATE OR REPLACE FUNCTION may_seal(p_id integer) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN NOT EXISTS (SELECT FROM elapsed e WHERE p_id = ANY (e.refused_keys));
END
$$;
