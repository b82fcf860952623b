/**
 * Spreads the tables over the machines of a Citus cluster, and makes the functions known there. What is spread already
 * stays. Changes the schema and the settings of roles, as the owner. docs/scale.md has the rule.
 */

import type pg from 'pg';
import { HOUR_MS } from '../base/clock.ts';
import { CONNECT_TIMEOUT_MS, type Database } from '../postgres/database.ts';
import { SetupError } from '../postgres/setup-error.ts';
import { grantRuntime, grantRuntimeAgain, sessionRole } from './runtime-role.ts';

/** In a used database it takes long to move rows and make their shards. */
const TIMEOUT_MS = HOUR_MS;

/**
 * Each machine has a copy of these tables. They hardly ever change; every statement about a partner reads the first
 * four, and the functions of the owner that change versions reach no other ones (sql/functions/policies/activate.sql).
 */
const COPIED = ['partners', 'api_keys', 'policies', 'policy_live', 'policy_activations', 'policy_backtests'];

/**
 * Tables that grow or are busy, with the column that determines the machine. All other tables stay on the
 * coordinator, where every machine reaches them.
 */
const SPREAD = [
  { table: 'batches', column: 'id', beside: 'none' },
  { table: 'application_states', column: 'batch_id', beside: 'batches' },
  { table: 'open_phones', column: 'phone_index', beside: 'none' },
];

/**
 * The number of shards. A registration takes a connection for each. With more shards the cluster can grow further
 * without splitting one, and each registration costs more.
 */
const SHARDS = 8;

/** Settings of every session of the owner and of the service's role, on every machine. */
const SETTINGS = [
  // One connection a shard stays open, because to open one takes longer than its use.
  `citus.max_cached_conns_per_worker = ${SHARDS}`,
  'citus.max_adaptive_executor_pool_size = 1',
  // Shards are written one after the other, in one order, so no two registrations wait for each other in a circle.
  "citus.multi_shard_modify_mode = 'sequential'",
  // A machine that does not answer is given up within the time of a statement.
  `citus.node_connection_timeout = ${CONNECT_TIMEOUT_MS}`,
  // With the default, a registration locks every shard that it writes to against all others until it has committed.
  'citus.enable_deadlock_prevention = off',
  // The other machines plan for more rows than there are, and would compile each statement for seconds.
  'jit = off',
  // Allows applications_of in a statement about a table of the coordinator, which runs there once. Only for reads: in a
  // transaction that writes, such a statement crashes the coordinator (docs/scale.md).
  'citus.allow_nested_distributed_execution = on',
];

const FACTS = `
  SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS has_citus,
    current_database() AS database`;
const IS_KNOWN = "SELECT to_regclass('pg_dist_partition') IS NOT NULL AS known";
const IS_SPREAD = "SELECT FROM pg_dist_partition WHERE logicalrelid = 'batches'::regclass";
const IS_COORDINATOR = 'SELECT groupid = 0 AS here FROM pg_dist_local_group';

/** The tables of the schema that not all machines know yet; a partition follows its parent. */
const UNKNOWN_TABLES = `
  SELECT c.relname AS name FROM pg_class c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND NOT EXISTS (SELECT FROM pg_dist_partition d WHERE d.logicalrelid = c.oid)
    AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.objid = c.oid AND e.deptype = 'e')
  ORDER BY c.relname`;

/**
 * Functions with rows of a table or a view as arguments, as result or as a column of the result: callers last, in the
 * order of their making.
 */
const FUNCTIONS_ON_ROWS = `
  SELECT p.oid::regprocedure::text AS name, pg_get_functiondef(p.oid) AS definition
  FROM pg_proc p
  WHERE p.pronamespace = current_schema()::regnamespace AND p.prokind = 'f' AND EXISTS (
    SELECT FROM pg_type t JOIN pg_class c ON c.oid = t.typrelid
    WHERE (coalesce(p.proallargtypes, p.proargtypes::oid[]) || p.prorettype) && ARRAY[t.oid, t.typarray]
      AND c.relkind IN ('r', 'p', 'v') AND c.relnamespace = p.pronamespace)
  ORDER BY p.oid`;

/** The service's functions that the other machines do not have yet. */
const UNKNOWN_FUNCTIONS = `
  SELECT p.oid::regprocedure::text AS name FROM pg_proc p
  WHERE p.pronamespace = current_schema()::regnamespace AND p.prokind = 'f'
    AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.objid = p.oid AND e.deptype = 'e')
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_dist_object o WHERE o.classid = 'pg_proc'::regclass AND o.objid = p.oid)
  ORDER BY 1`;

/** A generic plan cannot say which shards a statement is for. */
const GENERIC_FUNCTIONS = `
  SELECT p.oid::regprocedure::text AS name FROM pg_proc p
  WHERE p.pronamespace = current_schema()::regnamespace
    AND 'plan_cache_mode=force_generic_plan' = ANY (p.proconfig)`;

const DISTRIBUTE = 'SELECT create_distributed_table($1, $2, colocate_with => $3, shard_count => $4::integer)';

type Run = <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<Row[]>;

/** Throws `SetupError` if the server is a worker of Citus, because the schema is made on the coordinator. */
export async function refuseWorker(run: Run): Promise<void> {
  const [citus] = await run<{ known: boolean }>(IS_KNOWN);
  if (citus?.known !== true) return;
  const [machine] = await run<{ here: boolean }>(IS_COORDINATOR);
  if (machine?.here === true) return;
  throw new SetupError(
    'this is a worker of Citus: run `ventanilla migrate --distribute` with the DATABASE_URL of the coordinator',
  );
}

/** Whether `distribute` has been run on the database. */
export async function isSpread(database: Database): Promise<boolean> {
  const { rows } = await database.query<{ known: boolean }>(IS_KNOWN);
  if (rows[0]?.known !== true) return false;
  return (await database.query(IS_SPREAD)).rowCount === 1;
}

/** Makes new functions known to all machines, if the tables are spread over several. */
export async function spreadFunctions(run: Run): Promise<void> {
  const [citus] = await run<{ known: boolean }>(IS_KNOWN);
  if (citus?.known === true && (await run(IS_SPREAD)).length === 1) await shareFunctions(run);
}

async function shareFunctions(run: Run): Promise<void> {
  for (const { name } of await run<{ name: string }>(UNKNOWN_FUNCTIONS)) {
    await run('SELECT create_distributed_function($1)', [name]);
  }
  for (const { name } of await run<{ name: string }>(GENERIC_FUNCTIONS)) {
    await run(`ALTER FUNCTION ${name} RESET plan_cache_mode`);
  }
}

/**
 * Distributes every table that is not distributed yet, and returns their names. Throws `SetupError` if the database
 * is not on a Citus coordinator. No service may run meanwhile if the tables hold rows.
 */
export async function distribute(database: Database): Promise<string[]> {
  const client = await database.connect();
  const run: Run = async (text, values = []) => {
    const query = { text, values, query_timeout: TIMEOUT_MS };
    return (await client.query(query)).rows;
  };
  try {
    const [facts] = await run<{ has_citus: boolean; database: string }>(FACTS);
    if (facts?.has_citus !== true) {
      throw new SetupError('the database has no Citus: run CREATE EXTENSION citus on each of its machines');
    }
    await refuseWorker(run);
    await run(`SET statement_timeout = ${TIMEOUT_MS}`);
    await run('BEGIN ISOLATION LEVEL READ COMMITTED');
    await run("SET LOCAL citus.multi_shard_modify_mode = 'sequential'");
    const done = await distributeTables(run);
    await shareFunctions(run);
    for (const setting of SETTINGS) await run(`ALTER ROLE CURRENT_USER SET ${setting}`);
    await run('COMMIT');
    return done;
  } finally {
    // The session's settings must not reach the service.
    client.release(true);
  }
}

/**
 * Distributes as `distribute` does, and then sets up the role of `runtime`'s sessions on all machines. Only now do
 * these know the tables and their privileges. `owner` has sessions of the owner.
 */
export async function distributeFor(owner: Database, runtime: Database): Promise<string[]> {
  await setUpRole(runtime);
  const { name } = await sessionRole(runtime);
  const distributed = await distribute(owner);
  await grantRuntime(owner, name);
  await grantRuntimeAgain(owner, name);
  return distributed;
}

/** Sets what the sessions of the role of `database` need on a cluster, from their next start on. */
async function setUpRole(database: Database): Promise<void> {
  for (const setting of SETTINGS) await database.query(`ALTER ROLE CURRENT_USER SET ${setting}`);
}

async function distributeTables(run: Run): Promise<string[]> {
  const unknown = (await run<{ name: string }>(UNKNOWN_TABLES)).map(({ name }) => name);
  const first = [...COPIED, ...SPREAD.map(({ table }) => table)].filter((name) => unknown.includes(name));
  const order = [...first, ...unknown.filter((name) => !first.includes(name))];
  if (order.length === 0) return order;
  // A machine would need each of these functions before its table, and the table before the function, so the
  // functions are made again at the end.
  const functions = await run<{ name: string; definition: string }>(FUNCTIONS_ON_ROWS);
  for (const { name } of functions.toReversed()) await run(`DROP FUNCTION ${name}`);
  for (const name of order) {
    const spread = SPREAD.find(({ table }) => table === name);
    if (COPIED.includes(name)) await run('SELECT create_reference_table($1)', [name]);
    else if (spread === undefined) await run('SELECT citus_add_local_table_to_metadata($1)', [name]);
    else
      await run(DISTRIBUTE, [name, spread.column, spread.beside, spread.beside === 'none' ? SHARDS : null]);
  }
  for (const { definition } of functions) await run(definition);
  return order;
}
