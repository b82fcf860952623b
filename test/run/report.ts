/**
 * What a run prints: a line for each file, each failure with the command that repeats it, what took the longest, and
 * the closing line. The run fails where it did not hear of every test: the runner itself takes no notice of a report
 * that is cut.
 */
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

const LISTED = 10;

/** What a run is about to do. */
export interface Plan {
  readonly seed: number;
  /** `npm test` or `npm run test:full`. */
  readonly command: string;
  /** The paths or patterns that the run was told; none: a whole tier. */
  readonly told: readonly string[];
  /** The test files that each process runs, by the module that the process begins with. */
  readonly files: ReadonlyMap<string, readonly string[]>;
  /** The file that keeps the counterexamples of properties. */
  readonly counterexamples: string;
}

/** A test or a suite. A file is a test that has the path as its name, and everything in the file is below it. */
interface Node {
  readonly name: string;
  readonly isSuite: boolean;
  readonly above: Node | null;
  hasFailure: boolean;
  tests: number;
}

/** What the runner's events have, beside what its types know. */
interface Begun {
  readonly name: string;
  readonly type?: 'test' | 'suite' | undefined;
  readonly testId: number;
  readonly parentId: number;
  /** The module that the process began with; none where the event is about the process itself. */
  readonly entryFile?: string;
}

interface Completed extends Begun {
  readonly skip?: string | boolean;
  readonly todo?: string | boolean;
  readonly details: {
    readonly type: 'test' | 'suite';
    readonly passed: boolean;
    readonly duration_ms: number;
    readonly error?: Error & {
      readonly failureType?: string;
      readonly exitCode?: number | null;
      readonly signal?: string | null;
    };
  };
}

interface Remark {
  readonly nesting: number;
  readonly message: string;
  readonly entryFile?: string;
}

/** Takes the events of a run and writes the report. */
export class Report {
  readonly #plan: Plan;
  readonly #write: (text: string) => void;
  readonly #nodes = new Map<string, Node>();
  /** How many tests of a process were reported. */
  readonly #heard = new Map<string, number>();
  /** Files whose report has no end yet. */
  readonly #open: Set<string>;
  /** Processes that had an error after the end of a test: the runner fails them, and does not say why. */
  readonly #late = new Set<string>();
  readonly #tookMs = new Map<string, number>();
  readonly #failed: string[] = [];
  readonly #skipped: string[] = [];
  #passed = 0;

  constructor(plan: Plan, write: (text: string) => void) {
    this.#plan = plan;
    this.#write = write;
    this.#open = new Set([...plan.files.values()].flat());
  }

  take({ type, data }: TestEvent): void {
    if (type === 'test:stdout' || type === 'test:stderr') this.#write(data.message);
    else if (type === 'test:enqueue') this.#begin(data as Begun);
    else if (type === 'test:complete') this.#complete(data as unknown as Completed);
    else if (type === 'test:diagnostic') this.#remarked(data as Remark);
    else if (type === 'test:summary' && data.file !== undefined) this.#counted(data.file, data.counts.tests);
  }

  #begin({ name, type, testId, parentId, entryFile }: Begun): void {
    const above = this.#nodes.get(`${entryFile} ${parentId}`) ?? null;
    const node = { name, isSuite: type === 'suite', above, hasFailure: false, tests: 0 };
    if (entryFile !== undefined) this.#nodes.set(`${entryFile} ${testId}`, node);
  }

  /** The error of something that went on after its test. */
  #remarked({ nesting, message, entryFile = '' }: Remark): void {
    const files = this.#plan.files.get(entryFile);
    if (files === undefined || nesting > 0 || !message.startsWith('Error: ')) return;
    this.#late.add(entryFile);
    const file = files.find((path) => message.includes(` at ${path}:`));
    this.#tell(file === undefined ? files : [file], 'after its tests', message);
  }

  #processEnded({ name, details: { passed, error } }: Completed): void {
    const files = this.#plan.files.get(name) ?? [];
    const code = `code ${error?.exitCode ?? 0}`;
    const how = error?.signal ?? (error === undefined || error.exitCode != null ? code : error.message);
    if (this.#missing(files, how) || passed || this.#late.has(name)) return;
    if (error?.failureType !== 'subtestsFailed') this.#tell(files, 'the end of its process', how);
  }

  /** Tells of the files whose report has no end; the one that is to blame may be any of them. True: there are some. */
  #missing(files: readonly string[], how: string): boolean {
    const open = files.filter((file) => this.#open.delete(file));
    const ended = `the process ended before the end of the report (${how}): tests are missing`;
    if (open.length > 0) this.#tell(open, 'its report', ended);
    return open.length > 0;
  }

  #complete(completed: Completed): void {
    const { name, testId, entryFile, skip, todo, details } = completed;
    const { passed, error } = details;
    if (entryFile === undefined) {
      this.#processEnded(completed);
      return;
    }
    if (details.type === 'test') this.#heard.set(entryFile, (this.#heard.get(entryFile) ?? 0) + 1);
    const node = this.#nodes.get(`${entryFile} ${testId}`);
    // A test of a suite that never began: the suite tells why.
    if (node === undefined) return;
    const path = pathOf(node);
    const isFile = node.above === null;
    const reason = [skip, todo].find((text) => typeof text === 'string') ?? '';
    // A machine may lack the program that a whole suite needs.
    if (!isFile && (!node.isSuite || reason !== '')) (path[0] as Node).tests += 1;
    if (isFile && this.#open.has(name)) this.#ended(node, details);
    else if (passed && (skip || todo))
      this.#skipped.push(`${path[0]!.name} > ${within(path)}: ${reason || 'no reason'}`);
    else if (passed && !node.isSuite) this.#passed += 1;
    if (passed) return;
    if (node.above !== null) node.above.hasFailure = true;
    if (!node.hasFailure) this.#tell([path[0]!.name], within(path), error);
  }

  #ended({ name, tests }: Node, { passed, duration_ms: ms }: Completed['details']): void {
    this.#open.delete(name);
    this.#tookMs.set(name, ms);
    if (passed && tests === 0) this.#tell([name], 'the file itself', 'the file has no test');
    this.#write(`${seconds(ms)}  ${String(tests).padStart(4)} tests  ${name}\n`);
  }

  #counted(entryFile: string, count: number): void {
    const heard = this.#heard.get(entryFile) ?? 0;
    const files = this.#plan.files.get(entryFile) ?? [];
    // Where suites run at the same time, Node may count fewer: it leaves out tests whose ends it told before.
    if (heard < count)
      this.#tell(files, 'its report', `${count} tests were counted, and ${heard} of them were reported`);
  }

  /** A failure of a file, or of files of which nobody knows which one it was. */
  #tell(files: readonly string[], within: string, error: unknown): void {
    const { seed, command, told, counterexamples } = this.#plan;
    const title = `failed: ${files.join(', ')} > ${within}`;
    this.#failed.push(title);
    const shown = typeof error === 'string' ? error : inspect((error as Error)?.cause ?? error, { depth: 6 });
    const text = [
      `\n${title}\n${shown.replace(/^/gm, '  ')}\n`,
      `  alone:             ${again(seed, command, files)}\n`,
      `  in the same order: ${again(seed, command, told)}\n`,
    ].join('');
    const isOfProperty = shown.includes('Counterexample:');
    this.#write(`${text}${isOfProperty ? `  kept in            ${counterexamples}\n` : ''}\n`);
    if (!isOfProperty) return;
    mkdirSync(dirname(counterexamples), { recursive: true });
    appendFileSync(counterexamples, `${new Date().toISOString()}${text}\n`);
  }

  /** Writes the end of the report. True: all tests passed, and all were heard of. */
  close(): boolean {
    const { seed, command, told, files } = this.#plan;
    for (const ofProcess of files.values()) this.#missing(ofProcess, 'it never began');
    this.#write(`\nThe slowest folders:\n${longest(byFolder(this.#tookMs))}`);
    this.#write(`The slowest files:\n${longest(this.#tookMs)}\n`);
    for (const text of this.#skipped) this.#write(`skipped: ${text}\n`);
    for (const text of this.#failed) this.#write(`${text}\n`);
    this.#write(`order: ${again(seed, command, told)}\n`);
    this.#write(`${this.#passed} passed, ${this.#failed.length} failed, ${this.#skipped.length} skipped\n`);
    return this.#failed.length === 0;
  }
}

/** The command that runs these files; none: the whole tier. */
function again(seed: number, command: string, files: readonly string[]): string {
  const words = files.map((text) => (/^[\w./-]+$/.test(text) ? text : `'${text}'`));
  return [`SEED=${seed} ${command}`, ...(words.length === 0 ? [] : ['--', ...words])].join(' ');
}

/** The suites and the test, as a failure names them. */
function within([, ...below]: readonly Node[]): string {
  return below.length === 0 ? 'the file itself' : below.map(({ name }) => name).join(' > ');
}

/** From the file down to the test. */
function pathOf(node: Node): Node[] {
  return node.above === null ? [node] : [...pathOf(node.above), node];
}

/** Processes run side by side, so the sum of the files is more than the time of the run. */
function byFolder(tookMs: ReadonlyMap<string, number>): Map<string, number> {
  const folders = new Map<string, number>();
  for (const [file, ms] of tookMs) {
    const folder = file.replace(/\/[^/]*$/, '');
    folders.set(folder, (folders.get(folder) ?? 0) + ms);
  }
  return folders;
}

function longest(tookMs: ReadonlyMap<string, number>): string {
  const sorted = [...tookMs].sort(([, a], [, b]) => b - a).slice(0, LISTED);
  return sorted.map(([name, ms]) => `${seconds(ms)}  ${name}\n`).join('');
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1).padStart(7)} s`;
}
