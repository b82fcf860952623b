/**
 * Closes DATA_DIR and the service's files in it to other users, because the secrets there open all personal data
 * (README.md, "On your own PostgreSQL"). Changes the modes of files.
 */
import { chmod, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../ground/base/describe-error.ts';
import { SERVICE_PASSWORD_FILE } from '../ground/embedded/cluster.ts';
import { SetupError } from '../ground/postgres/setup-error.ts';

const OTHERS = 0o077;
const STICKY = 0o1000;
const NAMES = [
  ...['secrets.json', 'demo-key', 'postgres', 'postgres.password', SERVICE_PASSWORD_FILE],
  ...['postgres.log', 'postgres.log.1', 'signing-demonstration.pem'],
];
/** What a folder may hold before the service's first start: a new disk has a `lost+found`. */
const HARMLESS = 'lost+found';

/**
 * Takes away other users' rights to DATA_DIR and to the service's files in it, and returns the paths that were open
 * to others. Does nothing if the folder does not exist yet. Throws `SetupError` if the rights cannot be changed, the
 * folder has other uses too, or DATA_DIR is something other than a folder.
 */
export async function closeToOthers(dataDir: string): Promise<string[]> {
  const mended: string[] = [];
  if (await isOpen(dataDir)) {
    await refuseShared(dataDir);
    await close(dataDir);
    mended.push(dataDir);
  }
  for (const path of NAMES.map((name) => join(dataDir, name))) {
    if (!(await isOpen(path))) continue;
    await close(path);
    mended.push(path);
  }
  return mended;
}

/**
 * False for what is neither a file nor a folder: a log may be a link to /dev/null, which the whole machine needs open.
 */
async function isOpen(path: string): Promise<boolean> {
  const found = await statIfThere(path);
  return found !== undefined && (found.isFile() || found.isDirectory()) && (found.mode & OTHERS) !== 0;
}

/** A folder such as /tmp, or that of a project, has other users or uses, and closing it would break them. */
async function refuseShared(dataDir: string): Promise<void> {
  const found = await statIfThere(dataDir);
  if (found === undefined) return;
  if (!found.isDirectory()) throw new SetupError(`DATA_DIR is not a directory: ${dataDir}`);
  const names = (await readdir(dataDir)).filter((name) => name !== HARMLESS);
  const isOurs = names.length === 0 || names.some((name) => NAMES.includes(name));
  const owned = found.uid === process.getuid?.();
  if (owned && isOurs && (found.mode & STICKY) === 0) return;
  const why = owned ? 'is used for other things too' : `belongs to another user (uid ${found.uid})`;
  throw new SetupError(
    `DATA_DIR ${dataDir} is open to others and ${why}: set DATA_DIR to a folder of its own, inside it say, or close it (chmod 700)`,
  );
}

async function close(path: string): Promise<void> {
  try {
    await chmod(path, (await stat(path)).mode & 0o700);
  } catch (error) {
    throw new SetupError(
      `${path} is open to others and its rights could not be changed (${errorCode(error)}): make it its owner's alone (chmod go=)`,
    );
  }
}

async function statIfThere(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    // Any other fault of the path is reported by the code that uses it.
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}
