/** Opens the store for a role: the server, its migrations and its secrets, in that order. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Secrets } from '../domain/secrets.ts';
import { awaitServer } from '../storage/await-server.ts';
import { checkServer, type Database, type DatabaseAddress, openDatabase } from '../storage/database.ts';
import { openEmbedded, type Watch } from '../storage/embedded/server.ts';
import { migrate } from '../storage/migrations.ts';
import { checkPooler } from '../storage/pooler.ts';
import { closeToOthers } from '../storage/private-files.ts';
import { checkSecrets, checkSecretsOfCommand, confirmSecrets, knowsSecrets } from '../storage/secrets.ts';
import { secretsOfDataDir } from '../storage/secrets-file.ts';
import { Vault } from '../storage/vault.ts';
import type { Config } from './config/config.ts';

export interface Store {
  readonly database: Database;
  readonly vault: Vault;
}

export interface OpenStore extends Store {
  /** The migrations that opening it applied. */
  readonly applied: readonly string[];
  /** A service calls it when it is up: from then on its secrets are those of the database. */
  confirm(): Promise<void>;
  /** Ends the connections and lets go of the embedded server, which stops when nobody else uses it. */
  close(): Promise<void>;
}

/** Who opens the store, and what it hears while the store is open. */
export interface StoreUser {
  /** A service confirms its secrets when it is up; those of a command are remembered where none are. */
  readonly kind: 'service' | 'command';
  /** Ends the opening, which then fails. */
  readonly signal: AbortSignal;
  /** Something that whoever runs the service should know, as a sentence. */
  readonly notice: (text: string) => void;
  /** The embedded server has ended and could not be started again. */
  readonly lost: (error: Error) => void;
  /** An idle connection died. */
  readonly onError: (error: Error) => void;
}

const MAX_CONNECTIONS = 10;
const END_WITHIN_MS = 1_000;

/** Throws errors whose message is for people where the server, the migrations or the secrets are not right. */
export async function openStore(config: Config, user: StoreUser): Promise<OpenStore> {
  const { signal, notice, onError } = user;
  let database: Database;
  // Connections that are made from now on go where the server is.
  const moved = ({ port }: { port: number }) => Object.assign(database.options, { port });
  const server = config.databaseUrl === null ? await openOwn(config.dataDir, user, moved) : null;
  const address: DatabaseAddress = server?.connection ?? { connectionString: config.databaseUrl as string };
  database = openDatabase(address, { max: MAX_CONNECTIONS, onError });
  const close = async () => {
    // A connection whose server hangs is left to the end of the process.
    await Promise.race([database.end(), sleep(END_WITHIN_MS, undefined, { ref: false })]);
    await server?.close();
  };
  try {
    if (server === null) await awaitServer(database, { signal, notice });
    await checkServer(database);
    await checkPooler(database);
    const applied = await migrate(database, signal);
    const secrets = await secretsOf(config, database);
    await (user.kind === 'service' ? checkSecrets : checkSecretsOfCommand)(database, secrets);
    const confirm = () => confirmSecrets(database, secrets);
    return { database, vault: new Vault(secrets), applied, confirm, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openOwn(dataDir: string, { notice, signal, lost }: StoreUser, moved: Watch['moved']) {
  for (const path of await closeToOthers(dataDir))
    notice(`${path} was open to others: now only its owner has rights`);
  return openEmbedded({ dataDir, signal, watch: { notice, moved, lost } });
}

async function secretsOf(config: Config, database: Database): Promise<Secrets> {
  if (config.secrets !== null) return config.secrets;
  // First the database, then the file: of two first starts at once, neither sees what the other one remembered
  // without its file.
  const areKnown = await knowsSecrets(database);
  return secretsOfDataDir(config.dataDir, !areKnown);
}
