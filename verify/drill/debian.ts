/** The programs of a drill, as Debian packages them, and the user that runs PostgreSQL. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const VERSIONS = '/usr/lib/postgresql';

export const PROGRAMS = {
  patroni: '/usr/bin/patroni',
  etcd: '/usr/bin/etcd',
  haproxy: '/usr/sbin/haproxy',
} as const;

/** Where `initdb`, `postgres` and the other programs are: the newest installed version. */
export const POSTGRES_BIN = newestBin();

/** Ends the process if a program is missing. */
export function requirePrograms(): void {
  const missing: string[] = Object.values(PROGRAMS).filter((path) => !existsSync(path));
  if (POSTGRES_BIN === null) missing.push(`${VERSIONS}/*/bin`);
  if (missing.length === 0) return;
  console.error(
    `error: missing: ${missing.join(', ')}; on Debian, as root, without starting their services:`,
  );
  console.error(
    '  apt-get install --no-install-recommends postgresql patroni python3-etcd etcd-server haproxy',
  );
  process.exit(1);
}

function newestBin(): string | null {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).map(Number).filter(Number.isInteger) : [];
  return versions.length === 0 ? null : join(VERSIONS, String(Math.max(...versions)), 'bin');
}

/** PostgreSQL refuses to run as root, so root uses PostgreSQL's own user. Other users run PostgreSQL as themselves. */
export const ACCOUNT: { readonly uid: number; readonly gid: number } | null = accountOf('postgres');

function accountOf(name: string): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((text) => text.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  if (uid === undefined) throw new Error(`there is no user ${name}`);
  return { uid: Number(uid), gid: Number(gid) };
}

/** A program that is started several times. Its output goes to a log file. */
export class Daemon {
  readonly #command: readonly string[];
  readonly #folder: string;
  readonly #logFile: string;
  #child: ChildProcess | null = null;

  constructor(name: string, command: readonly string[], folder: string) {
    this.#command = command;
    this.#folder = folder;
    this.#logFile = join(folder, `${name}.log`);
  }

  /** null while the program does not run. */
  get pid(): number | null {
    const isOver = this.#child === null || this.#child.exitCode !== null || this.#child.signalCode !== null;
    return isOver ? null : (this.#child?.pid ?? null);
  }

  start(): void {
    if (this.pid !== null) return;
    const fd = openSync(this.#logFile, 'a');
    const [program, ...args] = this.#command as [string, ...string[]];
    this.#child = spawn(program, args, {
      cwd: this.#folder,
      env: { PATH: '/usr/bin:/bin', HOME: this.#folder, LC_ALL: 'C.UTF-8' },
      stdio: ['ignore', fd, fd],
      ...ACCOUNT,
    });
    closeSync(fd);
  }

  async kill(): Promise<void> {
    if (this.pid === null) return;
    const exit = once(this.#child as ChildProcess, 'exit');
    this.#child?.kill('SIGKILL');
    await exit;
  }
}
