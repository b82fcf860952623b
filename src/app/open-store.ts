/**
 * Opens the store for a role: the server, its migrations and its secrets, in that order (ARCHITECTURE, "A process's
 * life"). Touches the network, the data directory, the tables and `secret_checks`. `prepare-tables.ts` and
 * `seal/secrets.ts` have the steps.
 */
import type { Retention } from '../domain/application/retention.ts';
import type { Clock } from '../ground/base/clock.ts';
import { hasCluster } from '../ground/embedded/cluster.ts';
import { openEmbedded, type ServerListener } from '../ground/embedded/server.ts';
import { awaitServer } from '../ground/postgres/await-server.ts';
import { type Database, onlyRow } from '../ground/postgres/database.ts';
import { checkServer, type DatabaseAddress, openDatabase } from '../ground/postgres/open-database.ts';
import { Patience } from '../ground/postgres/patience.ts';
import { checkPooler } from '../ground/postgres/pooler.ts';
import { SetupError } from '../ground/postgres/setup-error.ts';
import { sessionRole } from '../ground/schema/runtime-role.ts';
import { checkSecrets, checkSecretsOfCommand, confirmSecrets, knowsSecrets } from '../seal/secrets.ts';
import { secretsOfDataDir } from '../seal/secrets-file.ts';
import { type Secrets, Vault } from '../seal/vault.ts';
import { retentionOf } from '../subjects/applications/settings.ts';
import { isLeastRetention, putLeastRetention } from '../subjects/applications/sql/retention.ts';
import { WEBHOOK_LANES } from '../subjects/messages/intake/webhook-lanes.ts';
import type { Config } from './config/config.ts';
import { asOwner, type Opened, type OwnerAddress, prepareTables } from './prepare-tables.ts';
import { closeToOthers } from './private-files.ts';
import { loadWitnesses } from './subjects.ts';

/** The database with the vault, and the time of the process that uses them. */
export interface Store {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  /** Connections for the channel's webhooks alone; without them webhooks share those of `database`. */
  readonly webhookDatabase?: Database;
}

/** A store that this process has opened and has to close. */
export interface OpenStore extends Store {
  /** The migrations that `openStore` applied. */
  readonly applied: readonly string[];
  /** The role that `openStore` gave privileges; null: it lacked none. */
  readonly granted: string | null;
  /** Where the store is, for operators. */
  readonly place: string;
  /** The owner of the tables; null: only the role of `database` is known. */
  readonly owner: OwnerAddress | null;
  /** For the further steps of the start. */
  readonly patience: Patience;
  /** Binds the database to the secrets of this process. A service calls this when it listens. */
  confirm(): Promise<void>;
  /** Ends the connections and releases the embedded server, which stops if no other process uses it. */
  close(): Promise<void>;
}

/** The role that opens the store, with its callbacks. */
export interface StoreUser {
  /**
   * A service confirms its secrets when it listens. A command's secrets are remembered if the database has none. The
   * secrets of `unchecked` are neither compared nor remembered.
   */
  readonly kind: 'service' | 'command' | 'unchecked';
  /**
   * What may be made if it is missing: a `store` with its own server in DATA_DIR, or only the `tables` in a server that
   * exists. A command makes `nothing`, because in a wrong folder it would make a second store.
   */
  readonly makes: 'store' | 'tables' | 'nothing';
  /** Aborts `openStore`, which then throws. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Gets a sentence that the operator should read. */
  readonly notice: (text: string) => void;
  /** Called if the embedded server has ended and does not start again. */
  readonly lost: (error: Error) => void;
  /** Called if an idle connection dies before the store is closed. */
  readonly onError: (error: Error) => void;
}

const MAX_CONNECTIONS = 10;
const END_WITHIN_MS = 1_000;

/** There is no store at the place, and the role may not make one. */
export class NoStoreError extends SetupError {}

/**
 * Opens the store. Throws errors with a text for operators if the server, the migrations or the secrets are wrong, and
 * `NoStoreError`. Each step waits up to a minute for a database that does not work for a moment.
 */
export async function openStore(config: Config, user: StoreUser): Promise<OpenStore> {
  const opened = await openTables(config, user);
  const { database, patience, close } = opened;
  try {
    if (user.makes === 'nothing') await requireTables(opened);
    const prepared = await prepareTables(opened, user);
    if (user.makes !== 'nothing') await keepRetention(opened, retentionOf(config.setting));
    const secrets = await patience.run(() => secretsOf(config, database, user.clock));
    const check = user.kind === 'service' ? checkSecrets : checkSecretsOfCommand;
    const witnesses = await loadWitnesses();
    if (user.kind !== 'unchecked') await patience.run(() => check(database, secrets, witnesses, user.clock));
    const confirm = () => patience.run(() => confirmSecrets(database, secrets, witnesses, user.clock));
    const vault = new Vault(secrets);
    return { ...opened, ...prepared, vault, confirm };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Throws `NoStoreError` if no server of its own has its data in DATA_DIR. */
export async function requireCluster(dataDir: string): Promise<void> {
  if (await hasCluster(dataDir)) return;
  throw new NoStoreError(
    `there is no store in DATA_DIR ${dataDir}: set DATA_DIR to that of the service, or start the service, which makes one`,
  );
}

/** Throws `NoStoreError` if the database has no tables of a store. */
export async function requireTables({
  database,
  patience,
  place,
}: Pick<OpenStore, 'database' | 'patience' | 'place'>): Promise<void> {
  if ((await patience.run(() => sessionRole(database))).isOwner !== null) return;
  throw new NoStoreError(
    `there is no store in ${place}: "ventanilla serve" or "ventanilla migrate" makes it, if this is the right database`,
  );
}

/** Opens the database with the tables that it has. Throws like `openStore` if the server is wrong. */
export async function openTables(
  config: Config,
  user: StoreUser,
): Promise<
  Pick<
    Required<OpenStore>,
    'database' | 'webhookDatabase' | 'clock' | 'owner' | 'patience' | 'place' | 'close'
  >
> {
  const { signal, clock, notice, onError } = user;
  const pools: Database[] = [];
  let isClosing = false;
  // `end` of a pool does not wait until the server has taken the end of each connection, and the server reports the
  // remaining ones as errors.
  const onIdleEnd = (error: Error) => {
    if (!isClosing) onError(error);
  };
  // The embedded server may come back on another port, where new connections have to go.
  const moving: object[] = [];
  const moved = ({ port }: { port: number }) => {
    for (const address of moving) Object.assign(address, { port });
  };
  const server = config.databaseUrl === null ? await openOwn(config.dataDir, user, moved) : null;
  const address: DatabaseAddress = server?.service ?? { connectionString: config.databaseUrl as string };
  const owner =
    server === null ? ownerOf(config) : { ...server.superuser, variable: 'the embedded database' };
  const database = openDatabase(address, { clock, max: MAX_CONNECTIONS, onError: onIdleEnd });
  const webhookDatabase = openDatabase(address, {
    clock,
    max: WEBHOOK_LANES,
    onError: onIdleEnd,
    kept: true,
  });
  pools.push(database, webhookDatabase);
  moving.push(database.options, webhookDatabase.options, owner ?? {});
  const close = async () => {
    isClosing = true;
    // If the server hangs, a connection stays open until the process ends.
    await Promise.race([
      Promise.all(pools.map((pool) => pool.end())),
      clock.sleep(END_WITHIN_MS, { ref: false }),
    ]);
    await server?.close();
  };
  const what = server === null ? 'the database of DATABASE_URL' : 'the embedded database';
  const patience = new Patience({ clock, signal, notice, what });
  try {
    if (server === null) await awaitServer(database, patience);
    const warning = await patience.run(() => checkServer(database));
    if (warning !== null) notice(warning);
    await patience.run(() => checkPooler(database));
    const place =
      server === null ? await patience.run(() => placeOf(database)) : `DATA_DIR ${config.dataDir}`;
    return { database, webhookDatabase, clock, owner, patience, place, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function ownerOf({ migrateDatabaseUrl }: Config): OwnerAddress | null {
  if (migrateDatabaseUrl === null) return null;
  return { connectionString: migrateDatabaseUrl, variable: 'MIGRATE_DATABASE_URL' };
}

/** The server is asked, because the URL may hold a password. */
const PLACE = `
  SELECT format('the database %I', current_database())
    || coalesce(' on ' || host(inet_server_addr()) || ':' || inet_server_port(), '') || ' (DATABASE_URL)' AS place`;

async function placeOf(database: Database): Promise<string> {
  return onlyRow((await database.query<{ place: string }>(PLACE)).rows).place;
}

async function openOwn(
  dataDir: string,
  { clock, notice, signal, lost, makes }: StoreUser,
  moved: ServerListener['moved'],
) {
  if (makes !== 'store') await requireCluster(dataDir);
  for (const path of await closeToOthers(dataDir))
    notice(`${path} was open to other users: now only its owner has access`);
  return openEmbedded({ dataDir, clock, signal, listener: { notice, moved, lost } });
}

async function secretsOf(config: Config, database: Database, clock: Clock): Promise<Secrets> {
  if (config.secrets !== null) return config.secrets;
  // The database first, then the file: in two first starts at once, a process that sees the other's fingerprints in
  // the database then sees the other's file too.
  const areKnown = await knowsSecrets(database);
  return secretsOfDataDir(config.dataDir, !areKnown, clock);
}

// Puts into the tables how long applications are kept, so that the role of the service deletes none earlier.

/**
 * Puts the configured retention into the tables as their owner, if it differs from the one there. Without a retention,
 * or if the owner cannot be used, nothing changes. Then the upkeep reports if the tables keep applications for longer.
 */
async function keepRetention(opened: Opened, retention: Retention | null): Promise<void> {
  const { database, owner, patience } = opened;
  if (retention === null || (await patience.run(() => isLeastRetention(database, retention)))) return;
  const put = (tables: Opened['database']) => patience.run(() => putLeastRetention(tables, retention));
  if ((await patience.run(() => sessionRole(database))).isOwner === true) await put(database);
  else if (owner !== null) await asOwner(owner, opened, put);
}
