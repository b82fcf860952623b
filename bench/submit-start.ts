/** How long the program of the package `ventanilla-submit` takes to start. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Bar } from './bars.ts';
import { median } from './phase.ts';

const PACKAGES = join(import.meta.dirname, '../packages');
const ROUNDS = 11;
const MAX_START_MS = 150;

/** Builds the program as `npm pack` does, and starts it again and again. */
export function benchStart(): Bar[] {
  const run = (...args: string[]) => {
    const start = performance.now();
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
    return performance.now() - start;
  };
  run(join(PACKAGES, 'build-submit.js'));
  return ['--help', '--version'].map((option) => {
    const rounds = Array.from({ length: ROUNDS }, () => run(join(PACKAGES, 'submit/start.js'), option));
    const name = `ventanilla-submit ${option}, median of ${ROUNDS}`;
    return { name, figure: median(rounds), direction: 'at most', bound: MAX_START_MS, unit: 'ms' };
  });
}
