/** One node of the cluster: a PostgreSQL and its Patroni. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastingPort } from '../../test/support/free-port.ts';
import { ACCOUNT, Daemon, POSTGRES_BIN, PROGRAMS } from './debian.ts';

/** The same for all nodes; the cluster is gone with the drill. */
export const PASSWORD = 'drill';

/** These make up most of the time of a failover; docs/scale.md explains each one. */
const DCS = {
  ttl: 20,
  loop_wait: 5,
  retry_timeout: 5,
  synchronous_mode: true,
  primary_start_timeout: 0,
  postgresql: {
    use_pg_rewind: true,
    remove_data_directory_on_rewind_failure: true,
    remove_data_directory_on_diverged_timelines: true,
    parameters: {
      wal_log_hints: 'on',
      shared_buffers: '64MB',
      max_connections: 100,
      synchronous_commit: 'on',
    },
  },
};

/** A node of a Citus cluster: which database is on all of them, and which group of machines it belongs to. */
interface CitusGroup {
  readonly database: string;
  /** 0 is the coordinator's. */
  readonly group: number;
}

/**
 * For Citus: prepared transactions of lost machines are found soon, and each service has up to 96 connections to a
 * worker.
 */
const CITUS_DCS = {
  ...DCS,
  postgresql: {
    ...DCS.postgresql,
    parameters: {
      ...DCS.postgresql.parameters,
      max_connections: 200,
      max_worker_processes: 16,
      'citus.recover_2pc_interval': '5s',
      'citus.local_hostname': '127.0.0.1',
      'citus.node_conninfo': 'sslmode=prefer',
    },
  },
};

export class Node {
  readonly name: string;
  readonly port: number;
  /** The port of Patroni's REST API. */
  readonly apiPort: number;
  readonly #dataDir: string;
  readonly #patroni: Daemon;

  static async make(folder: string, name: string, etcdPort: number, citus?: CitusGroup): Promise<Node> {
    return new Node(folder, name, etcdPort, await lastingPort(), await lastingPort(), citus);
  }

  private constructor(
    folder: string,
    name: string,
    etcdPort: number,
    port: number,
    apiPort: number,
    citus: CitusGroup | undefined,
  ) {
    this.name = name;
    this.port = port;
    this.apiPort = apiPort;
    const home = join(folder, name);
    this.#dataDir = join(home, 'data');
    mkdirSync(home, { mode: 0o700 });
    const file = join(home, 'patroni.yml');
    // JSON is YAML.
    writeFileSync(file, JSON.stringify(this.#settings(home, etcdPort, citus), null, 2));
    if (ACCOUNT !== null) for (const path of [home, file]) chownSync(path, ACCOUNT.uid, ACCOUNT.gid);
    this.#patroni = new Daemon('patroni', [PROGRAMS.patroni, file], home);
  }

  #settings(home: string, etcdPort: number, citus: CitusGroup | undefined) {
    const credentials = (username: string) => ({ username, password: PASSWORD });
    return {
      scope: 'drill',
      name: this.name,
      restapi: { listen: `127.0.0.1:${this.apiPort}`, connect_address: `127.0.0.1:${this.apiPort}` },
      etcd3: { host: `127.0.0.1:${etcdPort}` },
      ...(citus === undefined ? {} : { citus }),
      bootstrap: {
        dcs: citus === undefined ? DCS : CITUS_DCS,
        initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
      },
      postgresql: {
        listen: `127.0.0.1:${this.port}`,
        connect_address: `127.0.0.1:${this.port}`,
        data_dir: this.#dataDir,
        bin_dir: POSTGRES_BIN,
        pgpass: join(home, 'pgpass'),
        // Otherwise a copy waits minutes for a checkpoint where much was written.
        basebackup: [{ checkpoint: 'fast' }],
        authentication: { superuser: credentials('postgres'), replication: credentials('replicator') },
        parameters: { unix_socket_directories: home },
        // Nodes of Citus connect to each other as the user that they act for.
        pg_hba:
          citus !== undefined
            ? ['host all all 127.0.0.1/32 trust', 'host replication replicator 127.0.0.1/32 trust']
            : [
                'host all all 127.0.0.1/32 scram-sha-256',
                'host replication replicator 127.0.0.1/32 scram-sha-256',
              ],
      },
    };
  }

  /**
   * First stops a PostgreSQL that runs without its Patroni, as the supervisor of docs/scale.md does: otherwise
   * Patroni would end the waits of commits on a deposed primary for a standby that it has lost.
   */
  async start(): Promise<void> {
    const args = ['stop', '-m', 'immediate', '-D', this.#dataDir];
    const stop = spawn(join(POSTGRES_BIN as string, 'pg_ctl'), args, { stdio: 'ignore', ...ACCOUNT });
    await once(stop, 'exit');
    this.#patroni.start();
  }

  killPatroni(): Promise<void> {
    return this.#patroni.kill();
  }

  /** Kills PostgreSQL with SIGKILL, without its Patroni's knowledge. */
  killPostgres(): void {
    const pid = this.#postmaster();
    if (pid !== null) process.kill(pid, 'SIGKILL');
  }

  /** For the end of the process: leaves nothing running. */
  abandon(): void {
    if (this.#patroni.pid !== null) process.kill(this.#patroni.pid, 'SIGKILL');
    this.killPostgres();
  }

  /** The roles of the cluster's members, as this node's Patroni knows them. */
  async roles(): Promise<string[]> {
    const url = `http://127.0.0.1:${this.apiPort}/cluster`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => null);
    const cluster = (await answer?.json().catch(() => null)) as { members: { role: string }[] } | null;
    return cluster?.members.map(({ role }) => role) ?? [];
  }

  /** Whether this node calls itself the primary and the cluster agrees. */
  async isPrimary(): Promise<boolean> {
    const url = `http://127.0.0.1:${this.apiPort}/primary`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => null);
    return answer?.status === 200;
  }

  /** Only a running one: a pid in an old file may belong to another program by now. */
  #postmaster(): number | null {
    try {
      const pid = Number(readFileSync(join(this.#dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
      const isOurs = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(this.#dataDir);
      return isOurs ? pid : null;
    } catch {
      return null;
    }
  }
}
