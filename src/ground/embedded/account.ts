/**
 * Chooses the system's user that PostgreSQL's programs run as, because PostgreSQL refuses to run as root (README.md).
 * Starts no program itself; may change the owner of files.
 */
import type { SpawnOptions } from 'node:child_process';
import { lchown, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedError } from './errors.ts';

/** The user and group that a program of PostgreSQL runs as; undefined: those of the service. */
export type Account = { readonly uid: number; readonly gid: number } | undefined;

/**
 * Root's server runs under a number without a name that no distribution gives out (systemd's table of uids leaves
 * 60578 to 61183 unused; a container may have none above 65535). Not as `nobody`: other daemons run as `nobody`, and
 * processes of one uid may read each other's files and memory.
 */
const SERVER: Account = { uid: 61083, gid: 61083 };

/** Whether the service runs as root, which PostgreSQL refuses. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** The account for a new cluster's server. Throws `EmbeddedError` as root on another system than Linux. */
export function serverAccount(): Account {
  if (!isRoot()) return undefined;
  if (process.platform !== 'linux') {
    throw new EmbeddedError(
      'the embedded PostgreSQL does not run as root here; use an ordinary user or set DATABASE_URL',
    );
  }
  return SERVER;
}

/**
 * The account for `initdb`, which needs a uid with a name: `nobody`, for a second. Other processes of that user could
 * reach the new cluster meanwhile, so its owner changes before it is used. Throws `EmbeddedError` if the machine has
 * no user but root.
 */
export async function initdbAccount(): Promise<Account> {
  if (!isRoot()) return undefined;
  const users = (await readFile('/etc/passwd', 'utf8').catch(() => ''))
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name, , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ uid, gid }) => uid > 0 && gid > 0);
  const user = users.find(({ name }) => name === 'nobody') ?? users[0];
  if (user === undefined) {
    throw new EmbeddedError(
      '/etc/passwd has no user but root, and PostgreSQL cannot be set up as root; set DATABASE_URL',
    );
  }
  return { uid: user.uid, gid: user.gid };
}

/** The options to spawn a program of PostgreSQL with, so that it works on `directory`, and the value of its `-D`. */
export function workOn(directory: string, account: Account): { options: SpawnOptions; dataArgument: string } {
  // The database must not get the service's environment, which may hold the sealing keys and other secrets.
  const env = { PATH: process.env.PATH, LC_ALL: 'C' };
  if (account === undefined) return { options: { cwd: directory, env }, dataArgument: directory };
  // DATA_DIR may be in a folder that the account may not enter, such as /root. The child enters its working directory
  // while it is still root, and needs no path afterwards: the link is resolved without its parents.
  return { options: { cwd: directory, env, ...account }, dataArgument: '/proc/self/cwd' };
}

/** Gives a directory and everything in it to the account. Does not follow links. */
export async function giveTree(directory: string, account: { uid: number; gid: number }): Promise<void> {
  for (const entry of await readdir(directory, { recursive: true })) {
    await lchown(join(directory, entry), account.uid, account.gid);
  }
  await lchown(directory, account.uid, account.gid);
}
