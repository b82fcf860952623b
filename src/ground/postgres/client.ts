/**
 * A connection of the service: connects to the right server within a time limit, and cancels statements that it gives
 * up. Touches the network. README.md has the rule ("Standbys", "Several servers").
 */
import type { EventEmitter } from 'node:events';
import pg from 'pg';
import type { Clock } from '../base/clock.ts';
import { CONNECT_TIMEOUT_MS } from './database.ts';
import type { HostSession, Hosts, ServerRole } from './hosts.ts';

/**
 * How long a connection stays open after its statement was given up, so that the server can receive the cancellation.
 */
const CANCEL_TIMEOUT_MS = 1_000;

/**
 * How often running statements are looked at. A statement that is seen twice may wait for a standby that left its
 * primary for another one.
 */
const LOOK_EVERY_MS = 500;

type ConnectCallback = (error: Error) => void;

/** Members that the driver has and its types do not. */
interface Inside {
  readonly processID: number | null;
  readonly secretKey: number | null;
  /** undefined before the session exists, false while a statement runs. */
  readonly readyForQuery: boolean | undefined;
  readonly _activeQuery: object | null | undefined;
  readonly connection: { readonly stream: { destroy(error: Error): void } };
}

interface Wire extends EventEmitter {
  readonly stream: { destroy(): void };
  connect(port: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
}
const WireClass = pg.Connection as unknown as new (options: {
  ssl: unknown;
  sslNegotiation: unknown;
}) => Wire;

/** `hosts` finds the server; null: the pool's own options name it. */
export function clientClass(hosts: Hosts | null, clock: Clock) {
  return class extends ServiceClient {
    constructor(options?: pg.ClientConfig) {
      super(options ?? {}, hosts, clock);
    }
  };
}

export class ServiceClient extends pg.Client implements HostSession {
  readonly #hosts: Hosts | null;
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #withinMs: number;
  /** The URL of the session's server; null before it is known, and if the pool's own options name it. */
  url: string | null = null;

  constructor(options: pg.ClientConfig, hosts: Hosts | null, clock: Clock) {
    super(hosts === null ? options : { ...options, connectionString: hosts.first });
    this.#hosts = hosts;
    this.#clock = clock;
    this.#startMs = clock.monotonicMs();
    this.#withinMs = options.connectionTimeoutMillis ?? CONNECT_TIMEOUT_MS;
    // A borrowed connection that dies also fails its statement, which is report enough.
    this.on('error', () => this.#forgetServer());
  }

  /** How much time is left for the new connection. */
  timeLeftMs(): number {
    return Math.max(this.#startMs + this.#withinMs - this.#clock.monotonicMs(), 1);
  }

  /** Throws if the server of the session is not the wanted one. */
  accept(role: ServerRole): void {
    try {
      this.#hosts?.check(role);
    } catch (error) {
      this.#forgetServer();
      throw error;
    }
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.Client> | undefined {
    const connected = this.#connect();
    if (callback === undefined) return connected;
    connected.then(() => (callback as () => void)(), callback);
    return undefined;
  }

  async #connect(): Promise<pg.Client> {
    if (this.#hosts !== null) {
      this.url = await this.#hosts.find();
      if (this.timeLeftMs() === 1) throw new Error('timeout expired');
      const { host, port } = new pg.Client({ connectionString: this.url });
      Object.assign(this, { host, port });
      if (this.#hosts.areSeveral) this.#watch(this.#hosts, this.url);
    }
    try {
      return await super.connect();
    } catch (error) {
      this.#forgetServer();
      throw error;
    }
  }

  #watch(hosts: Hosts, url: string): void {
    hosts.add(this);
    let seen: unknown = null;
    const look = () => {
      const { _activeQuery: active } = this as unknown as Inside;
      if (active && active === seen) hosts.suspect(url);
      seen = active;
    };
    const timer = this.#clock.every(LOOK_EVERY_MS, look, { ref: false });
    this.once('end', () => {
      timer.cancel();
      hosts.delete(this);
    });
  }

  drop(): void {
    (this as unknown as Inside).connection.stream.destroy(
      new Error('Connection terminated: another primary'),
    );
  }

  #forgetServer(): void {
    if (this.url !== null) this.#hosts?.forget(this.url);
  }

  /**
   * Cancels a statement that still runs. A commit that waits for its synchronous standby would otherwise go on
   * waiting without its client, and hold a process of the server, for as long as the standby is away.
   */
  override end(): Promise<void>;
  override end(callback: ConnectCallback): void;
  override end(callback?: ConnectCallback): Promise<void> | undefined {
    const { processID, secretKey, readyForQuery } = this as unknown as Inside;
    if (processID === null || secretKey === null || readyForQuery !== false) {
      return callback === undefined ? super.end() : (super.end(callback) as undefined);
    }
    this.#forgetServer();
    const ended = cancel(this, this.#clock, processID, secretKey).then(() => super.end());
    if (callback === undefined) return ended;
    // The driver calls the callback without an error.
    void ended.then(callback as unknown as () => void);
    return undefined;
  }
}

/**
 * Asks the server on a connection of its own to cancel the statement of a session. Resolves when the server has
 * received the request, or cannot be reached.
 */
function cancel(client: pg.Client, clock: Clock, processId: number, secretKey: number): Promise<void> {
  const { host, port, ssl } = client;
  const { sslNegotiation } = client as unknown as { sslNegotiation: unknown };
  return new Promise((resolve) => {
    const wire = new WireClass({ ssl, sslNegotiation });
    const enough = clock.after(CANCEL_TIMEOUT_MS, () => wire.stream.destroy());
    const ask = () => wire.cancel(processId, secretKey);
    wire.on('connect', () => {
      if (!ssl) ask();
      else if (sslNegotiation !== 'direct') wire.requestSsl();
    });
    wire.on('sslconnect', ask);
    wire.on('error', () => wire.stream.destroy());
    wire.on('end', () => {
      enough.cancel();
      resolve();
    });
    if (host.startsWith('/')) wire.connect(`${host}/.s.PGSQL.${port}`);
    else wire.connect(port, host);
  });
}
