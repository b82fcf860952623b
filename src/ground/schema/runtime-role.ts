/**
 * Compares what the role that the service connects as may do with what it needs, and grants what is missing, as the
 * owner. Reads the catalogue and `runtime_privileges` (`runtime_may` in `sql/functions/shared/runtime-role.sql`).
 * docs/roles.md has the rule.
 */
import { type Database, onlyRow } from '../postgres/database.ts';

/** What the role of a session may do with the store. */
export interface SessionRole {
  readonly name: string;
  /** Also true if the role may become a superuser, or may use the server's files and programs. */
  readonly isSuperuser: boolean;
  /** Whether the role has the owner's rights; null: there are no tables. */
  readonly isOwner: boolean | null;
  /** Whether the role may make tables of its own among those of the store. */
  readonly mayCreate: boolean;
  /** Rights over the whole database or its roles that the service does not need, as SQL names them. */
  readonly excess: readonly string[];
}

/** If a session takes another role at its login, the role that logged in counts. */
const READ_ROLE = `
  SELECT current_user::text AS name, EXISTS (
      SELECT FROM pg_roles r CROSS JOIN (VALUES (current_user), (session_user)) AS u(name)
      WHERE (r.rolsuper OR r.rolname IN ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files'))
        AND pg_has_role(u.name, r.oid, 'MEMBER')) AS "isSuperuser",
    pg_has_role(c.relowner, 'USAGE') AS "isOwner",
    coalesce(has_schema_privilege(n.oid, 'CREATE'), false) AS "mayCreate",
    ARRAY(
      SELECT x.what FROM pg_roles r
      CROSS JOIN LATERAL (VALUES (r.rolcreaterole, 'CREATEROLE'), (r.rolname = 'pg_write_all_data', 'pg_write_all_data'))
        AS x(has, what)
      WHERE x.has AND EXISTS (
        SELECT FROM (VALUES (current_user), (session_user)) AS u(name) WHERE pg_has_role(u.name, r.oid, 'MEMBER'))
      UNION SELECT 'CREATE ON DATABASE' WHERE has_database_privilege(current_database(), 'CREATE')
      ORDER BY 1) AS excess
  FROM (VALUES (coalesce(current_schema(), 'public'))) AS s(name)
  LEFT JOIN pg_namespace n ON n.nspname = s.name
  LEFT JOIN pg_class c ON c.relname = 'schema_migrations' AND c.relnamespace = n.oid`;

export async function sessionRole(database: Database): Promise<SessionRole> {
  return onlyRow((await database.query<SessionRole>(READ_ROLE)).rows);
}

/** What a role lacks of the runtime role's rights, and whether it has more than these. */
interface RuntimeGaps {
  /** Statements that would give it; null: the role may not read what it lacks, or the tables are not there. */
  readonly missing: readonly string[] | null;
  readonly hasMore: boolean;
}

/** Without its privileges a role cannot read what it lacks. */
const MAY_LOOK = "SELECT has_table_privilege(to_regclass('runtime_privileges'), 'SELECT') AS yes";
const READ_GAPS = `
  SELECT coalesce(array_agg(g.statement) FILTER (WHERE g.is_missing), '{}') AS missing,
    coalesce(bool_or(NOT g.is_missing), false) AS "hasMore"
  FROM runtime_gaps(current_user) AS g`;
const READ_MISSING = 'SELECT statement FROM runtime_missing(current_user) AS g(statement)';

const READ_BY_GROUPS = 'SELECT what FROM runtime_by_groups(current_user) AS g(what)';

/** Rights on tables that the role of the sessions has through other roles and does not need. The tables are there. */
export async function runtimeByGroups(database: Database): Promise<string[]> {
  return (await database.query<{ what: string }>(READ_BY_GROUPS)).rows.map(({ what }) => what);
}

/** Compares what the role of the sessions may do with what the migrations say. The role does not own the tables. */
export async function runtimeGaps(database: Database): Promise<RuntimeGaps> {
  const { rows } = await database.query<{ yes: boolean | null }>(MAY_LOOK);
  if (rows[0]?.yes !== true) return { missing: null, hasMore: false };
  return onlyRow((await database.query<RuntimeGaps>(READ_GAPS)).rows);
}

/** What the role of the sessions lacks on any machine of the database, one text each. The tables are there. */
export async function runtimeMissing(database: Database): Promise<string[]> {
  return (await database.query<{ statement: string }>(READ_MISSING)).rows.map(({ statement }) => statement);
}

/**
 * Gives a role what the runtime role may do, and no more. `owner` has sessions of the owner of the tables. Returns
 * whether something was missing or too much. May be called again, and by several processes at once.
 */
export async function grantRuntime(owner: Database, role: string): Promise<boolean> {
  const { rows } = await owner.query<{ done: number }>('SELECT grant_runtime($1) AS done', [role]);
  return onlyRow(rows).done > 0;
}

/** Grants everything once more, for machines of a cluster that have only now learned of the tables. */
export async function grantRuntimeAgain(owner: Database, role: string): Promise<void> {
  await owner.query('SELECT grant_runtime_again($1)', [role]);
}
