/** A connection of the service: it goes to the right server, in its time, and leaves nothing running behind it. */
import type { EventEmitter } from 'node:events';
import pg from 'pg';
import { CONNECT_TIMEOUT_MS, type HostSession, type Hosts, type ServerRole } from './hosts.ts';

/** So long a statement that was given up keeps its connection: until the server has heard of it. */
const CANCEL_TIMEOUT_MS = 1_000;

/** A statement that is still running two looks later may wait for a standby that left its primary for another one. */
const LOOK_EVERY_MS = 500;

type ConnectCallback = (error: Error) => void;

/** What the driver has and its types do not. */
interface Inside {
  readonly processID: number | null;
  readonly secretKey: number | null;
  /** undefined before the session is there, false while a statement runs. */
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

/** `hosts` says where to; null: where the pool's own options say. */
export function clientClass(hosts: Hosts | null) {
  return class extends ServiceClient {
    constructor(options?: pg.ClientConfig) {
      super(options ?? {}, hosts);
    }
  };
}

export class ServiceClient extends pg.Client implements HostSession {
  readonly #hosts: Hosts | null;
  readonly #startMs = performance.now();
  /** Where its server is; null before that is known, and where the pool's own options say. */
  url: string | null = null;

  constructor(options: pg.ClientConfig, hosts: Hosts | null) {
    super(hosts === null ? options : { ...options, connectionString: hosts.first });
    this.#hosts = hosts;
    // A connection that dies in the hands of whom it is lent to fails their statement as well; that is enough.
    this.on('error', () => this.#forgetServer());
  }

  /** How much of the time for a new connection is left. */
  timeLeftMs(): number {
    return Math.max(this.#startMs + CONNECT_TIMEOUT_MS - performance.now(), 1);
  }

  /** @throws where the server of the session is not what it has to be */
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
    const timer = setInterval(() => {
      const { _activeQuery: active } = this as unknown as Inside;
      if (active && active === seen) hosts.suspect(url);
      seen = active;
    }, LOOK_EVERY_MS).unref();
    this.once('end', () => {
      clearInterval(timer);
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
   * A statement that still runs is cancelled. A commit that waits for its synchronous standby would otherwise go on
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
    const ended = cancel(this, processID, secretKey).then(() => super.end());
    if (callback === undefined) return ended;
    // The driver calls it without an error.
    void ended.then(callback as unknown as () => void);
    return undefined;
  }
}

/** Asks the server on a connection of its own to cancel what a session runs. Resolves when it has heard, or cannot. */
function cancel(client: pg.Client, processId: number, secretKey: number): Promise<void> {
  const { host, port, ssl } = client;
  const { sslNegotiation } = client as unknown as { sslNegotiation: unknown };
  return new Promise((resolve) => {
    const wire = new WireClass({ ssl, sslNegotiation });
    const enough = setTimeout(() => wire.stream.destroy(), CANCEL_TIMEOUT_MS);
    const ask = () => wire.cancel(processId, secretKey);
    wire.on('connect', () => {
      if (!ssl) ask();
      else if (sslNegotiation !== 'direct') wire.requestSsl();
    });
    wire.on('sslconnect', ask);
    wire.on('error', () => wire.stream.destroy());
    wire.on('end', () => {
      clearTimeout(enough);
      resolve();
    });
    if (host.startsWith('/')) wire.connect(`${host}/.s.PGSQL.${port}`);
    else wire.connect(port, host);
  });
}
