/** Opens the store for a role: the server, its migrations and its secrets, in that order. */
import { type Config, ConfigError } from './config.ts';
import type { Secrets } from './domain/secrets.ts';
import { checkServer, type Database, type DatabaseAddress, openDatabase } from './storage/database.ts';
import { openEmbedded } from './storage/embedded/server.ts';
import { migrate } from './storage/migrations.ts';
import { checkSecrets, secretsOfDataDir } from './storage/secrets.ts';
import { Vault } from './storage/vault.ts';

export interface Store {
  readonly database: Database;
  readonly vault: Vault;
  /** The migrations that opening it applied. */
  readonly applied: readonly string[];
  /** Ends the connections and lets go of the embedded server, which stops when nobody else uses it. */
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 10;

/** Throws errors whose message is for people where the server, the migrations or the secrets are not right. */
export async function openStore(config: Config, onError: (error: Error) => void): Promise<Store> {
  const server = config.databaseUrl === null ? await openEmbedded({ dataDir: config.dataDir }) : null;
  const address: DatabaseAddress = server?.connection ?? { connectionString: config.databaseUrl as string };
  const database = openDatabase(address, { max: MAX_CONNECTIONS, onError });
  const close = async () => {
    await database.end();
    await server?.close();
  };
  try {
    await checkServer(database);
    const applied = await migrate(database);
    const secrets = await secretsOf(config);
    await checkSecrets(database, secrets);
    return { database, vault: new Vault(secrets), applied, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function secretsOf(config: Config): Promise<Secrets> {
  if (config.secrets !== null) return config.secrets;
  if (config.databaseUrl !== null) throw new ConfigError('DATA_KEYS', 'is required with DATABASE_URL');
  return secretsOfDataDir(config.dataDir);
}
