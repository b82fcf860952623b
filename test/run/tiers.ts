/**
 * Which tests are the gate. A file's tier follows from what the file and its support import: nobody keeps a list. A
 * file that needs nothing but the one PostgreSQL of the run belongs to the gate, and shares a process with others.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { importsOf, REPOSITORY } from '../support/sources.ts';

export const TIERS = ['gate', 'full'] as const;
export type Tier = (typeof TIERS)[number];

const TEST_FILES = ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'verify/**/*.test.ts'];
/** One test of each real thing, which the gate runs whatever the test needs. */
const SMOKE = 'test/smoke/';
/** What tests are made of. What the program imports says nothing about a test. */
const OF_TESTS = /^(?:test|packages\/\w+\/test|verify|examples|bench)\//;
/** Time decides nothing there: a wait for an event, limits for a busy machine, or a test that sets the time itself. */
const WITHOUT_REAL_TIME = [
  ...['test/support/eventually.ts', 'test/support/patient.ts', 'test/support/test-clock.ts'],
];
const REAL_TIME = new RegExp(
  [
    String.raw`\bset(?:Timeout|Interval)\(|(?<!\.)\bsleep\(|\bAtomics\.wait\(|\bAbortSignal\.timeout\(`,
    String.raw`^\s*(?:import|const) \{[^}]*\b(?:setTimeout|setInterval|scheduler)\b`,
    String.raw`\bmachineClock\.(?:sleep|after|every|timeout)\b`,
  ].join('|'),
  'm',
);
/** The modules that say what a test needs. */
const NEEDED: readonly (readonly [need: string, module: RegExp])[] = [
  [
    'a process',
    /^(?:(?:node:)?(?:child_process|cluster|worker_threads)|esbuild|src\/subjects\/documents\/reader\/reader\.ts)$/,
  ],
  ['a process', /^test\/support\/delivering\.ts$/],
  ['a browser', /^playwright-core$/],
  ['a server of its own', /^src\/ground\/embedded\/(?:server|start|join|postmaster)\.ts$/],
];
/** What leads to the PostgreSQL of the run. */
const SERVER = /\bTEST_DATABASE_URL\b/;

/** What a module of the tests imports, by its name or its path in the repository. Types do not count. */
interface Module {
  readonly path: string;
  readonly imports: readonly string[];
  readonly hasRealTime: boolean;
  readonly hasServer: boolean;
}

const read = new Map<string, Module>();

function moduleAt(path: string): Module {
  const known = read.get(path);
  if (known !== undefined) return known;
  const module = moduleOf(path, readFileSync(resolve(REPOSITORY, path), 'utf8'));
  read.set(path, module);
  return module;
}

function moduleOf(path: string, source: string): Module {
  const text = source
    .replace(/^(?:import|export) type [^;]*;/gm, '')
    .replace(/^\s*(?:\/\/|\*|\/\*\*).*$/gm, '');
  const imports = importsOf(text).map((name) =>
    name.startsWith('.') ? relative(REPOSITORY, resolve(REPOSITORY, dirname(path), name)) : name,
  );
  return { path, imports, hasRealTime: REAL_TIME.test(text), hasServer: SERVER.test(text) };
}

/** A test file and all modules of the tests that it imports, directly or not. */
function modulesOf(path: string): Module[] {
  const found = new Map<string, Module>();
  const visit = (at: string) => {
    if (found.has(at)) return;
    const module = moduleAt(at);
    found.set(at, module);
    if (WITHOUT_REAL_TIME.includes(at)) return;
    for (const name of module.imports)
      if (OF_TESTS.test(name) && existsSync(resolve(REPOSITORY, name))) visit(name);
  };
  visit(path);
  return [...found.values()];
}

/** What a file needs beside the PostgreSQL of the run, and the module that says so. Empty for a file of the gate. */
export function needsOf(path: string): Map<string, string> {
  const needs = new Map<string, string>();
  for (const module of modulesOf(path)) {
    if (WITHOUT_REAL_TIME.includes(module.path)) continue;
    for (const need of ownNeeds(module)) needs.set(need, module.path);
  }
  return needs;
}

function ownNeeds({ imports, hasRealTime }: Module): string[] {
  const needed = NEEDED.filter(([, module]) => imports.some((name) => module.test(name)));
  return [...(hasRealTime ? ['real time'] : []), ...needed.map(([need]) => need)];
}

/** What a module needs that has this text. */
export function needsOfText(text: string): string[] {
  return ownNeeds(moduleOf('test/a.test.ts', text));
}

export function tierOf(path: string): Tier {
  return path.startsWith(SMOKE) || needsOf(path).size === 0 ? 'gate' : 'full';
}

/** Whether the file has a database, or processes that may have one. */
export function needsServer(path: string): boolean {
  return needsOf(path).size > 0 || modulesOf(path).some(({ hasServer }) => hasServer);
}

/** The test files of a tier, in the order of their names. `full` has the gate's too. */
export function filesOf(tier: Tier): string[] {
  const all = globSync(TEST_FILES, { cwd: REPOSITORY }).sort();
  return tier === 'full' ? all : all.filter((path) => tierOf(path) === 'gate');
}
