/**
 * Settings of every session. No URL, role, database or pooler decides how the service's transactions see each other,
 * what a commit is worth and how long a statement may take (D15, D16, D37).
 */
import type pg from 'pg';
import { SERVER_ROLE, type ServerRole } from './hosts.ts';
import { onlyRow } from './only-row.ts';
import { SetupError } from './setup-error.ts';

interface SessionLimits {
  readonly statementTimeoutMs: number;
  readonly idleTransactionTimeoutMs: number;
}

interface Settings extends ServerRole {
  readonly pid: number;
  readonly isolation: string;
  readonly commit: string;
  readonly messages: string;
  readonly replication: string;
}

/**
 * `synchronous_commit = remote_apply` promises more than `on`, and stays. $1: the process of the session, as the
 * server told the driver. A pooler tells a number of its own, and a setting through a pooler would stay in a session
 * that another client gets next. `default_transaction_read_only` stays as it is: an operator may have set it because
 * of a full disk.
 */
const SET = `
  SELECT pg_backend_pid() AS pid, current_setting('default_transaction_isolation') AS isolation,
    current_setting('synchronous_commit') AS commit, current_setting('client_min_messages') AS messages,
    current_setting('session_replication_role') AS replication, ${SERVER_ROLE},
    CASE WHEN pg_backend_pid() = $1 THEN ARRAY[
      set_config('default_transaction_isolation', 'read committed', false),
      set_config('default_transaction_deferrable', 'off', false),
      set_config('synchronous_commit',
        CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
      set_config('client_min_messages', 'notice', false),
      set_config('statement_timeout', $2, false),
      set_config('lock_timeout', '0', false),
      -- PostgreSQL has transaction_timeout from 17 on.
      CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
        THEN set_config('transaction_timeout', '0', false) END,
      set_config('idle_in_transaction_session_timeout', $3, false),
      set_config('client_encoding', 'UTF8', false),
      set_config('array_nulls', 'on', false),
      set_config('DateStyle', 'ISO, MDY', false),
      set_config('IntervalStyle', 'postgres', false),
      set_config('bytea_output', 'hex', false),
      set_config('standard_conforming_strings', 'on', false),
      set_config('TimeZone', 'UTC', false)] END`;

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
  const query = {
    text: SET,
    values: [processID, String(statementTimeoutMs), String(idleTransactionTimeoutMs)],
    query_timeout: withinMs,
  };
  const { rows } = await client.query<Settings>(query);
  const settings = onlyRow(rows);
  refuseWithoutTriggers(settings);
  if (settings.pid !== processID) refuseWeak(settings);
  return settings;
}

/**
 * Refuses instead of changing the setting: the service's role may lack the right, and a person chose it for a reason.
 */
function refuseWithoutTriggers({ replication }: Settings): void {
  if (replication !== 'replica') return;
  throw new SetupError(
    'the sessions of the database have session_replication_role = replica, in which the triggers that count ' +
      'messages do not run: take it out of DATABASE_URL and PGOPTIONS, and reset it for the role and the database ' +
      '(ALTER ROLE ... RESET session_replication_role)',
  );
}

function refuseWeak({ isolation, commit, messages }: Settings): void {
  const wanted: [name: string, value: string, wanted: string, isWanted: boolean][] = [
    ['default_transaction_isolation', isolation, 'read committed', isolation === 'read committed'],
    ['synchronous_commit', commit, 'on', commit === 'on' || commit === 'remote_apply'],
    ['client_min_messages', messages, 'notice', messages !== 'error'],
  ];
  for (const [name, value, to, isWanted] of wanted) {
    if (isWanted) continue;
    throw new SetupError(
      `DATABASE_URL leads through a connection pooler to sessions with ${name} = ${value}: ` +
        `set it to '${to}' for the role (ALTER ROLE ... SET ${name} = '${to}'), or connect without the pooler`,
    );
  }
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
 * Makes a statement fail if the server warns that its commit was cut short; otherwise the statement would pass as a
 * success with a warning. The warning comes before the statement is over.
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
