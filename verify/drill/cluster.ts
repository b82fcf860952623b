/** The cluster of a drill: etcd, nodes with Patroni, and an HAProxy before them. */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { lastingPort } from '../../test/support/free-port.ts';
import { ACCOUNT, Daemon, PROGRAMS } from './debian.ts';
import type { StoredMessage } from './messages.ts';
import { Node, PASSWORD } from './node.ts';

/** A failover takes at most the time to live of the leader's key; in the worst case a lost node is copied again. */
const WAIT_MS = 180_000;
/** What the service connects to: the addresses of all nodes, or an HAProxy before them. */
export type Way = 'hosts' | 'haproxy';
const POLL_MS = 100;
const ASK_WITHIN_MS = 20_000;
const NAME = 'ventanilla';
const OPEN_MESSAGES =
  "SELECT coalesce(sum(count), 0) AS open FROM message_counts WHERE status IN ('queued', 'sending')";
const FOLLOWERS = "SELECT FROM pg_stat_replication WHERE state = 'streaming'";

/** A program and the port that it listens on. */
interface Listener {
  readonly daemon: Daemon;
  readonly port: number;
}

export class Cluster {
  readonly folder: string;
  readonly nodes: readonly Node[];
  readonly #etcd: Daemon;
  /** null: the service connects to the nodes directly. */
  readonly #haproxy: Listener | null;

  static async start(count: number, through: Way): Promise<Cluster> {
    const folder = mkdtempSync(join(tmpdir(), 'ventanilla-drill-'));
    chmodSync(folder, 0o755);
    const { daemon: etcd, port: client } = await etcdIn(folder);
    const nodes: Node[] = [];
    for (let number = 1; number <= count; number += 1) {
      nodes.push(await Node.make(folder, `node${number}`, client));
    }
    const haproxy = through === 'haproxy' ? haproxyIn(folder, nodes, await lastingPort()) : null;
    const cluster = new Cluster(folder, nodes, etcd, haproxy);
    await cluster.#start();
    return cluster;
  }

  private constructor(folder: string, nodes: readonly Node[], etcd: Daemon, haproxy: Listener | null) {
    this.folder = folder;
    this.nodes = nodes;
    this.#etcd = etcd;
    this.#haproxy = haproxy;
  }

  async #start(): Promise<void> {
    // A drill that fails or is stopped leaves no process behind.
    process.on('exit', () => this.#abandon());
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));
    this.#etcd.start();
    this.#haproxy?.daemon.start();
    await Promise.all(this.nodes.map((node) => node.start()));
    const primary = await this.whole();
    await this.#ask(primary, 'postgres', `CREATE ROLE ${NAME} LOGIN PASSWORD '${PASSWORD}'`);
    await this.#ask(primary, 'postgres', `CREATE DATABASE ${NAME} OWNER ${NAME}`);
  }

  /** The variables of the service. */
  get url(): string {
    const ports = this.#haproxy === null ? this.nodes.map(({ port }) => port) : [this.#haproxy.port];
    const places = ports.map((port) => `127.0.0.1:${port}`).join(',');
    return `postgres://${NAME}:${PASSWORD}@${places}/${NAME}?target_session_attrs=read-write`;
  }

  /** The only node that is the primary by its own word and the cluster's; null while there is none. */
  async primary(): Promise<Node | null> {
    const answers = await Promise.all(
      this.nodes.map(async (node) => ((await node.isPrimary()) ? [node] : [])),
    );
    return answers.flat()[0] ?? null;
  }

  /**
   * Waits until all other nodes follow the primary, and one of them is its synchronous standby for Patroni too, which
   * comes 2 s later than for PostgreSQL: before that no node may take over.
   */
  whole(): Promise<Node> {
    return this.#wait('a cluster that is whole', async () => {
      const primary = await this.primary();
      return primary !== null && (await this.#isFollowed(primary)) ? primary : null;
    });
  }

  /**
   * The leader after that. Patroni may start a killed PostgreSQL again; a node that lost its Patroni does not lead
   * any more.
   */
  async next(killed: Node): Promise<Node> {
    await this.#wait('the end of the primary', async () => ((await killed.isPrimary()) ? null : true));
    return this.#wait('another primary', () => this.primary());
  }

  async #wait<T>(what: string, look: () => Promise<T | null>): Promise<T> {
    const deadline = performance.now() + WAIT_MS;
    for (;;) {
      const found = await look();
      if (found !== null) return found;
      if (performance.now() > deadline) throw new Error(`waited in vain for ${what}; see ${this.folder}`);
      await sleep(POLL_MS);
    }
  }

  async #isFollowed(primary: Node): Promise<boolean> {
    const followers = await this.#ask(primary, 'postgres', FOLLOWERS).catch(() => []);
    return followers.length === this.nodes.length - 1 && (await primary.roles()).includes('sync_standby');
  }

  /** The ids of all applications, from the primary. */
  async applications(): Promise<number[]> {
    const rows = await this.#ask<{ id: string }>(await this.whole(), NAME, 'SELECT id FROM applications');
    return rows.map(({ id }) => Number(id));
  }

  /**
   * The messages of all applications, once none of them is queued or being sent. However many there are, the wait is in
   * vain only where their number does not fall any more.
   */
  async messages(): Promise<StoredMessage[]> {
    const primary = await this.whole();
    for (let left = Number.POSITIVE_INFINITY; left > 0; ) {
      left = await this.#wait(`the end of a message of ${left}`, async () => {
        const [row] = await this.#ask<{ open: string }>(primary, NAME, OPEN_MESSAGES);
        const open = Number(row?.open);
        return open < left ? open : null;
      });
    }
    const text = 'SELECT application_id, status FROM messages';
    const rows = await this.#ask<{ application_id: string; status: string }>(primary, NAME, text);
    return rows.map(({ application_id, status }) => ({ applicationId: Number(application_id), status }));
  }

  /** Ends everything; keeps the folder with the logs if `keepFolder` is true. */
  stop(keepFolder: boolean): void {
    this.#abandon();
    if (!keepFolder) rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  }

  #abandon(): void {
    for (const node of this.nodes) node.abandon();
    for (const daemon of [this.#haproxy?.daemon, this.#etcd]) {
      if (daemon !== undefined && daemon.pid !== null) process.kill(daemon.pid, 'SIGKILL');
    }
  }

  async #ask<Row extends pg.QueryResultRow>({ port }: Node, database: string, sql: string): Promise<Row[]> {
    const client = new pg.Client({
      ...{ host: '127.0.0.1', port, user: 'postgres', password: PASSWORD, database },
      connectionTimeoutMillis: ASK_WITHIN_MS,
      query_timeout: ASK_WITHIN_MS,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      return (await client.query<Row>(sql)).rows;
    } finally {
      void client.end().catch(() => {});
    }
  }
}

/** The etcd of all nodes of a drill, not started yet. */
export async function etcdIn(folder: string): Promise<Listener> {
  const [client, peer] = [await lastingPort(), await lastingPort()];
  const home = folderIn(folder, 'etcd');
  const [clientUrl, peerUrl] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`];
  const args = [
    ...['--name', 'drill', '--data-dir', join(home, 'data'), '--logger', 'zap'],
    ...['--listen-client-urls', clientUrl, '--advertise-client-urls', clientUrl],
    ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
    ...['--initial-cluster', `drill=${peerUrl}`],
  ];
  return { daemon: new Daemon('etcd', [PROGRAMS.etcd, ...args], home), port: client };
}

function folderIn(folder: string, name: string): string {
  const path = join(folder, name);
  mkdirSync(path, { mode: 0o700 });
  if (ACCOUNT !== null) chownSync(path, ACCOUNT.uid, ACCOUNT.gid);
  return path;
}

/** HAProxy asks each Patroni whether its node is the primary, and ends connections to a node that is not any more. */
function haproxyIn(folder: string, nodes: readonly Node[], port: number): Listener {
  const home = folderIn(folder, 'haproxy');
  const file = join(home, 'haproxy.cfg');
  const servers = nodes.map(
    ({ name, port: to, apiPort }) => `  server ${name} 127.0.0.1:${to} check port ${apiPort}`,
  );
  const settings = `defaults
  mode tcp
  timeout connect 1s
  timeout client 1h
  timeout server 1h
listen primary
  bind 127.0.0.1:${port}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join('\n')}
`;
  writeFileSync(file, settings);
  return { daemon: new Daemon('haproxy', [PROGRAMS.haproxy, '-db', '-f', file], home), port };
}
