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
const EVENTS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException', 'unhandledRejection'];
/** Where `pkijs` and OpenTelemetry keep what all copies of their modules share. */
const OF_MODULES = [`${process.pid}`, 'Symbol(opentelemetry.js.api.1)'];
/** `EVENTS` and `exitCode` are looked at by themselves, and Node makes the flags when they are read. */
const OTHERWISE = ['_events', '_eventsCount', 'exitCode', 'allowedNodeEnvironmentFlags'];

const startedProcesses: string[] = [];
const openBefore = process.getActiveResourcesInfo();
/** What kept the process alive when a file was done. */
const openAfter: (readonly [path: string, open: readonly string[]])[] = [];

/**
 * Runs the files, each as a test with the path as its name: their hooks end with them. In a `shared` process no file
 * starts another process, and what a file leaves changed is a failure, because it would show in another file.
 */
export async function runInOneProcess(kind: 'shared' | 'alone', files: readonly string[]): Promise<void> {
  if (kind === 'shared') refuseProcesses();
  fc.configureGlobal({ seed: Number(process.env.SEED) });
  let before: Shared | undefined;
  for (const path of files) {
    await test(path, { timeout: FILE_WITHIN_MS }, async () => {
      // From the first test on: the runner listens as well.
      before ??= shared();
      await import(pathToFileURL(resolve(path)).href);
    });
    openAfter.push([path, openNow()]);
    if (kind === 'alone') continue;
    const left = [...putBack(before as Shared), ...startedProcesses.splice(0)];
    if (left.length > 0) {
      await test(path, (t) =>
        t.test('leaves the process as it was', () => {
          throw new Error(`changed: ${left.join(', ')}`);
        }),
      );
    }
  }
  setTimeout(() => {
    const since = openNow()
      .map((kind) => `${kind} since ${openerOf(kind)}`)
      .join(', ');
    process.stderr.write(`error: open ${OPEN_AT_MOST_MS / 1000} s after the last test: ${since}\n`);
    process.exit(1);
  }, OPEN_AT_MOST_MS).unref();
}

/** What keeps the process alive, beside what did before its first file. */
function openNow(): string[] {
  const known = [...openBefore];
  return process.getActiveResourcesInfo().filter((kind) => {
    const at = known.indexOf(kind);
    if (at !== -1) known.splice(at, 1);
    return at === -1;
  });
}

/** The file since whose end a resource of this kind is open. */
function openerOf(kind: string): string | undefined {
  const last = openAfter.findLastIndex(([, open]) => !open.includes(kind));
  return openAfter[last + 1]?.[0];
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

/** Everything that all files of a process have together, beside the modules. */
interface Shared {
  readonly holders: ReadonlyMap<string, object>;
  readonly properties: ReadonlyMap<object, Properties>;
  readonly folder: string;
  readonly mask: number;
  readonly listeners: ReadonlyMap<string, readonly unknown[]>;
  readonly exitCode: typeof process.exitCode;
  readonly ofProperties: fc.GlobalParameters;
}

type Properties = ReadonlyMap<PropertyKey, PropertyDescriptor>;

function shared(): Shared {
  const holders = holdersOfAll();
  return {
    holders,
    properties: new Map([...holders.values()].map((holder) => [holder, propertiesOf(holder)])),
    folder: process.cwd(),
    mask: process.umask(),
    listeners: new Map(EVENTS.map((name) => [name, process.listeners(name as 'SIGINT')])),
    exitCode: process.exitCode,
    ofProperties: fc.readConfigureGlobal(),
  };
}

/** What every file sees and can change: the variables, the globals, and what hangs on these. */
function holdersOfAll(): Map<string, object> {
  const found = new Map<string, object>([
    ['variable', process.env],
    ['globalThis', globalThis],
  ]);
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    // Node makes some globals when they are read.
    const value: unknown = Reflect.get(globalThis, name);
    if (value === globalThis || Object(value) !== value) continue;
    found.set(name, value as object);
    const { prototype } = value as { prototype?: unknown };
    if (Object(prototype) === prototype) found.set(`${name}.prototype`, prototype as object);
  }
  return found;
}

function propertiesOf(holder: object): Properties {
  const left = holder === process ? OTHERWISE : OF_MODULES;
  const keys = Reflect.ownKeys(holder).filter((key) => !left.includes(String(key)));
  return new Map(
    keys.map((key) => [key, Reflect.getOwnPropertyDescriptor(holder, key) as PropertyDescriptor]),
  );
}

/** Puts everything back. Returns what was changed. */
function putBack(before: Shared): string[] {
  const { holders, properties, folder, mask, listeners, exitCode, ofProperties } = before;
  const changed = [...holders].flatMap(([name, holder]) =>
    putPropertiesBack(holder, properties.get(holder) as Properties).map((key) =>
      holder === process.env ? `${name} ${String(key)}` : `${name}.${String(key)}`,
    ),
  );
  mock.reset();
  for (const [name, known] of listeners) {
    const added = process.listeners(name as 'SIGINT').filter((one) => !known.includes(one));
    if (added.length > 0) changed.push(`a listener of ${name}`);
    for (const one of added) process.removeListener(name, one);
  }
  if (process.cwd() !== folder) changed.push('the current folder');
  process.chdir(folder);
  if (process.umask(mask) !== mask) changed.push('the mask of new files');
  if (process.exitCode !== exitCode) changed.push('process.exitCode');
  process.exitCode = exitCode;
  if (fc.readConfigureGlobal() !== ofProperties) changed.push('the configuration of fast-check');
  fc.configureGlobal(ofProperties);
  return changed;
}

function putPropertiesBack(holder: object, before: Properties): PropertyKey[] {
  const now = propertiesOf(holder);
  const changed = [...new Set([...before.keys(), ...now.keys()])].filter((key) => {
    const [was, is] = [before.get(key), now.get(key)];
    return !(Object.is(was?.value, is?.value) && was?.get === is?.get && was?.set === is?.set);
  });
  for (const key of changed) {
    const was = before.get(key);
    if (was === undefined) Reflect.deleteProperty(holder, key);
    else Reflect.defineProperty(holder, key, was);
  }
  return changed;
}
