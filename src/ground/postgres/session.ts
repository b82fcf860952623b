/**
 * Sets up each session, so that no URL, role, database or pooler decides how transactions see each other, what a commit
 * is worth and how long a statement may take (D15, D16, D37). Sends settings to the server. README.md has the rule
 * ("Sessions").
 */
import type pg from 'pg';
import { onlyRow } from './database.ts';
import { SERVER_ROLE, type ServerRole } from './hosts.ts';
import { SetupError } from './setup-error.ts';

interface SessionLimits {
  readonly statementTimeoutMs: number;
  readonly idleTransactionTimeoutMs: number;
}

/** The forms of values. With other settings the service would read or write other values. */
const FORMS = {
  client_encoding: 'UTF8',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  bytea_output: 'hex',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  // With 0 or less, PostgreSQL rounds amounts.
  extra_float_digits: '1',
};

/** The settings with which the plans of the statements were measured. */
const PLANS = {
  // No statement runs long enough to earn its compilation: the claim of a message took 700 ms with it.
  jit: 'off',
  plan_cache_mode: 'auto',
  enable_partition_pruning: 'on',
  // Statements are short, and a container gives 64 MB of /dev/shm, which a parallel hash overruns.
  max_parallel_workers_per_gather: '0',
  // Solid state disks: prefer the index.
  random_page_cost: '1.1',
};

const SETTINGS = {
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  synchronous_commit: 'on',
  client_min_messages: 'notice',
  search_path: 'public',
  lock_timeout: '0',
  // PostgreSQL has it from 17 on.
  transaction_timeout: '0',
  idle_session_timeout: '0',
  ...FORMS,
  ...PLANS,
};

interface Found extends ServerRole {
  readonly pid: number;
  readonly replication: string;
  /** The first schema of the search path, if it has the tables or no schema has them yet; null: it cannot be used. */
  readonly schema: string | null;
  readonly hasPublic: boolean;
  /** The values before, by the names of `SETTINGS`. */
  readonly settings: Readonly<Record<string, string | null>>;
}

/**
 * `synchronous_commit = remote_apply` promises more than `on`, and stays. A search path that leads to the tables stays:
 * an operator may have a schema for them. $1: the process of the session, as the server told the driver. A pooler tells
 * a number of its own, and a setting through a pooler would stay in a session that another client gets next.
 * `default_transaction_read_only` stays as it is: an operator may have set it because of a full disk.
 */
const SET = `
  WITH wanted AS (SELECT w.name, w.value FROM jsonb_each_text($2::jsonb) AS w(name, value)), path AS MATERIALIZED (
    SELECT CASE WHEN coalesce((SELECT c.relnamespace = current_schema()::regnamespace FROM pg_class c
      WHERE c.oid = to_regclass('schema_migrations')), to_regclass('public.schema_migrations') IS NULL)
      THEN current_schema() END AS schema
  )
  SELECT pg_backend_pid() AS pid, current_setting('session_replication_role') AS replication, ${SERVER_ROLE},
    path.schema, to_regnamespace('public') IS NOT NULL AS "hasPublic",
    (SELECT jsonb_object_agg(w.name, current_setting(w.name, true)) FROM wanted w) AS settings,
    CASE WHEN pg_backend_pid() = $1 THEN (
      SELECT count(set_config(w.name, w.value, false)) FROM wanted w
      WHERE CASE w.name WHEN 'synchronous_commit' THEN current_setting(w.name) <> 'remote_apply'
        WHEN 'search_path' THEN path.schema IS NULL
        ELSE current_setting(w.name, true) IS NOT NULL END) END AS set
  FROM path`;

/**
 * Sets up a new session within `withinMs`. Behind a pooler, which gives each transaction any session, checks the
 * defaults of the sessions instead. Always checks that triggers run. Returns the role of the server. Throws
 * `SetupError` if a default is wrong.
 */
export async function prepareSession(
  client: pg.ClientBase,
  { statementTimeoutMs, idleTransactionTimeoutMs }: SessionLimits,
  withinMs: number,
): Promise<ServerRole> {
  failCommitsInDoubt(client);
  const { processID } = client as pg.ClientBase & { readonly processID: number | null };
  const wanted = {
    ...SETTINGS,
    statement_timeout: String(statementTimeoutMs),
    idle_in_transaction_session_timeout: String(idleTransactionTimeoutMs),
  };
  const query = { text: SET, values: [processID, JSON.stringify(wanted)], query_timeout: withinMs };
  const { rows } = await client.query<Found>(query);
  const found = onlyRow(rows);
  refuseWithoutTriggers(found);
  if (found.pid !== processID) refuseWeak(found);
  else if (found.schema === null && !found.hasPublic) throw noSchema('the search_path leads to no schema');
  return found;
}

/**
 * Refuses instead of changing the setting: the service's role may lack the right, and a person chose it for a reason.
 */
function refuseWithoutTriggers({ replication }: Found): void {
  if (replication !== 'replica') return;
  throw new SetupError(
    'the sessions of the database have session_replication_role = replica, in which the triggers that count ' +
      'messages do not run: take it out of DATABASE_URL and PGOPTIONS, and reset it for the role and the database ' +
      '(ALTER ROLE ... RESET session_replication_role)',
  );
}

/**
 * What a pooled session may have besides the value of `SETTINGS`. A pooler sees to the encoding, the statements name
 * their time zone, and functions that force their plan turn the compilation off themselves.
 */
const POOLED: Readonly<Partial<Record<keyof typeof SETTINGS, (value: string) => boolean>>> = {
  default_transaction_isolation: () => false,
  synchronous_commit: (value) => value === 'remote_apply',
  client_min_messages: (value) => value !== 'error',
  standard_conforming_strings: () => false,
  array_nulls: () => false,
  bytea_output: () => false,
  DateStyle: (value) => value.startsWith('ISO'),
  IntervalStyle: () => false,
  extra_float_digits: (value) => Number(value) > 0,
};

function refuseWeak({ settings, schema }: Found): void {
  for (const [name, isGood] of Object.entries(POOLED)) {
    const value = settings[name] ?? '';
    const wanted = SETTINGS[name as keyof typeof SETTINGS];
    if (value === wanted || isGood(value)) continue;
    throw new SetupError(
      `DATABASE_URL leads through a connection pooler to sessions with ${name} = ${value}: ` +
        `set it to '${wanted}' for the role (ALTER ROLE ... SET ${name} = '${wanted}'), or connect without the pooler`,
    );
  }
  if (schema === null)
    throw noSchema('the search_path of the sessions behind the pooler does not lead to the tables');
}

function noSchema(what: string): SetupError {
  return new SetupError(
    `${what}: CREATE SCHEMA public, or name the schema of the tables for the role (ALTER ROLE ... SET search_path = ...)`,
  );
}

/** A commit in doubt: it may not hold after a failover. */
export class CommitInDoubtError extends Error {
  override readonly name = 'CommitInDoubtError';

  constructor() {
    super('the commit did not wait for its synchronous standby, which may not have it');
  }
}

/** The source file of PostgreSQL's warning; the text of the warning depends on the server's language. */
const WARNS_OF_IT = 'syncrep.c';

type QueryCallback = (error: unknown, result?: unknown) => void;

/**
 * Makes a statement fail if the server warns that its commit was cut short; otherwise the statement would count as a
 * success. The warning comes before the statement ends.
 */
function failCommitsInDoubt(client: pg.ClientBase): void {
  let isInDoubt = false;
  client.on('notice', ({ file }) => {
    if (file === WARNS_OF_IT) isInDoubt = true;
  });
  const doubt = () => {
    const error = isInDoubt ? new CommitInDoubtError() : null;
    isInDoubt = false;
    return error;
  };
  const send = client.query.bind(client) as unknown as (...args: unknown[]) => unknown;
  const guarded = (...args: unknown[]) => {
    const answered = args.at(-1);
    if (typeof answered === 'function') {
      const passOn: QueryCallback = (error, result) => {
        const reason = error ?? doubt();
        (answered as QueryCallback)(reason, reason === null ? result : undefined);
      };
      return send(...args.slice(0, -1), passOn);
    }
    return (send(...args) as Promise<unknown>).then((result) => {
      const reason = doubt();
      if (reason !== null) throw reason;
      return result;
    });
  };
  client.query = guarded as unknown as typeof client.query;
}
