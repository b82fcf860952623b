/** Runs `ventanilla submit` in a process of its own that a test may kill. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { after } from 'node:test';

const REPOSITORY = resolve(import.meta.dirname, '../../../..');

/** Runs the command in a process of its own. */
export function spawnSubmit(apiKey: string, ...args: string[]) {
  const child = spawn(process.execPath, ['src/main.ts', 'submit', ...args, '--yes', '--json'], {
    cwd: REPOSITORY,
    env: { ...process.env, VENTANILLA_API_KEY: apiKey, NODE_TEST_CONTEXT: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  after(() => child.kill('SIGKILL'));
  const text = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text.out += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text.err += chunk;
  });
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...text }));
  return { kill: (signal: NodeJS.Signals) => child.kill(signal), ended };
}
