/**
 * Makes the cluster under `DATA_DIR` with `initdb`, or finds the one that is there, with its passwords and owner
 * (README.md). Touches files and processes; every step may run in several processes at once.
 */
import {
  access,
  chown,
  constants,
  mkdir,
  open,
  readFile,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { errorCode } from '../base/describe-error.ts';
import { syncDirectory } from '../files/sync-directory.ts';
import { discard, discardStale, temporaryBeside } from '../files/temporary.ts';
import { type Account, giveTree, initdbAccount, isRoot, serverAccount, workOn } from './account.ts';
import { type Binaries, findBinaries } from './binaries.ts';
import { EmbeddedError, explainPath } from './errors.ts';
import { ensurePassword, readPassword } from './password.ts';
import { runProgram } from './program.ts';
import { clearRecoveries } from './recoveries.ts';
import { writeAt } from './write-at.ts';

const INITDB_TIMEOUT_MS = 120_000;

/** The superuser that initdb creates, who owns the database. */
export const USER = 'ventanilla';

/** Holds the password of the role that the service connects as. */
export const SERVICE_PASSWORD_FILE = 'postgres.service-password';

/** A cluster on disk, ready to be started. */
export interface Cluster {
  readonly clock: Clock;
  readonly directory: string;
  readonly logFile: string;
  readonly passwordFile: string;
  readonly password: string;
  /** The account that the server runs as, which owns the files. */
  readonly account: Account;
  readonly binaries: Binaries;
}

/** A cluster for the service, whose processes connect as a role of their own. */
export interface ServedCluster extends Cluster {
  readonly servicePassword: string;
}

/**
 * The cluster under `dataDir`; makes the folder (mode 0700) and what is missing. Several processes may call this at
 * once: they get one cluster. The cluster is on disk when this returns. Throws `EmbeddedError` if DATA_DIR is not
 * writable or full, or holds a cluster that cannot be used.
 */
export async function ensureCluster(dataDir: string, clock: Clock): Promise<ServedCluster> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const home = await realpath(dataDir);
    await access(home, constants.R_OK | constants.W_OK | constants.X_OK);
    const binaries = await findBinaries(serverAccount(), clock);
    const directory = join(home, 'postgres');
    const passwordFile = join(home, 'postgres.password');
    const password = await fillIn(directory, passwordFile, binaries, clock);
    await checkVersion(directory, binaries);
    const account = await settleOwner(directory);
    const servicePassword = await ensureServicePassword(home, clock);
    const logFile = join(home, 'postgres.log');
    return { clock, directory, logFile, passwordFile, password, servicePassword, account, binaries };
  } catch (error) {
    throw explainPath(error, (error as NodeJS.ErrnoException).path ?? dataDir);
  }
}

/** Whether a cluster lies under `dataDir`, which may be absent. Throws `EmbeddedError` if `dataDir` is not a folder. */
export async function hasCluster(dataDir: string): Promise<boolean> {
  return isFilled(join(dataDir, 'postgres')).catch((error: unknown) => {
    throw explainPath(error, dataDir);
  });
}

/** If the file is lost, the role gets the password of a new one. */
async function ensureServicePassword(home: string, clock: Clock): Promise<string> {
  const file = join(home, SERVICE_PASSWORD_FILE);
  await discardStale(file, clock);
  return ensurePassword(file);
}

async function fillIn(
  directory: string,
  passwordFile: string,
  binaries: Binaries,
  clock: Clock,
): Promise<string> {
  for (const path of [directory, passwordFile]) await discardStale(path, clock);
  if (await isFilled(directory)) {
    const password = await readPassword(passwordFile);
    if (password === undefined) {
      throw new EmbeddedError(
        `${passwordFile} is missing, and without it the data in ${directory} cannot be reached; restore it from a backup`,
      );
    }
    return password;
  }
  if (await clearRecoveries(join(directory, '..'), clock)) {
    throw new EmbeddedError(`a restore into ${join(directory, '..')} is under way: start when it is over`);
  }
  // The password comes before the cluster: of several processes one's cluster is kept, and it was made with this
  // password.
  const password = await ensurePassword(passwordFile);
  const temporary = temporaryBeside(directory);
  try {
    await initialise(temporary, password, binaries);
    await rename(temporary, directory).catch((error: unknown) => {
      // Another process was faster: its cluster is as good, and this one is deleted.
      if (errorCode(error) !== 'ENOTEMPTY' && errorCode(error) !== 'EEXIST') throw error;
    });
    await syncDirectory(join(directory, '..'));
  } finally {
    await discard(temporary);
  }
  return password;
}

async function isFilled(directory: string): Promise<boolean> {
  try {
    await stat(join(directory, 'PG_VERSION'));
    return true;
  } catch (error) {
    // Any other error means that the path is in use by another program.
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

async function initialise(directory: string, password: string, binaries: Binaries): Promise<void> {
  const creator = await initdbAccount();
  await mkdir(directory, { mode: 0o700 });
  if (creator !== undefined) await chown(directory, creator.uid, creator.gid);
  await initdb(
    directory,
    creator,
    password,
    binaries,
    `--username=${USER}`,
    '--pwfile=/dev/stdin',
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    // Sorts by code point like C, and knows the upper and lower case of all letters, equally on all machines.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--data-checksums',
    '--no-instructions',
    '--no-sync',
  );
  const owner = serverAccount();
  if (owner !== undefined) await giveTree(directory, owner);
  // Syncs at the end, so that the new owners are on disk too.
  await initdb(directory, owner, '', binaries, '--sync-only');
}

/** Puts all files of a cluster on disk, as the account that owns them. */
export async function syncCluster({ directory, account, binaries }: Cluster): Promise<void> {
  await initdb(directory, account, '', binaries, '--sync-only');
}

async function initdb(
  directory: string,
  account: Account,
  stdin: string,
  binaries: Binaries,
  ...args: string[]
): Promise<void> {
  const { options, dataArgument } = workOn(directory, account);
  const input = await unlinkedFile(`${directory}.stdin`, stdin, account);
  try {
    const { status, output } = await runProgram(binaries.initdb, ['-D', dataArgument, ...args], {
      ...options,
      stdin: input.fd,
      timeoutMs: INITDB_TIMEOUT_MS,
    });
    if (status === 0) return;
    if (output.includes('No space left on device')) {
      throw new EmbeddedError(`no space left under DATA_DIR to set up PostgreSQL in ${directory}`);
    }
    const lines = output.trim().split('\n').slice(-3).join('\n');
    throw new EmbeddedError(`PostgreSQL could not be set up in ${directory}:\n${lines}`);
  } finally {
    await input.close();
  }
}

/** Makes a file without a name: the reader needs no path to it, and a crash leaves no copy of the password. */
async function unlinkedFile(path: string, contents: string, owner: Account) {
  const handle = await open(path, 'wx+', 0o600);
  try {
    await rm(path, { force: true });
    if (owner !== undefined) await handle.chown(owner.uid, owner.gid);
    // Writes at a position, so that the shared offset stays at the start for the reader.
    await writeAt(handle, Buffer.from(contents), 0);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function checkVersion(directory: string, binaries: Binaries): Promise<void> {
  const found = await readFile(join(directory, 'PG_VERSION'), 'utf8').catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new EmbeddedError(`${directory} is there but no PostgreSQL data; move it away or set DATA_DIR`);
  });
  if (found.trim() === binaries.major) return;
  throw new EmbeddedError(
    `${directory} was made by PostgreSQL ${found.trim()}, and this version runs ${binaries.major}; ` +
      'dump it with the version that made it and restore it here, or set DATA_DIR to another directory',
  );
}

/**
 * A cluster that an ordinary user made stays that user's. A cluster that root restored from a copy gets the server's
 * account.
 */
async function settleOwner(directory: string): Promise<Account> {
  if (!isRoot()) return undefined;
  const { uid, gid } = await stat(directory);
  if (uid !== 0) return { uid, gid };
  const owner = serverAccount()!;
  await giveTree(directory, owner);
  return owner;
}
