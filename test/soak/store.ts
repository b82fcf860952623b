/** The PostgreSQL of a soak. It can be killed, and the programs reach it through a middleman. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { type EmbeddedServer, openEmbedded } from '../../src/embedded/server.ts';
import { checkStore, type Finding } from '../../src/invariants/check-store.ts';
import type { Database } from '../../src/postgres/database.ts';
import { openDatabase } from '../../src/postgres/open-database.ts';
import { migrate } from '../../src/schema/migrations.ts';
import { grantRuntime } from '../../src/schema/runtime-role.ts';
import { Middleman } from '../support/middleman.ts';
import { testPatience } from '../support/start-patiently.ts';

/** The deadlocks that the server counted; a crash resets the count. */
const DEADLOCKS = 'SELECT coalesce(sum(deadlocks), 0)::integer AS count FROM pg_stat_database';

export class SoakStore {
  /** The URL for the programs, through the middleman. */
  readonly url: string;
  readonly middleman: Middleman;
  readonly #dataDir: string;
  #server: EmbeddedServer;
  #database: Database;
  #isStopped = false;

  static async start(dataDir: string): Promise<SoakStore> {
    const server = await openEmbedded({ dataDir });
    const middleman = new Middleman(server.superuser);
    await middleman.start();
    const store = new SoakStore(dataDir, server, middleman);
    await testPatience().run(() => migrate(store.database));
    await grantRuntime(store.database, server.service.user);
    return store;
  }

  private constructor(dataDir: string, server: EmbeddedServer, middleman: Middleman) {
    const { user, password, database } = server.service;
    this.url = `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${middleman.port}/${database}`;
    this.middleman = middleman;
    this.#dataDir = dataDir;
    this.#server = server;
    this.#database = open(server);
  }

  /** Direct connections of the owner for the soak's own queries; new ones after a kill. */
  get database(): Database {
    return this.#database;
  }

  /** Kills the postmaster with SIGKILL and starts the server again. */
  async kill(): Promise<void> {
    signalPostmaster(this.#dataDir, 'SIGKILL');
    await this.#database.end();
    await this.#server.close();
    this.#server = await openEmbedded({ dataDir: this.#dataDir });
    this.middleman.target = this.#server.superuser;
    this.#database = open(this.#server);
  }

  /** What the checks of a restored backup find in this store. */
  async check(): Promise<Finding[]> {
    const client = new pg.Client({ ...this.#server.superuser });
    await client.connect();
    try {
      return await checkStore(client);
    } finally {
      await client.end();
    }
  }

  async deadlocks(): Promise<number> {
    return (await this.#database.query(DEADLOCKS)).rows[0].count;
  }

  /** Stops the server if `stop` was not called, without waiting. */
  abandon(): void {
    if (!this.#isStopped) signalPostmaster(this.#dataDir, 'SIGINT');
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#database.end();
    await this.middleman.stop();
    await this.#server.close();
  }
}

function open({ superuser }: EmbeddedServer): Database {
  return openDatabase(superuser, { max: 4, onError: () => {} });
}

function signalPostmaster(dataDir: string, signal: NodeJS.Signals): void {
  const file = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8');
  process.kill(Number(file.split('\n')[0]), signal);
}
