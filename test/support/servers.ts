/** Real PostgreSQL servers that a test can start, copy as standbys, kill and promote. */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { machineClock } from '../../src/ground/base/clock.ts';
import { type Cluster, ensureCluster } from '../../src/ground/embedded/cluster.ts';
import { connectionTo } from '../../src/ground/embedded/join.ts';
import { findPostmaster, isServer } from '../../src/ground/embedded/postmaster.ts';
import { createDatabase, type EmbeddedConnection } from '../../src/ground/embedded/session.ts';
import { startPostmaster } from '../../src/ground/embedded/start.ts';
import { eventually, PATIENCE_MS } from './eventually.ts';
import { copyCluster } from './prepared-cluster.ts';
import { serverFolder } from './server-folder.ts';

/** The name of a standby, in `synchronous_standby_names` too. */
const STANDBY = 'standby';

export class TestServer {
  readonly #cluster: Cluster;
  #pid = 0;
  #port = 0;

  private constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** A new server with a database, until the test is over. */
  static async start(t: TestContext): Promise<TestServer> {
    const folder = await mkdtemp(join(serverFolder(), 'ventanilla-server-'));
    copyCluster(folder);
    const server = await TestServer.#run(t, folder);
    await createDatabase(server.connection, machineClock);
    return server;
  }

  static async #run(t: TestContext, folder: string): Promise<TestServer> {
    const server = new TestServer(await ensureCluster(folder, machineClock));
    t.after(async () => {
      await server.end('SIGQUIT');
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    });
    await server.start();
    return server;
  }

  get connection(): EmbeddedConnection {
    return connectionTo(this.#cluster, this.#port);
  }

  /** `host:port`, as in a URL. */
  get place(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** A URL of these servers; users and passwords are the same on all, as on primary and standbys. */
  urlOf(places: readonly string[], parameters = ''): string {
    const { user, password, database } = this.connection;
    return `postgres://${user}:${encodeURIComponent(password)}@${places.join(',')}/${database}${parameters}`;
  }

  /** Runs an operator's statements in a session of its own. */
  async ask<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    const client = new pg.Client(this.connection);
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query<Row>(sql, values)).rows;
    } finally {
      await client.end();
    }
  }

  /** The same port as before, from the second start on. */
  async start(): Promise<void> {
    const { directory } = this.#cluster;
    while ((await findPostmaster(directory, machineClock))?.ready !== true) {
      await startPostmaster(this.#cluster, machineClock.monotonicMs() + PATIENCE_MS, { port: this.#port });
    }
    const found = await findPostmaster(directory, machineClock);
    this.#pid = found?.pid ?? 0;
    this.#port = found?.port ?? 0;
  }

  /** Resolves when the postmaster is gone. */
  async end(signal: 'SIGKILL' | 'SIGINT' | 'SIGQUIT'): Promise<void> {
    const { directory } = this.#cluster;
    if (!(await isServer(this.#pid, directory))) return;
    process.kill(this.#pid, signal);
    while (await isServer(this.#pid, directory)) await sleep(10);
  }

  /** A standby that follows this server, until the test is over. */
  async addStandby(t: TestContext): Promise<TestServer> {
    const folder = await mkdtemp(join(serverFolder(), 'ventanilla-standby-'));
    const directory = join(folder, 'postgres');
    const client = new pg.Client(this.connection);
    await client.connect();
    await client.query("SELECT pg_backup_start('standby', true)");
    const isLeftOut = /postmaster\.(pid|opts)$|pg_wal\/[0-9A-F]{24}|\/pgsql_tmp/;
    await cp(this.#cluster.directory, directory, {
      recursive: true,
      filter: (path) => !isLeftOut.test(path),
    });
    await cp(this.#cluster.passwordFile, join(folder, 'postgres.password'));
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
    await client.end();
    const { host, port, user, password } = this.connection;
    const primary = `host=${host} port=${port} user=${user} password=${password} application_name=${STANDBY}`;
    await writeFile(join(directory, 'backup_label'), rows[0]?.labelfile as string);
    await writeFile(join(directory, 'standby.signal'), '');
    await writeFile(join(directory, 'postgresql.auto.conf'), `primary_conninfo = '${primary}'\n`);
    return TestServer.#run(t, folder);
  }

  /** From now on this server's commits wait for the standby; with `isOn` false they wait for none. */
  async makeSynchronous(isOn = true): Promise<void> {
    await this.ask(`ALTER SYSTEM SET synchronous_standby_names = '${isOn ? STANDBY : ''}'`);
    await this.ask('SELECT pg_reload_conf()');
    if (!isOn) return;
    await eventually('the standby to be synchronous', async () => {
      const rows = await this.ask("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'");
      return rows.length === 1;
    });
  }

  /** Makes a standby the primary. */
  async promote(): Promise<void> {
    // Does not wait in the statement: a recovery that goes on may cancel a statement that runs for long.
    await this.ask('SELECT pg_promote(false)');
    await eventually('the promotion', async () => {
      const [row] = await this.ask<{ is_standby: boolean }>('SELECT pg_is_in_recovery() AS is_standby').catch(
        () => [],
      );
      return row?.is_standby === false;
    });
  }

  /** The processes whose commits wait for the standby. */
  async waiting(): Promise<number[]> {
    const rows = await this.ask<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND backend_type = 'client backend'",
    );
    return rows.map(({ pid }) => pid);
  }
}
