/**
 * The runner's own report, with the slowest folders and files of the run before its closing lines. The run fails where
 * a file did not tell of all its tests.
 */
import type { TestEvent } from 'node:test/reporters';
import { spec } from 'node:test/reporters';
import { FileReports } from './file-reports.ts';

const LISTED_FILES = 10;

/** A reporter of `node --test`: takes its events, writes text, and sets the exit code where a report is incomplete. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const usual = new spec();
  const reports = new FileReports();
  const tookMs = new Map<string, number>();
  let isClosing = false;
  for await (const event of events) {
    reports.take(event);
    // The runner reports each file as if the file were a test with the path as its name.
    if (event.type === 'test:complete' && event.data.name.endsWith('.test.ts')) {
      tookMs.set(event.data.name.replaceAll('\\', '/'), event.data.details.duration_ms);
    }
    if (!isClosing && event.type === 'test:diagnostic' && event.data.message.startsWith('tests ')) {
      isClosing = true;
      yield slowest(tookMs);
    }
    usual.write(event);
    yield* written(usual);
  }
  usual.end();
  yield* written(usual);
  const faults = reports.faults();
  if (faults.length > 0) process.exitCode = 1;
  yield* faults.map((fault) => `error: ${fault}\n`);
}

function* written(stream: InstanceType<typeof spec>): Generator<string> {
  for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) yield String(chunk);
}

/** Files run side by side, so their sum is more than the time of the run. */
function slowest(tookMs: ReadonlyMap<string, number>): string {
  const folders = new Map<string, number>();
  for (const [file, ms] of tookMs) {
    const folder = file.replace(/\/[^/]*$/, '');
    folders.set(folder, (folders.get(folder) ?? 0) + ms);
  }
  const longest = (times: ReadonlyMap<string, number>) => [...times].sort(([, a], [, b]) => b - a);
  const line = ([name, ms]: [string, number]) => `  ${(ms / 1000).toFixed(1).padStart(7)} s  ${name}\n`;
  return [
    '\nTime by folder (files run side by side):\n',
    ...longest(folders).map(line),
    'The slowest files:\n',
    ...longest(tookMs).slice(0, LISTED_FILES).map(line),
    '\n',
  ].join('');
}
