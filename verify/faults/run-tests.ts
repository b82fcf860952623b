/** Runs tests of a checkout by its own commands. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Tier } from '../../test/run/tiers.ts';
import { type Ran, verdictOf } from './verdict.ts';

const COMMANDS: Readonly<Record<Tier, string>> = { gate: 'test', full: 'test:full' };
const END_WITHIN_MS = 20_000;

let running: ChildProcess | null = null;

/** Runs the files, or the whole tier where there are none, in a folder; ends the run after `minutes`. */
export async function runTests(
  folder: string,
  tier: Tier,
  files: readonly string[],
  minutes: number,
): Promise<Ran> {
  const args = ['run', '--silent', COMMANDS[tier], '--', ...files];
  // A test run within a test run would report to the outer one.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn('npm', args, { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  running = child;
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    void endRun();
  }, minutes * 60_000);
  const code = await new Promise<number | null>((done, fail) =>
    child.once('error', fail).once('close', done),
  );
  clearTimeout(limit);
  running = null;
  if (isLate) return { kind: 'unusable', reason: `no end within ${minutes} minutes`, output };
  return verdictOf(code, output);
}

/** Ends the run that is under way, with all that it started. */
export async function endRun(): Promise<void> {
  const child = running;
  if (child?.pid === undefined) return;
  const ended = new Promise((done) => child.once('close', done));
  signal(child.pid, 'SIGTERM');
  const kill = setTimeout(signal, END_WITHIN_MS, child.pid, 'SIGKILL');
  await ended;
  clearTimeout(kill);
}

function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, name);
  } catch {
    // It has ended already.
  }
}
