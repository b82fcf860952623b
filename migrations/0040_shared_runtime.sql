-- The privileges of the runtime role, as the migrations before this one tell them (runtime_may).

-- The statements that give a role what the runtime role may do (is_missing), and take away what is more than that, also
-- where everybody has it.
CREATE FUNCTION runtime_gaps(p_role name) RETURNS TABLE (is_missing boolean, statement text)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  -- Read by a statement of its own: a machine of a cluster cannot join the table with its catalog.
  v_rights constant jsonb := (SELECT jsonb_object_agg(r.name, r.privileges) FROM runtime_privileges r);
BEGIN
  RETURN QUERY
  WITH objects AS (
    SELECT 'SCHEMA' AS kind, format('%I', n.nspname) AS object, n.nspacl AS acl, '["USAGE"]'::jsonb AS rights
    FROM pg_namespace n WHERE n.nspname = current_schema() AND NOT has_schema_privilege(p_role, n.oid, 'USAGE')
    UNION ALL
    SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass::text, c.relacl,
      v_rights -> c.relname::text
    FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace
      -- The sequences of a cluster are used on the coordinator alone.
      AND (c.relkind IN ('r', 'p', 'v') OR c.relkind = 'S' AND NOT is_worker())
    UNION ALL
    SELECT 'FUNCTION', p.oid::regprocedure::text, p.proacl, '["EXECUTE"]'
    FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace AND p.prosecdef
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
  ), wanted AS (
    SELECT o.kind, o.object, jsonb_array_elements_text(o.rights) AS privilege FROM objects o
  ), held AS (
    SELECT o.kind, o.object, a.privilege_type AS privilege FROM objects o, aclexplode(o.acl) AS a
    WHERE a.grantee = p_role::regrole
  ), of_everybody AS (
    SELECT format('REVOKE %s ON %s %s FROM PUBLIC', string_agg(a.privilege_type, ', '), o.kind, o.object) AS statement
    FROM objects o, aclexplode(o.acl) AS a WHERE a.grantee = 0 AND o.kind <> 'SCHEMA' GROUP BY o.kind, o.object
  )
  SELECT false, e.statement FROM of_everybody e
  UNION ALL
  SELECT h.privilege IS NULL, format(CASE WHEN h.privilege IS NULL THEN 'GRANT %s ON %s %s TO %I'
    ELSE 'REVOKE %s ON %s %s FROM %I' END, string_agg(privilege, ', '), kind, object, p_role)
  FROM wanted w FULL JOIN held h USING (kind, object, privilege)
  WHERE w.privilege IS NULL OR h.privilege IS NULL
  GROUP BY kind, object, h.privilege IS NULL, w.privilege IS NULL
  ORDER BY 2;
END
$$;

-- Gives a role what the runtime role may do, and no more. Returns the number of statements that this took. The caller
-- is the owner.
CREATE FUNCTION grant_runtime(p_role name) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_statement text;
  v_done integer := 0;
BEGIN
  -- Two processes that start at once would change the same rows of the catalog.
  PERFORM pg_advisory_xact_lock(8726, 4);
  FOR v_statement IN SELECT g.statement FROM runtime_gaps(p_role) AS g LOOP
    EXECUTE v_statement;
    v_done := v_done + 1;
  END LOOP;
  RETURN v_done;
END
$$;
