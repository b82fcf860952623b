-- What the runtime role may do, and what it lacks (docs/roles.md).

-- Says what the runtime role may do with a table, a view, a sequence or a function. The owner grants it when all
-- functions are there (grant_runtime).
CREATE OR REPLACE FUNCTION runtime_may(p_privileges text, p_name text) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO runtime_privileges AS r (name, privileges) VALUES (p_name, string_to_array(p_privileges, ', '))
  ON CONFLICT (name) DO UPDATE SET privileges = excluded.privileges
$$;

-- Lets a function run with the owner's rights, whoever calls it: the runtime role may call it, and nobody else. For
-- functions that make or drop tables, or change rows that the runtime role may not. Such a function checks its
-- arguments. It finds no table of the caller's: the schema of the store comes first, and the caller's temporary tables
-- come last.
CREATE OR REPLACE FUNCTION runs_as_owner(p_function regprocedure) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM runtime_may('EXECUTE', p_function::text);
  EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path TO %I, pg_temp', p_function, current_schema());
  EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', p_function);
END
$$;

-- Whether the session acts as the owner of this table. A trigger names its table: on a cluster TG_RELID is a part of
-- it, and pg_class shows no parts to a session of a program.
CREATE OR REPLACE FUNCTION acts_as_owner_of(p_table regclass) RETURNS boolean
LANGUAGE sql STABLE
RETURN current_user = (SELECT pg_get_userbyid(c.relowner) FROM pg_class c WHERE c.oid = p_table);

-- What privileges are about, with what the runtime role needs of each: a JSON list; NULL: nothing. Of the tables in the
-- schema, those that the migrations name, and their partitions, which have the same owner.
CREATE OR REPLACE FUNCTION runtime_objects() RETURNS TABLE (kind text, object text, acl aclitem[], rights jsonb)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  -- Read by a statement of its own: a machine of a cluster cannot join the table with its catalog.
  v_rights constant jsonb := (SELECT jsonb_object_agg(r.name, r.privileges) FROM runtime_privileges r);
  v_owner constant oid := (SELECT c.relowner FROM pg_class c WHERE c.oid = 'runtime_privileges'::regclass);
BEGIN
  RETURN QUERY
  SELECT 'SCHEMA', format('%I', n.nspname), n.nspacl, '["USAGE"]'::jsonb
  FROM pg_namespace n WHERE n.nspname = current_schema()
  UNION ALL
  SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass::text, c.relacl,
    v_rights -> c.relname::text
  FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace
    -- The sequences of a cluster are used on the coordinator alone.
    AND (c.relkind IN ('r', 'p', 'v') OR c.relkind = 'S' AND NOT is_worker())
    AND (v_rights ? c.relname::text OR c.relispartition AND c.relowner = v_owner)
  UNION ALL
  SELECT 'FUNCTION', p.oid::regprocedure::text, p.proacl, v_rights -> p.oid::regprocedure::text
  FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace AND p.prosecdef
    AND v_rights ? p.oid::regprocedure::text;
END
$$;

-- Privileges on single columns that the runtime role does not have on the whole table.
CREATE OR REPLACE FUNCTION runtime_column_grants()
RETURNS TABLE (object text, "column" name, privilege text, grantee oid, is_grantable boolean)
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY
  SELECT o.object, t.attname, a.privilege_type, a.grantee, a.is_grantable
  FROM runtime_objects() o
  JOIN pg_attribute t ON o.kind = 'TABLE' AND t.attrelid = o.object::regclass AND t.attacl IS NOT NULL
  CROSS JOIN LATERAL aclexplode(t.attacl) AS a
  WHERE a.is_grantable OR NOT coalesce(o.rights ? a.privilege_type, false);
END
$$;

-- The statements that give a role what the runtime role may do (is_missing), and take away what is more than that: also
-- on single columns, the right to grant it to others, and where everybody has it.
CREATE OR REPLACE FUNCTION runtime_gaps(p_role name) RETURNS TABLE (is_missing boolean, statement text)
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY
  WITH objects AS (
    SELECT * FROM runtime_objects() o WHERE o.kind <> 'SCHEMA' OR NOT has_schema_privilege(p_role, o.object, 'USAGE')
  ), wanted AS (
    SELECT o.kind, o.object, jsonb_array_elements_text(o.rights) AS privilege FROM objects o
  ), held AS (
    SELECT o.kind, o.object, a.privilege_type AS privilege, bool_or(a.is_grantable) AS is_grantable
    FROM objects o, aclexplode(o.acl) AS a WHERE a.grantee = p_role::regrole GROUP BY o.kind, o.object, a.privilege_type
  ), more AS (
    SELECT format('REVOKE %s ON %s %s FROM PUBLIC CASCADE', string_agg(a.privilege_type, ', '), o.kind, o.object)
    FROM objects o, aclexplode(o.acl) AS a WHERE a.grantee = 0 AND o.kind <> 'SCHEMA' GROUP BY o.kind, o.object
    UNION ALL
    SELECT format('REVOKE %s (%I) ON TABLE %s FROM %s CASCADE', c.privilege, c."column", c.object,
      CASE c.grantee WHEN 0 THEN 'PUBLIC' ELSE format('%I', p_role) END)
    FROM runtime_column_grants() c WHERE c.grantee IN (0, p_role::regrole)
    UNION ALL
    SELECT format('REVOKE GRANT OPTION FOR %s ON %s %s FROM %I CASCADE', h.privilege, h.kind, h.object, p_role)
    FROM held h JOIN wanted w USING (kind, object, privilege) WHERE h.is_grantable
  )
  SELECT false, m.* FROM more m
  UNION ALL
  SELECT h.privilege IS NULL, format(CASE WHEN h.privilege IS NULL THEN 'GRANT %s ON %s %s TO %I'
    ELSE 'REVOKE %s ON %s %s FROM %I CASCADE' END, string_agg(privilege, ', '), kind, object, p_role)
  FROM wanted w FULL JOIN held h USING (kind, object, privilege)
  WHERE w.privilege IS NULL OR h.privilege IS NULL
  GROUP BY kind, object, h.privilege IS NULL, w.privilege IS NULL
  ORDER BY 2;
END
$$;

-- What a role may do beyond the runtime role by way of other roles that it is a member of, one text each. The owner
-- does not take these back: others may need them.
CREATE OR REPLACE FUNCTION runtime_by_groups(p_role name) RETURNS SETOF text
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY
  SELECT format('%s on %s by way of %s', g.privilege, g.object, g.grantee::regrole) FROM (
    SELECT o.object, a.privilege_type AS privilege, a.grantee FROM runtime_objects() o, aclexplode(o.acl) AS a
    WHERE a.is_grantable OR NOT coalesce(o.rights ? a.privilege_type, false)
    UNION
    SELECT c.object, c.privilege, c.grantee FROM runtime_column_grants() c) AS g
  WHERE g.grantee NOT IN (0, p_role::regrole) AND pg_has_role(p_role, g.grantee, 'MEMBER')
  ORDER BY 1;
END
$$;

-- Gives a role what the runtime role may do, and no more. Returns the number of statements that this took. The caller
-- is the owner.
CREATE OR REPLACE FUNCTION grant_runtime(p_role name) RETURNS integer
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

-- Gives a role all that the runtime role may do once more, whatever it has: on a cluster, what was granted before a
-- table or a view was spread is known on the coordinator alone. The caller is the owner.
CREATE OR REPLACE FUNCTION grant_runtime_again(p_role name) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_statement text;
BEGIN
  PERFORM pg_advisory_xact_lock(8726, 4);
  FOR v_statement IN
    SELECT format('GRANT %s ON %s %s TO %I', string_agg(r.name, ', '), o.kind, o.object, p_role)
    FROM runtime_objects() o, jsonb_array_elements_text(o.rights) AS r(name) GROUP BY o.kind, o.object ORDER BY 1
  LOOP EXECUTE v_statement; END LOOP;
END
$$;

-- What a role lacks of what the runtime role needs, as statements; on a cluster of each machine, with its name. A
-- machine that does not answer tells nothing.
CREATE OR REPLACE FUNCTION runtime_missing(p_role name) RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
  IF to_regclass('pg_dist_node') IS NULL THEN
    RETURN QUERY SELECT g.statement FROM runtime_gaps(p_role) AS g WHERE g.is_missing;
  ELSE
    RETURN QUERY SELECT format('on %s: %s', n.nodename, s.statement)
    FROM run_command_on_all_nodes(format(
      'SELECT json_agg(g.statement) FROM runtime_gaps(%L) AS g WHERE g.is_missing', p_role)) AS c
    JOIN pg_dist_node n ON n.nodeid = c.nodeid
    CROSS JOIN LATERAL json_array_elements_text(CASE WHEN c.success THEN nullif(c.result, '')::json END) AS s(statement);
  END IF;
END
$$;

SELECT runtime_may('SELECT', 'runtime_privileges');
SELECT runtime_may('SELECT', 'schema_migrations');
SELECT runtime_may('SELECT', 'schema_functions');
SELECT runtime_may('SELECT, INSERT, UPDATE', 'secret_checks');
SELECT runtime_may('SELECT, UPDATE', 'elapsed');
