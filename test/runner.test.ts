/** No failure of a test gets lost: a run that did not hear of all tests fails. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readSources } from './support/sources.ts';

const SUPPORT = join(import.meta.dirname, 'support');
const folder = await mkdtemp(join(tmpdir(), 'ventanilla-runner-'));
after(() => rm(folder, { recursive: true, force: true }));

/** Runs one file with this text as `npm test` does. */
async function runOf(text: string): Promise<{ code: number; out: string }> {
  await writeFile(join(folder, 'a.test.ts'), `import { describe, test } from 'node:test';\n${text}`);
  const flags = [`--import=${SUPPORT}/left-open.ts`, `--test-reporter=${SUPPORT}/reporter.ts`];
  const env: NodeJS.ProcessEnv = { ...process.env, LEFT_OPEN_MS: '500' };
  delete env.NODE_TEST_CONTEXT;
  return new Promise((done) => {
    const args = ['--test', ...flags, '--test-reporter-destination=stdout', 'a.test.ts'];
    execFile(process.execPath, args, { cwd: folder, env }, (error, out) =>
      done({ code: error === null ? 0 : Number(error.code), out }),
    );
  });
}

test('a file that tells of all its tests passes', async () => {
  const { code, out } = await runOf(
    `test('a', async (t) => { await t.test('b', () => {}); }); test('c', { skip: true }, () => {});`,
  );
  assert.equal(code, 0, out);
  assert.match(out, /tests 3\n/);
});

test('a process that ends with code 0 before the end of its report fails the run', async () => {
  const { code, out } = await runOf(`test('a', () => {}); test('b', () => process.exit(0));`);
  assert.equal(code, 1, out);
  assert.match(out, /^error: a\.test\.ts ended before the end of its report/m);
});

test('a file without tests fails the run', async () => {
  const { code, out } = await runOf('');
  assert.equal(code, 1, out);
  assert.match(out, /^error: a\.test\.ts has no test$/m);
});

test('a file whose suites are skipped with a reason passes: a machine may lack the program that they need', async () => {
  const { code, out } = await runOf(`describe('a', { skip: 'no such program' }, () => {});`);
  assert.equal(code, 0, out);
  const unexplained = await runOf(`describe('a', { skip: true }, () => {});`);
  assert.equal(unexplained.code, 1, unexplained.out);
});

test('a file that stays open is ended, says what is open, and fails the run', async () => {
  const { code, out } = await runOf(`test('a', () => {}); setInterval(() => {}, 1_000);`);
  assert.equal(code, 1, out);
  assert.match(out, /error: open 0\.5 s after the last test: .*Timeout/);
});

test('a file makes its data before its first test: hooks that end them run after the last test known by then', () => {
  const late = ['test', 'verify'].flatMap(readSources).filter(({ path, text }) => {
    const first = path.endsWith('.test.ts') ? text.search(/^(?:test|describe|it)\(/m) : -1;
    return first !== -1 && /^(?:const .* = )?await /m.test(text.slice(first));
  });
  assert.deepEqual(
    late.map(({ path }) => path),
    [],
  );
});
