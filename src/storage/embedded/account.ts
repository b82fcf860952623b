import type { SpawnOptions } from 'node:child_process';
import { lchown, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedError } from './errors.ts';

/** Under whom a program of PostgreSQL runs; undefined: under whom the service runs. */
export type Account = { readonly uid: number; readonly gid: number } | undefined;

/**
 * Root's server runs under a number that has no name and that no distribution hands out (systemd's table of
 * uids leaves 60578 to 61183 unused; above 65535 a container may not have it): other daemons run as `nobody`,
 * and whoever shares a server's uid may read its files and memory.
 */
const SERVER: Account = { uid: 61083, gid: 61083 };

/** Whether the service runs as root, under whom PostgreSQL refuses to run. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * The account for a new cluster's server.
 * @throws EmbeddedError as root elsewhere than on Linux
 */
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
 * The account for `initdb`, which insists on a uid that has a name: `nobody`, for the second that it takes. Other
 * processes of that user could reach the new cluster then, hence the change of owner before it is used.
 * @throws EmbeddedError when the machine knows no user but root
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

/** What to spawn a program of PostgreSQL with so that it works on `directory`, and the value of its `-D`. */
export function workOn(directory: string, account: Account): { options: SpawnOptions; dataArgument: string } {
  // The sealing keys and other secrets of the service are no business of the database's environment.
  const env = { PATH: process.env.PATH, LC_ALL: 'C' };
  if (account === undefined) return { options: { cwd: directory, env }, dataArgument: directory };
  // DATA_DIR may lie where the account may not enter, /root say. The child changes into its working directory
  // while it is still root, and from there on needs no path: the link is resolved without its parents.
  return { options: { cwd: directory, env, ...account }, dataArgument: '/proc/self/cwd' };
}

/** Gives a directory and all in it to the account. Links are given, never followed. */
export async function giveTree(directory: string, account: { uid: number; gid: number }): Promise<void> {
  for (const entry of await readdir(directory, { recursive: true })) {
    await lchown(join(directory, entry), account.uid, account.gid);
  }
  await lchown(directory, account.uid, account.gid);
}
