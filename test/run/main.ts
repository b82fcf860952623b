/**
 * Runs the tests. `npm test` is the gate, `npm run test:full` is everything (`test/run/tiers.ts`). Paths or patterns
 * run these files alone, whatever their tier. Files that need no process of their own share a few. The order of the
 * files is drawn anew each time; `SEED=n` repeats an order, and the values of property tests.
 */
import { randomInt } from 'node:crypto';
import { chmodSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { inspect, parseArgs } from 'node:util';
import { Random } from '../support/random.ts';
import { closeServer, openServer } from './one-server.ts';
import { Report } from './report.ts';
import { filesOf, needsOf, needsServer, TIERS } from './tiers.ts';

/** More would only take memory: each works through its files one after the other. */
const SHARED_PROCESSES = 3;
const AT_ONCE = 3;
/** Ends a process that hangs. */
const PROCESS_WITHIN_MS = 3_600_000;

const { values, positionals } = parseArgs({
  options: { tier: { type: 'string', default: 'full' } },
  allowPositionals: true,
});
const tier =
  TIERS.find((name) => name === values.tier) ?? refuse(`--tier must be one of: ${TIERS.join(', ')}`);
const seed = Number(process.env.SEED || randomInt(2 ** 31));
if (!(Number.isSafeInteger(seed) && seed >= 0)) refuse('SEED must be a whole number from 0 on');
process.env.SEED = String(seed);

const named = positionals.length === 0 ? filesOf(tier) : [...new Set(positionals.flatMap(matching))].sort();
const folder = mkdtempSync(join(tmpdir(), 'ventanilla-run-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
// What tests leave there goes with the run, also where they were interrupted. Open as /tmp is: servers of root run as
// other users.
chmodSync(folder, 0o1777);
process.env.TMPDIR = folder;
const files = processesOf(new Random(seed).shuffled(named));
const plan = {
  seed,
  command: tier === 'gate' ? 'npm test' : 'npm run test:full',
  told: positionals,
  files,
  counterexamples: process.env.COUNTEREXAMPLES ?? join('node_modules', '.cache', 'counterexamples.txt'),
};
const report = new Report(plan, (text) => process.stdout.write(text));
process.stdout.write(`${named.length} files in ${files.size} processes, order: SEED=${seed}\n`);

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stopping.abort());
if (named.some(needsServer)) await openServer();
try {
  const events = run({
    files: [...files.keys()],
    concurrency: AT_ONCE,
    timeout: PROCESS_WITHIN_MS,
    signal: stopping.signal,
  });
  for await (const event of events) report.take(event);
} catch (error) {
  // The runner would swallow it.
  process.stderr.write(`error: ${inspect(error)}\n`);
  process.exitCode = 1;
} finally {
  await closeServer();
}
if (!report.close()) process.exitCode = 1;

/** Ends the run for a mistake of the command line. */
function refuse(reason: string): never {
  process.stderr.write(`error: ${reason}\n`);
  process.exit(1);
}

/** The test files that a path or a pattern means, by their paths from here. */
function matching(pattern: string): string[] {
  const files = globSync(pattern).filter((path) => path.endsWith('.test.ts'));
  if (files.length === 0) refuse(`no test file matches ${pattern}`);
  return files.map((path) => relative('', path));
}

/**
 * The files of each process, by the module that it begins with, which this makes. Files without needs of their own
 * share a few processes.
 */
function processesOf(mixed: readonly string[]): Map<string, string[]> {
  const shares = (path: string) => needsOf(path).size === 0;
  const sharing = mixed.filter(shares);
  const groups = Array.from({ length: SHARED_PROCESSES }, (_, group) =>
    sharing.filter((_, index) => index % SHARED_PROCESSES === group),
  ).filter((group) => group.length > 0);
  const alone = mixed.filter((path) => !shares(path)).map((path) => [path]);
  const module = JSON.stringify(join(import.meta.dirname, 'in-one-process.ts'));
  return new Map(
    [...groups, ...alone].map((paths, index) => {
      const entry = join(folder, `${String(index).padStart(3, '0')}.test.ts`);
      const rule = index < groups.length ? 'shared' : 'alone';
      writeFileSync(
        entry,
        `import { runInOneProcess } from ${module};\nawait runInOneProcess('${rule}', ${JSON.stringify(paths)});\n`,
      );
      return [entry, paths];
    }),
  );
}
