/** Real `serve` and `worker` processes, each started, killed and stopped alone. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export type Variables = Readonly<Record<string, string>>;

/** More than the minute that each step of a start may wait. */
const READY_WITHIN_MS = 180_000;
const POLL_MS = 20;
const REPOSITORY = join(import.meta.dirname, '../..');

/** Where Debian and its derivatives keep libfaketime; undefined if it is not installed. */
export const FAKETIME = ['x86_64-linux-gnu', 'aarch64-linux-gnu']
  .map((platform) => `/usr/lib/${platform}/faketime/libfaketime.so.1`)
  .find((path) => existsSync(path));

/** A program that is started several times with the same variables. Its output goes to a log file. */
export class Program {
  readonly #role: 'serve' | 'worker';
  readonly #variables: Variables;
  readonly #logFile: string;
  #child: ChildProcess | null = null;
  #isReady = false;
  #isWanted = false;
  #isStarting = false;

  constructor(role: 'serve' | 'worker', variables: Variables, logFile: string) {
    this.#role = role;
    this.#variables = variables;
    this.#logFile = logFile;
  }

  /** null while the program does not run. */
  get pid(): number | null {
    return this.#child?.exitCode === null && this.#child.signalCode === null
      ? (this.#child.pid ?? null)
      : null;
  }

  /** null before the program is ready, and from when it is told to end. */
  get readyPid(): number | null {
    return this.#isReady ? this.pid : null;
  }

  /** Whether it ended by itself, also at its start. */
  get hasDied(): boolean {
    return this.#isWanted && !this.#isStarting && this.pid === null;
  }

  /** Resolves when the program works. `clock` sets its time, in libfaketime's form, such as `+40h`. */
  async start(clock?: string): Promise<void> {
    this.#isReady = false;
    this.#isWanted = true;
    this.#isStarting = true;
    try {
      await this.#start(clock);
    } finally {
      this.#isStarting = false;
    }
  }

  async #start(clock?: string): Promise<void> {
    const fd = openSync(this.#logFile, 'a');
    const start = fstatSync(fd).size;
    // As a supervisor starts it: with the compile cache, and in a session of its own.
    const child = spawn(process.execPath, ['src/start.js', this.#role], {
      cwd: REPOSITORY,
      detached: true,
      env: { ...process.env, NODE_OPTIONS: '', ...this.#variables, ...clockVariables(clock) },
      stdio: ['ignore', fd, fd],
    });
    closeSync(fd);
    this.#child = child;
    const sign = this.#role === 'serve' ? '/readyz\n' : 'worker started';
    const deadline = performance.now() + READY_WITHIN_MS;
    while (!readFrom(this.#logFile, start).includes(sign)) {
      if (this.pid === null) throw new Error(`${this.#role} ended at its start; see ${this.#logFile}`);
      if (performance.now() > deadline) throw new Error(`${this.#role} is not ready; see ${this.#logFile}`);
      await sleep(POLL_MS);
    }
    this.#isReady = true;
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Sends SIGTERM; gives the exit code and how long the stop took. */
  async stop(): Promise<{ code: number | null; ms: number }> {
    const start = performance.now();
    const code = await this.#end('SIGTERM');
    return { code, ms: performance.now() - start };
  }

  /** Resident memory in MiB; null if the program does not run or the platform does not tell. */
  get memory(): number | null {
    try {
      const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
      // The status of a process that has just ended lacks the line.
      const kibibytes = /VmRSS:\s+(\d+)/.exec(status)?.[1];
      return kibibytes === undefined ? null : Number(kibibytes) / 1024;
    } catch {
      return null;
    }
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    this.#isReady = false;
    this.#isWanted = false;
    const child = this.#child;
    if (child === null || this.pid === null) return child?.exitCode ?? null;
    const exit = once(child, 'exit');
    child.kill(signal);
    const [code] = await exit;
    return code as number | null;
  }
}

/** What a file has from a place on. A log of an hour is too long to be read whole at each look. */
function readFrom(file: string, place: number): Buffer {
  const fd = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(fstatSync(fd).size - place);
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, place));
  } finally {
    closeSync(fd);
  }
}

function clockVariables(clock: string | undefined): Variables {
  if (clock === undefined || FAKETIME === undefined) return {};
  return { LD_PRELOAD: FAKETIME, FAKETIME: clock, DONT_FAKE_MONOTONIC: '1', FAKETIME_DONT_RESET: '1' };
}
