/** PostgreSQL for a run: one machine that can be killed, and the role of the services. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { machineClock } from '../../src/ground/base/clock.ts';
import { checkStore, type Finding } from '../../src/ground/invariants/check-store.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { openDatabase } from '../../src/ground/postgres/open-database.ts';
import { migrate } from '../../src/ground/schema/migrations.ts';
import { grantRuntime } from '../../src/ground/schema/runtime-role.ts';
import { testPatience } from '../../test/support/start-patiently.ts';
import { createDatabase, Machine } from '../chaos/store/machine.ts';

const SERVICE = 'scripted_service';

export class Postgres {
  /** Of the role of the services, which may do no more than docs/roles.md says. */
  readonly url: string;
  readonly #machine: Machine;
  #database: Database;

  static async start(folder: string): Promise<Postgres> {
    const machine = await Machine.of(join(folder, 'machine'));
    await machine.start();
    await createDatabase(machine);
    const database = open(machine);
    await testPatience().run(() => migrate(database, machineClock));
    await database.query(`CREATE ROLE ${SERVICE} LOGIN PASSWORD '${machine.connection.password}'`);
    await grantRuntime(database, SERVICE);
    return new Postgres(machine, database);
  }

  private constructor(machine: Machine, database: Database) {
    const { host, port, password, database: name } = machine.connection;
    this.url = `postgres://${SERVICE}:${password}@${host}:${port}/${name}`;
    this.#machine = machine;
    this.#database = database;
  }

  /** Of the owner of the tables; a new one after a kill. */
  get database(): Database {
    return this.#database;
  }

  /** Kills it with SIGKILL and starts it again. */
  async kill(): Promise<void> {
    await this.#machine.end('SIGKILL');
    await this.#machine.start();
    const old = this.#database;
    this.#database = open(this.#machine);
    await old.end();
  }

  /** What the checks of a restored backup find. */
  check(): Promise<Finding[]> {
    return this.#machine.ask(checkStore);
  }

  /** Ends it without waiting, for a run that is broken off. */
  abandon(): void {
    try {
      const [pid] = readFileSync(join(this.#machine.home, 'postgres/postmaster.pid'), 'utf8').split('\n');
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It does not run.
    }
  }

  async stop(): Promise<void> {
    await this.#database.end();
    await this.#machine.end('SIGKILL');
  }
}

function open({ connection }: Machine): Database {
  return openDatabase(connection, { max: 4, onError: () => {}, clock: machineClock });
}
