/**
 * `npm run verify:faults`: what the tests are worth. Brings back the faults of the list one by one, in a copy of the
 * checkout, and prints for each whether the tests tell. `--tier full` asks all tests and not only the gate. Whole runs
 * end with exit code 1 where the gate tells fewer than nine tenths of the faults, or all tests together miss one.
 */
import { readOptions } from '../../bench/options.ts';
import { TIERS, tierOf } from '../../test/run/tiers.ts';
import { changeIn, copyCheckout, readIn, syntaxErrorIn } from './checkout.ts';
import { type Fault, LostEditError, readFaults, withFault } from './list.ts';
import { endRun, runTests } from './run-tests.ts';
import type { Failure } from './verdict.ts';

/** Longer than the runner lets a file hang, which then tells. */
const FILES_WITHIN_MINUTES = 25;
const TIER_WITHIN_MINUTES = { gate: 45, full: 180 };
/** The share of the faults that each tier has to tell. */
const BARS = { gate: 0.9, full: 1 };
const LAST_LINES = 15;

const values = readOptions({
  tier: { default: 'gate', about: 'the tests that are asked: gate or full' },
  only: { default: '', about: 'numbers or names of faults, divided by commas' },
});
const tier = TIERS.find((name) => name === values.tier) ?? end(`--tier must be ${TIERS.join(' or ')}`);
const all = readFaults();
const chosen = values.only === '' ? all : values.only.split(',').map((text) => find(text.trim()));

const folder = copyCheckout();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => void endRun().finally(() => process.exit(1)));

const unusable = await failingAnyway(new Set(chosen.flatMap(askedFirst)));
for (const file of unusable) console.error(`${file} fails without a fault, so it tells of none`);
let told = 0;
for (const fault of chosen) {
  const { isTold, text } = await judge(fault);
  if (isTold) told += 1;
  console.log(text);
}
const isEnough = told >= (values.only === '' ? BARS[tier] : 1) * chosen.length;
process.exitCode = isEnough ? 0 : 1;
console.log(`faults told: ${told} of ${chosen.length}`);

function find(text: string): Fault {
  const fault = /^\d+$/.test(text) ? all[Number(text) - 1] : all.find(({ name }) => name === text);
  return fault ?? end(`there is no fault ${text}; the numbers are 1 to ${all.length}`);
}

/** Ends the process for a mistake of the command line. */
function end(reason: string): never {
  console.error(`error: ${reason}`);
  process.exit(1);
}

/** The files that are asked before the rest of the tier. */
function askedFirst(fault: Fault): string[] {
  return fault.told.filter((file) => tier === 'full' || tierOf(file) === 'gate');
}

/** The files among these that fail without a fault. */
async function failingAnyway(files: ReadonlySet<string>): Promise<Set<string>> {
  if (files.size === 0) return new Set();
  const ran = await runTests(folder, tier, [...files], TIER_WITHIN_MINUTES[tier]);
  if (ran.kind === 'unusable')
    end(`the tests do not run without a fault: ${ran.reason}\n${lastLines(ran.output)}`);
  return new Set(ran.kind === 'failed' ? ran.failures.flatMap(filesOf) : []);
}

/** Brings a fault back, asks the tests, and takes the fault away. */
async function judge(fault: Fault): Promise<{ readonly isTold: boolean; readonly text: string }> {
  let texts: Map<string, string>;
  try {
    texts = withFault(fault, (file) => readIn(folder, file));
  } catch (error) {
    if (!(error instanceof LostEditError)) throw error;
    return { isTold: false, text: `lost   ${fault.name}: ${error.message}` };
  }
  const wrong = [...texts].map(([file, text]) => syntaxErrorIn(file, text)).find((one) => one !== null);
  if (wrong !== undefined) return { isTold: false, text: `ERROR  ${fault.name}: ${wrong}` };
  const first = askedFirst(fault).filter((file) => !unusable.has(file));
  if (first.length > 0) {
    const { failures, error } = await askWith(texts, first, FILES_WITHIN_MINUTES);
    if (error !== null) return { isTold: false, text: `ERROR  ${fault.name}: ${error}` };
    if (failures[0] !== undefined) return { isTold: true, text: tellOf(fault, failures[0]) };
  }
  const { failures, error } = await askWith(texts, [], TIER_WITHIN_MINUTES[tier]);
  if (error !== null) return { isTold: false, text: `ERROR  ${fault.name}: ${error}` };
  for (const failure of failures)
    if (await passesWithout(failure)) return { isTold: true, text: tellOf(fault, failure) };
  return { isTold: false, text: `MISSED ${fault.name}: ${fault.what}` };
}

/** Runs tests with changed files. `error` says why the run tells of nothing. */
async function askWith(
  texts: ReadonlyMap<string, string>,
  files: readonly string[],
  minutes: number,
): Promise<{ readonly failures: readonly Failure[]; readonly error: string | null }> {
  const putBack = changeIn(folder, texts);
  const ran = await runTests(folder, tier, files, minutes);
  putBack();
  if (ran.kind === 'unusable') return { failures: [], error: `${ran.reason}\n${lastLines(ran.output)}` };
  return { failures: ran.kind === 'failed' ? ran.failures : [], error: null };
}

/** True where the files of a failure pass without the fault, so the failure is the fault's. */
async function passesWithout(failure: Failure): Promise<boolean> {
  const ran = await runTests(folder, tier, filesOf(failure), FILES_WITHIN_MINUTES);
  return ran.kind === 'passed';
}

function tellOf({ name }: Fault, failure: Failure): string {
  return `told   ${name} by ${named(failure)}`;
}

/** Files that shared a process which ended are told together. */
function filesOf({ file }: Failure): string[] {
  return file.match(/\S+\.test\.ts/g) ?? [];
}

function named({ file, test }: Failure): string {
  return `${file}: ${test}`;
}

function lastLines(output: string): string {
  return output.trimEnd().split('\n').slice(-LAST_LINES).join('\n').replace(/^/gm, '    ');
}
