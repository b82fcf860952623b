/**
 * The store of a run: a primary and its synchronous standby, behind a middleman. A commit is acknowledged when both
 * have it on disk, so a failover may lose nothing.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { machineClock } from '../../../src/ground/base/clock.ts';
import { checkStore, type Finding } from '../../../src/ground/invariants/check-store.ts';
import type { Database } from '../../../src/ground/postgres/database.ts';
import { openDatabase } from '../../../src/ground/postgres/open-database.ts';
import { migrate } from '../../../src/ground/schema/migrations.ts';
import { grantRuntime } from '../../../src/ground/schema/runtime-role.ts';
import { type SteppedClock, stepClock } from '../../../test/support/faked-clock.ts';
import { Middleman } from '../../../test/support/middleman.ts';
import { testPatience } from '../../../test/support/start-patiently.ts';
import { backUp, catchUp, restore } from './backup.ts';
import { abandon, Disk } from './disk.ts';
import { writeLogInVain } from './full-disk.ts';
import { createDatabase, Machine, STANDBY } from './machine.ts';
import { inStep, waitFor, waitsOf } from './waits.ts';

/** The role of the services, which may do no more than docs/roles.md says. */
const SERVICE = 'chaos_service';
export interface StorePlan {
  /** False for a run without failovers. */
  readonly hasStandby: boolean;
  /** False for a run that never fills the disk, and may store more than a small disk takes. */
  readonly hasSmallDisk: boolean;
}

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

  /** `leave` gets what ends the store where nobody stops it. */
  static async start(folder: string, plan: StorePlan, leave: (() => void)[]): Promise<Store> {
    const disk = new Disk(join(folder, 'disk'), plan.hasSmallDisk);
    leave.push(() => abandon(disk));
    const primary = await Machine.of(join(disk.path, 'machine-0'));
    await primary.start();
    await primary.ask(async () => {}).catch(() => createDatabase(primary));
    const database = open(primary);
    await testPatience().run(() => migrate(database, machineClock));
    const clock = await primary.ask(async (client) => {
      await client.query(`CREATE ROLE ${SERVICE} LOGIN PASSWORD '${primary.connection.password}'`);
      return stepClock(client);
    });
    await grantRuntime(database, SERVICE);
    const middleman = new Middleman(primary.connection);
    await middleman.start();
    const store = new Store(disk, primary, database, middleman, clock);
    if (plan.hasStandby) await store.#follow();
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
    await inStep(this.#primary);
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
    await inStep(this.#primary);
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
    await waitFor(restored, '');
    await this.#moveTo(restored);
    if (had) await this.#follow();
  }

  /** What the sessions wait for, for a look at a store that does not answer. */
  waits(): Promise<string> {
    return waitsOf(this.#primary);
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
    await waitFor(this.#primary, STANDBY);
    await inStep(this.#primary);
  }

  #nextHome(): string {
    this.#serial += 1;
    return join(this.disk.path, `machine-${this.#serial}`);
  }
}

function open({ connection }: Machine): Database {
  return openDatabase(connection, { max: 6, onError: () => {}, clock: machineClock });
}
