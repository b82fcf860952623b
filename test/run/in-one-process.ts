/** Test files in one process, one after the other: starting a process costs more than most files do. */
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { resolve } from 'node:path';
import { mock, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';

/** Ends a file that hangs. */
const FILE_WITHIN_MS = 1_200_000;
/** Ends a process that stays open after its tests: the run would wait for ever, and what is open may be a leak. */
const OPEN_AT_MOST_MS = Number(process.env.LEFT_OPEN_MS ?? 60_000);
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const startedProcesses: string[] = [];

/**
 * Runs the files, each as a test with the path as its name: their hooks end with them. In a `shared` process no file
 * starts another process, and what a file leaves changed is a failure, because it would show in another file.
 */
export async function runInOneProcess(kind: 'shared' | 'alone', files: readonly string[]): Promise<void> {
  if (kind === 'shared') refuseProcesses();
  fc.configureGlobal({ seed: Number(process.env.SEED) });
  for (const path of files) {
    const before = shared();
    await test(path, { timeout: FILE_WITHIN_MS }, async () => {
      await import(pathToFileURL(resolve(path)).href);
    });
    if (kind === 'alone') continue;
    mock.reset();
    const left = changes(before, shared());
    if (left.length > 0) {
      await test(`${path} leaves the process as it was`, () => {
        throw new Error(`changed: ${left.join(', ')}`);
      });
    }
    restore(before);
  }
  setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ');
    process.stderr.write(`error: open ${OPEN_AT_MOST_MS / 1000} s after the last test: ${open}\n`);
    process.exit(1);
  }, OPEN_AT_MOST_MS).unref();
}

/** A file that starts a process by a way that its imports do not show belongs to the full tier all the same. */
function refuseProcesses(): void {
  for (const name of [
    'spawn',
    'fork',
    'exec',
    'execFile',
    'spawnSync',
    'execSync',
    'execFileSync',
  ] as const) {
    Object.assign(childProcess, {
      [name]: (program: unknown) => {
        startedProcesses.push(`${name}(${program})`);
        throw new Error('a test of the gate starts no process: see test/run/tiers.ts');
      },
    });
  }
  syncBuiltinESMExports();
}

interface Shared {
  readonly variables: NodeJS.ProcessEnv;
  readonly folder: string;
  readonly globals: ReadonlySet<string>;
  readonly listeners: string;
  readonly exitCode: typeof process.exitCode;
  readonly processes: number;
}

/** What all files of a process have together, beside the modules. */
function shared(): Shared {
  return {
    variables: { ...process.env },
    folder: process.cwd(),
    // `pkijs` keeps its engine under the number of the process.
    globals: new Set(Object.getOwnPropertyNames(globalThis).filter((name) => name !== `${process.pid}`)),
    listeners: SIGNALS.map((name) => `${name} ${process.listenerCount(name)}`).join(', '),
    exitCode: process.exitCode,
    processes: startedProcesses.length,
  };
}

function changes(before: Shared, now: Shared): string[] {
  const names = new Set([...Object.keys(before.variables), ...Object.keys(now.variables)]);
  return [
    ...[...names]
      .filter((name) => before.variables[name] !== now.variables[name])
      .map((name) => `variable ${name}`),
    ...(before.folder === now.folder ? [] : ['the current folder']),
    ...[...now.globals].filter((name) => !before.globals.has(name)).map((name) => `globalThis.${name}`),
    ...(before.listeners === now.listeners ? [] : [`listeners: ${before.listeners}; now ${now.listeners}`]),
    ...(before.exitCode === now.exitCode ? [] : ['process.exitCode']),
    ...startedProcesses.slice(before.processes),
  ];
}

function restore({ variables, folder, globals, exitCode }: Shared): void {
  for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
  Object.assign(process.env, variables);
  process.chdir(folder);
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!globals.has(name) && name !== `${process.pid}`) Reflect.deleteProperty(globalThis, name);
  }
  process.exitCode = exitCode;
}
