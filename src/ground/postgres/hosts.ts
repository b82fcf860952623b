/**
 * Finds the primary for new sessions if `DATABASE_URL` names several servers. Asks all servers over the network.
 * README.md ("Several servers") and docs/scale.md have the rule.
 */
import pg from 'pg';
import type { Clock } from '../base/clock.ts';
import { CONNECT_TIMEOUT_MS, onlyRow } from './database.ts';
import { SetupError } from './setup-error.ts';
import { isPassingTrouble } from './store-trouble.ts';

/**
 * How long the first server that may be the primary waits for the others' answers, in milliseconds: a primary that
 * was deposed and does not know it yet says that it is the primary too.
 */
const GRACE_MS = 200;

/** What the server must be, in the words of PostgreSQL's own clients. */
const TARGETS = ['primary', 'read-write', 'any'] as const;
type Target = (typeof TARGETS)[number];

/** What a session knows about its server. */
export interface ServerRole {
  readonly standby: boolean;
  readonly read_only: boolean;
}

export const SERVER_ROLE = `
  pg_is_in_recovery() AS standby, current_setting('default_transaction_read_only') = 'on' AS read_only`;

/** Each new primary begins a timeline. So of two primaries, the one on the later timeline was elected last. */
const PROBE = `
  SELECT ${SERVER_ROLE}, CASE WHEN pg_is_in_recovery() THEN 0
    ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer END AS timeline`;

interface Found {
  readonly url: string;
  readonly timeline: number;
}

/** An open session. */
export interface HostSession {
  readonly url: string | null;
  /** Ends the session as a broken network would. */
  drop(): void;
}

/** The server answers and is not the wanted one. A standby may become the wanted one in a moment. */
class WrongServerError extends Error {
  override readonly name = 'WrongServerError';
  readonly code = '08001';

  constructor() {
    super('the server takes no writes');
  }
}

export class Hosts {
  /** One URL for each server. */
  readonly #urls: readonly string[];
  readonly #target: Target;
  readonly #clock: Clock;
  #chosen: string | null;
  #search: Promise<string> | null = null;
  readonly #sessions = new Set<HostSession>();

  /** Throws `SetupError` that names what is wrong in DATABASE_URL. */
  constructor(databaseUrl: string, clock: Clock) {
    this.#clock = clock;
    const [, before = '', places = '', after = ''] =
      /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(databaseUrl) ?? [];
    const parameters = new URLSearchParams(/\?([^#]*)/.exec(after)?.[1]);
    const names = places.split(',');
    this.#urls = names.length === 1 ? [databaseUrl] : names.map((name) => before + name + after);
    refuseOtherLists(names, parameters);
    this.#target = targetOf(parameters.get('target_session_attrs'), names.length > 1);
    this.#chosen = this.areSeveral ? null : this.first;
  }

  /** A URL for code that needs one before the server is known. */
  get first(): string {
    return this.#urls[0]!;
  }

  get areSeveral(): boolean {
    return this.#urls.length > 1;
  }

  /**
   * The URL of the server of the last session or, if that failed, of a server that is the wanted one. All servers are
   * asked at once: a lost machine answers nothing, and would use up the whole time.
   */
  async find(): Promise<string> {
    return this.#chosen ?? this.#look();
  }

  async #look(): Promise<string> {
    this.#search ??= this.#ask().finally(() => {
      this.#search = null;
    });
    const url = await this.#search;
    this.#chosen = url;
    // A session with another server would wait in vain for its next answer.
    for (const session of this.#sessions) if (session.url !== url) session.drop();
    return url;
  }

  /** Drops the session when another server is found to be the primary. */
  add(session: HostSession): void {
    this.#sessions.add(session);
  }

  delete(session: HostSession): void {
    this.#sessions.delete(session);
  }

  /**
   * A session with the server of this URL failed: asks all servers again, at once, for the sake of the other
   * sessions.
   */
  forget(url: string): void {
    if (this.#chosen !== url || !this.areSeveral) return;
    this.#chosen = null;
    // If none is found, the next session asks again.
    this.#look().catch(() => {});
  }

  /** A statement on the server of this URL takes long: it may not be the primary any more. */
  suspect(url: string): void {
    if (this.#chosen === url) this.#look().catch(() => {});
  }

  /** Throws if the server is not the wanted one. */
  check({ standby, read_only: isReadOnly }: ServerRole): void {
    if (this.#target === 'any') return;
    if (standby || (isReadOnly && this.#target === 'read-write')) throw new WrongServerError();
  }

  async #ask(): Promise<string> {
    const found: Found[] = [];
    const probes = this.#urls.map(async (url) => found.push(await this.#probe(url)));
    const all = Promise.allSettled(probes);
    try {
      await Promise.any(probes);
    } catch (error) {
      const { errors } = error as AggregateError;
      // Prefers an error that may pass: a standby may become the primary once no such error is left.
      throw errors.find((one) => isPassingTrouble(one)) ?? errors[0];
    }
    const enough = new AbortController();
    await Promise.race([all, this.#clock.sleep(GRACE_MS, enough).catch(() => {})]);
    enough.abort();
    return found.reduce((best, one) => (one.timeline > best.timeline ? one : best)).url;
  }

  async #probe(url: string): Promise<Found> {
    const deadline = this.#clock.monotonicMs() + CONNECT_TIMEOUT_MS;
    const client = new pg.Client({
      connectionString: url,
      application_name: 'ventanilla',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      const leftMs = Math.max(deadline - this.#clock.monotonicMs(), 1);
      const query = { text: PROBE, query_timeout: leftMs };
      const { rows } = await client.query<ServerRole & Found>(query);
      const server = onlyRow(rows);
      this.check(server);
      return { url, timeline: server.timeline };
    } finally {
      void client.end().catch(() => {});
    }
  }
}

function refuseOtherLists(names: readonly string[], parameters: URLSearchParams): void {
  const isList = (name: string) => parameters.get(name)?.includes(',') === true;
  const isBoth = names.length > 1 && (parameters.has('host') || parameters.has('port'));
  const isGap = names.length > 1 && names.includes('');
  if (!isGap && !isBoth && !isList('host') && !isList('port')) return;
  throw new SetupError(
    'DATABASE_URL must name several servers as in postgres://user:password@host1:5432,host2:5432/name',
  );
}

function targetOf(text: string | null, areSeveral: boolean): Target {
  if (text === null) return areSeveral ? 'primary' : 'any';
  const target = TARGETS.find((one) => one === text);
  if (target !== undefined) return target;
  throw new SetupError(
    `target_session_attrs in DATABASE_URL must be one of: ${TARGETS.join(', ')} (the service writes)`,
  );
}
