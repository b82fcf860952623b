/** One machine with PostgreSQL: it can be killed, started again, and followed by a standby. */
import { execFileSync } from 'node:child_process';
import { appendFile, chown, copyFile, mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { machineClock } from '../../../src/ground/base/clock.ts';
import { type Cluster, ensureCluster } from '../../../src/ground/embedded/cluster.ts';
import { findPostmaster, isServer } from '../../../src/ground/embedded/postmaster.ts';
import { type EmbeddedConnection, hangUp, login } from '../../../src/ground/embedded/session.ts';
import { startPostmaster } from '../../../src/ground/embedded/start.ts';
import { isFree, lastingPort } from '../../../test/support/free-port.ts';

export const STANDBY = 'chaos_standby';
const WITHIN_MS = 120_000;
const POLL_MS = 20;
/** What a copy of the files leaves out: the log comes by replication, and the rest is of the running server. */
const NOT_COPIED = ['pg_wal/*', 'pg_replslot/*', 'postmaster.pid', 'postmaster.opts', 'standby.signal'];
const SETTINGS = ['wal_keep_size=256MB', 'wal_retrieve_retry_interval=200ms', 'max_connections=150'];

export class Machine {
  /** Has `postgres` with the cluster, as a DATA_DIR has. */
  readonly home: string;
  readonly #cluster: Cluster;
  readonly #port: number;

  private constructor(home: string, cluster: Cluster, port: number) {
    this.home = home;
    this.#cluster = cluster;
    this.#port = port;
  }

  /** The machine of the data in `home`; makes an empty cluster where there is none. */
  static async of(home: string): Promise<Machine> {
    return new Machine(home, await ensureCluster(home, machineClock), await lastingPort());
  }

  /** A copy of a running machine, which follows it once it is started. */
  static async following(primary: Machine, home: string): Promise<Machine> {
    await mkdir(home, { recursive: true, mode: 0o700 });
    const directory = join(await realpath(home), 'postgres');
    const label = await primary.#backUp(directory);
    const { host, port, user, password } = primary.connection;
    const info = `host=${host} port=${port} user=${user} password=${password} application_name=${STANDBY}`;
    await appendFile(join(directory, 'postgresql.auto.conf'), `primary_conninfo = '${info}'\n`);
    for (const [name, text] of [
      ['backup_label', label],
      ['standby.signal', ''],
    ] as const) {
      const file = join(directory, name);
      await writeFile(file, text, { mode: 0o600 });
      const { account } = primary.#cluster;
      if (account !== undefined) await chown(file, account.uid, account.gid);
    }
    await copyFile(primary.#cluster.passwordFile, join(home, 'postgres.password'));
    return Machine.of(home);
  }

  get connection(): EmbeddedConnection {
    const { password } = this.#cluster;
    return { host: '127.0.0.1', port: this.#port, user: 'ventanilla', password, database: 'ventanilla' };
  }

  /** Resolves when the server takes connections; it may run already. */
  async start(): Promise<void> {
    const deadline = machineClock.monotonicMs() + WITHIN_MS;
    const settings = SETTINGS.flatMap((setting) => ['-c', setting]);
    while ((await findPostmaster(this.#cluster.directory, machineClock))?.ready !== true) {
      if (machineClock.monotonicMs() > deadline)
        throw new Error(`PostgreSQL is not ready; see ${this.#cluster.logFile}`);
      const running = await findPostmaster(this.#cluster.directory, machineClock);
      // The processes of a killed server hold its port a moment longer, and a start would take another one.
      if (running === undefined && (await isFree(this.#port)))
        await startPostmaster(this.#cluster, deadline, { port: this.#port, settings });
      else await sleep(POLL_MS);
    }
  }

  /** Runs `work` in a session of the superuser. */
  async ask<T>(work: (client: Awaited<ReturnType<typeof login>>) => Promise<T>): Promise<T> {
    const client = await login(this.connection, machineClock);
    try {
      return await work(client);
    } finally {
      await hangUp(client, machineClock);
    }
  }

  /** Ends the server with this signal, and waits for its end. */
  async end(signal: 'SIGKILL' | 'SIGINT'): Promise<void> {
    const server = await findPostmaster(this.#cluster.directory, machineClock).catch(() => undefined);
    if (server === undefined || server.pid === 0) return;
    process.kill(server.pid, signal);
    const deadline = Date.now() + WITHIN_MS;
    while (await isServer(server.pid, this.#cluster.directory)) {
      if (Date.now() > deadline) throw new Error(`PostgreSQL does not end; see ${this.#cluster.logFile}`);
      await sleep(POLL_MS);
    }
  }

  /** Ends the server and removes its data. */
  async remove(): Promise<void> {
    await this.end('SIGKILL');
    await rm(this.home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  /** Copies the files into a new folder while the server runs; gives the label of the copy. */
  #backUp(directory: string): Promise<string> {
    return this.ask(async (client) => {
      await client.query("SELECT pg_backup_start('chaos', true)");
      const left = NOT_COPIED.map((name) => `--exclude=./${name}`);
      const from = this.#cluster.directory;
      await mkdir(directory, { mode: 0o700 });
      const pipe = 'set -o pipefail; a=$1 b=$2; shift 2; tar -C "$a" -cf - "$@" . | tar -C "$b" -xpf -';
      // Files that vanish or grow while they are copied are repaired by the log.
      copy(pipe, from, directory, left);
      const { rows } = await client.query<{ label: string }>(
        'SELECT labelfile AS label FROM pg_backup_stop(false)',
      );
      return rows[0]!.label;
    });
  }
}

function copy(pipe: string, from: string, to: string, more: readonly string[]): void {
  try {
    execFileSync('bash', ['-c', pipe, 'copy', from, to, ...more], { stdio: 'pipe' });
  } catch (error) {
    // tar ends with 1 where a file changed while it was read.
    if ((error as { status?: number }).status !== 1) throw error;
  }
}

/** Makes the database of the service. */
export async function createDatabase({ connection }: Machine): Promise<void> {
  const client = new pg.Client({ ...connection, database: 'postgres' });
  await client.connect();
  await client.query(`CREATE DATABASE ${connection.database}`);
  await client.end();
}
