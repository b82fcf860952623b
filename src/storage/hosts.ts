/** Which server new sessions go to where `DATABASE_URL` names several, of which one is the primary. */
import pg from 'pg';
import { isPassingTrouble } from '../domain/store-trouble.ts';
import { SetupError } from './setup-error.ts';

/** What a server has to be; the words are those of PostgreSQL's own clients. */
const TARGETS = ['primary', 'read-write', 'any'] as const;
type Target = (typeof TARGETS)[number];

/** What a session knows of its server. */
export interface ServerRole {
  readonly standby: boolean;
  readonly read_only: boolean;
}

export const SERVER_ROLE = `
  pg_is_in_recovery() AS standby, current_setting('default_transaction_read_only') = 'on' AS read_only`;

/** The server is there, and is not the one that is wanted. A standby may become it in a moment. */
class WrongServerError extends Error {
  override readonly name = 'WrongServerError';
  readonly code = '08001';

  constructor() {
    super('the server takes no writes');
  }
}

export class Hosts {
  /** One for each server. */
  readonly #urls: readonly string[];
  readonly #target: Target;
  #chosen: string | null;
  #search: Promise<string> | null = null;

  /** @throws SetupError that names what is wrong in DATABASE_URL */
  constructor(databaseUrl: string) {
    const [, before = '', places = '', after = ''] =
      /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(databaseUrl) ?? [];
    const parameters = new URLSearchParams(/\?([^#]*)/.exec(after)?.[1]);
    const names = places.split(',');
    this.#urls = names.length === 1 ? [databaseUrl] : names.map((name) => before + name + after);
    refuseOtherLists(names, parameters);
    this.#target = targetOf(parameters.get('target_session_attrs'), names.length > 1);
    this.#chosen = this.#single;
  }

  /** For whoever needs a URL before the server is known. */
  get first(): string {
    return this.#urls[0] as string;
  }

  get #single(): string | null {
    return this.#urls.length === 1 ? this.first : null;
  }

  /**
   * The URL of the server that the last session went to or, where that failed, of the first one that answers as what
   * it has to be. All are asked at once: one whose machine is gone answers nothing, and would use up the whole time.
   */
  async find(withinMs: number): Promise<string> {
    if (this.#chosen !== null) return this.#chosen;
    this.#search ??= this.#ask(withinMs).finally(() => {
      this.#search = null;
    });
    this.#chosen = await this.#search;
    return this.#chosen;
  }

  /** A session with the server of this URL failed: the next one asks all of them. */
  forget(url: string): void {
    if (this.#chosen === url) this.#chosen = this.#single;
  }

  /** @throws where the server is not what it has to be */
  check({ standby, read_only: isReadOnly }: ServerRole): void {
    if (this.#target === 'any') return;
    if (standby || (isReadOnly && this.#target === 'read-write')) throw new WrongServerError();
  }

  async #ask(withinMs: number): Promise<string> {
    try {
      return await Promise.any(this.#urls.map((url) => this.#probe(url, withinMs)));
    } catch (error) {
      const { errors } = error as AggregateError;
      // What may be over in a moment comes first: a standby becomes the primary when nothing is left of that.
      throw errors.find((one) => isPassingTrouble(one)) ?? errors[0];
    }
  }

  async #probe(url: string, withinMs: number): Promise<string> {
    const deadline = performance.now() + withinMs;
    const client = new pg.Client({
      connectionString: url,
      application_name: 'ventanilla',
      connectionTimeoutMillis: withinMs,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      const leftMs = Math.max(deadline - performance.now(), 1);
      const query = { text: `SELECT ${SERVER_ROLE}`, query_timeout: leftMs };
      const { rows } = await client.query<ServerRole>(query);
      this.check(rows[0] as ServerRole);
      return url;
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
