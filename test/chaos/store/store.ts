/**
 * The store of a run: a primary and its synchronous standby, behind a middleman. A commit is acknowledged when both
 * have it on disk, so a failover may lose nothing.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { checkStore, type Finding } from '../../../src/invariants/check-store.ts';
import type { Database } from '../../../src/postgres/database.ts';
import { openDatabase } from '../../../src/postgres/open-database.ts';
import { migrate } from '../../../src/schema/migrations.ts';
import { grantRuntime } from '../../../src/schema/runtime-role.ts';
import { type SteppedClock, stepClock } from '../../support/faked-clock.ts';
import { Middleman } from '../../support/middleman.ts';
import { testPatience } from '../../support/start-patiently.ts';
import { backUp, catchUp, restore } from './backup.ts';
import { Disk } from './disk.ts';
import { Machine, STANDBY } from './machine.ts';

/** The role of the services, which may do no more than docs/roles.md says. */
const SERVICE = 'chaos_service';
const FOLLOWS_WITHIN_MS = 120_000;
const IN_STEP = "SELECT FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'";
const WAITS = `
  SELECT format('%s %s: %s', coalesce(wait_event, 'works'), state, count(*)) AS text FROM pg_stat_activity
  WHERE backend_type IN ('client backend', 'walsender') GROUP BY wait_event, state
  UNION ALL SELECT format('standby %s %s', r.state, r.sync_state) FROM pg_stat_replication r`;
/** Without a commit, because a commit would wait for a standby that the full disk has ended before. */
const FILL_LOG = `
  SELECT pg_logical_emit_message(false, 'chaos', repeat('a', 1000000)) FROM generate_series(1, 10)`;

export class Store {
  /** The URL for the programs, through the middleman. */
  readonly url: string;
  readonly middleman: Middleman;
  readonly clock: SteppedClock;
  readonly disk: Disk;
  #primary: Machine;
  #standby: Machine | null = null;
  #database: Database;
  #serial = 0;

  /** `hasStandby`: false for a run without failovers. `leave` gets what ends the store where nobody stops it. */
  static async start(folder: string, hasStandby: boolean, leave: (() => void)[]): Promise<Store> {
    const disk = new Disk(join(folder, 'disk'));
    leave.push(() => abandon(disk));
    const primary = await Machine.of(join(disk.path, 'machine-0'));
    await primary.start();
    await primary.ask(async () => {}).catch(() => createDatabase(primary));
    const database = open(primary);
    await testPatience().run(() => migrate(database));
    const clock = await primary.ask(async (client) => {
      await client.query(`CREATE ROLE ${SERVICE} LOGIN PASSWORD '${primary.connection.password}'`);
      return stepClock(client);
    });
    await grantRuntime(database, SERVICE);
    const middleman = new Middleman(primary.connection);
    await middleman.start();
    const store = new Store(disk, primary, database, middleman, clock);
    if (hasStandby) await store.#follow();
    return store;
  }

  private constructor(
    disk: Disk,
    primary: Machine,
    database: Database,
    middleman: Middleman,
    clock: SteppedClock,
  ) {
    const { password, database: name } = primary.connection;
    this.url = `postgres://${SERVICE}:${password}@127.0.0.1:${middleman.port}/${name}`;
    this.disk = disk;
    this.middleman = middleman;
    this.clock = clock;
    this.#primary = primary;
    this.#database = database;
  }

  /** Direct connections for the run's own queries; new ones after a kill. */
  get database(): Database {
    return this.#database;
  }

  get hasStandby(): boolean {
    return this.#standby !== null;
  }

  /** Kills the primary with SIGKILL and starts it again. */
  async kill(): Promise<void> {
    await this.#primary.end('SIGKILL');
    await this.#primary.start();
    await this.#moveTo(this.#primary);
  }

  /** Kills the primary for good; its standby leads, and a new standby follows. */
  async failOver(): Promise<void> {
    const standby = this.#standby!;
    await this.#inStep();
    const old = this.#primary;
    await old.end('SIGKILL');
    this.middleman.dropAll();
    await standby.ask((client) => client.query('SELECT pg_promote(true, 60)'));
    this.#standby = null;
    await this.#moveTo(standby);
    await old.remove();
    await this.#follow();
  }

  /** The standby is away for a while; commits wait for it. */
  async loseStandby(ms: number): Promise<void> {
    await this.#standby!.end('SIGKILL');
    await sleep(ms);
    await this.#standby!.start();
    await this.#inStep();
  }

  /** The disk is full until the primary has ended by it, and for this time longer. */
  async fillDisk(ms: number): Promise<void> {
    try {
      // The session begins before: a full disk may refuse a new one, and the server goes on.
      await this.#primary.ask(async (client) => {
        await this.disk.fill();
        await writeLogInVain(client);
      });
      await sleep(ms);
    } finally {
      this.disk.empty();
    }
    await this.#primary.end('SIGKILL');
    await this.#primary.start();
    await this.#standby?.end('SIGKILL');
    await this.#standby?.start();
    await this.#moveTo(this.#primary);
  }

  /** Backs the running store up. `meanwhile` resolves when nothing uses the store; then it is lost, and restored. */
  async loseAndRestore(folder: string, meanwhile: () => Promise<void>): Promise<void> {
    const backup = await backUp(this.#primary.home, join(folder, `backup-${this.#serial}`));
    await meanwhile();
    await catchUp(this.#primary.home, backup);
    await this.#primary.remove();
    await this.#standby?.remove();
    const had = this.hasStandby;
    this.#standby = null;
    const home = this.#nextHome();
    await restore(home, backup);
    const restored = await Machine.of(home);
    await restored.start();
    await restored.ask(async (client) => {
      await client.query("ALTER SYSTEM SET synchronous_standby_names = ''");
      await client.query('SELECT pg_reload_conf()');
    });
    await this.#moveTo(restored);
    if (had) await this.#follow();
  }

  /** What the sessions wait for, for a look at a store that does not answer. */
  async waits(): Promise<string> {
    const look = () => this.#primary.ask((client) => client.query<{ text: string }>(WAITS));
    return look().then(
      ({ rows }) => rows.map(({ text }) => text).join(', '),
      (error: Error) => error.message,
    );
  }

  /** What the checks of a restored backup find in this store. */
  async check(): Promise<Finding[]> {
    const client = new pg.Client({ ...this.#primary.connection });
    await client.connect();
    try {
      return await checkStore(client);
    } finally {
      await client.end();
    }
  }

  async stop(): Promise<void> {
    await this.#database.end();
    await this.middleman.stop();
    await this.#standby?.end('SIGKILL');
    await this.#primary.end('SIGKILL');
    this.disk.unmount();
  }

  async #moveTo(machine: Machine): Promise<void> {
    this.#primary = machine;
    this.middleman.target = machine.connection;
    this.middleman.dropAll();
    const old = this.#database;
    this.#database = open(machine);
    await old.end();
  }

  /** A new standby copies the primary and follows it; from then on each commit waits for it. */
  async #follow(): Promise<void> {
    const standby = await Machine.following(this.#primary, this.#nextHome());
    await standby.start();
    this.#standby = standby;
    await this.#primary.ask(async (client) => {
      await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`);
      await client.query('SELECT pg_reload_conf()');
    });
    await this.#inStep();
  }

  async #inStep(): Promise<void> {
    const deadline = performance.now() + FOLLOWS_WITHIN_MS;
    const look = () => this.#primary.ask((client) => client.query(IN_STEP));
    while ((await look()).rowCount !== 1) {
      if (performance.now() > deadline) throw new Error('the standby does not follow the primary');
      await sleep(50);
    }
  }

  #nextHome(): string {
    this.#serial += 1;
    return join(this.disk.path, `machine-${this.#serial}`);
  }
}

/** Writes log until the server ends by it. Throws where it goes on, or does not answer. */
async function writeLogInVain(client: pg.Client): Promise<void> {
  const deadline = performance.now() + FOLLOWS_WITHIN_MS;
  let ended: string | null = null;
  while (ended === null && performance.now() < deadline) {
    ended = await client.query(FILL_LOG).then(
      () => null,
      ({ message }: Error) => message,
    );
  }
  if (ended === null || ended === 'Query read timeout')
    throw new Error('the full disk does not end PostgreSQL');
}

/** Ends every server of the disk, without waiting. */
function abandon(disk: Disk): void {
  if (!existsSync(disk.path)) return;
  for (const home of readdirSync(disk.path)) {
    const pid = postmasterOf(join(disk.path, home, 'postgres'));
    if (pid !== null) process.kill(pid, 'SIGKILL');
  }
  disk.unmount();
}

/** Only a running one: a pid in an old file may belong to another program by now. */
function postmasterOf(directory: string): number | null {
  try {
    const pid = Number(readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n')[0]);
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('ventanilla.cluster=') ? pid : null;
  } catch {
    return null;
  }
}

function open({ connection }: Machine): Database {
  return openDatabase(connection, { max: 6, onError: () => {} });
}

async function createDatabase({ connection }: Machine): Promise<void> {
  const client = new pg.Client({ ...connection, database: 'postgres' });
  await client.connect();
  await client.query(`CREATE DATABASE ${connection.database}`);
  await client.end();
}
