/** No failure of a test gets lost: a run that did not hear of all tests fails, and says how to repeat what failed. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { REPOSITORY } from '../support/sources.ts';

// In the checkout, whose libraries the files find.
const folder = await mkdtemp(join(REPOSITORY, '.of-run-'));
after(() => rm(folder, { recursive: true, force: true }));
const COUNTEREXAMPLES = join(folder, 'kept', 'counterexamples.txt');

/** Runs files with these texts as `npm test` does. */
async function runOf(...texts: string[]): Promise<{ code: number; out: string }> {
  const files = texts.map((_, index) => join(folder, `${'abcd'[index]}.test.ts`));
  for (const [index, text] of texts.entries()) {
    const imports = [
      "import { after, describe, test } from 'node:test';",
      "import { createServer } from 'node:net';",
      "import fc from 'fast-check';\n",
    ].join('\n');
    await writeFile(files[index] as string, imports + text);
  }
  const env: NodeJS.ProcessEnv = { ...process.env, SEED: '7', LEFT_OPEN_MS: '500', COUNTEREXAMPLES };
  delete env.NODE_TEST_CONTEXT;
  return new Promise((done) => {
    const args = [join(import.meta.dirname, 'main.ts'), '--tier', 'gate', ...files];
    execFile(process.execPath, args, { env }, (error, out) =>
      done({ code: error === null ? 0 : Number(error.code), out }),
    );
  });
}

test('files that tell of all their tests pass; the run ends with its order and the closing line', async () => {
  const { code, out } = await runOf(
    `test('a', async (t) => { await t.test('b', () => {}); }); test('c', { skip: true }, () => {});`,
    `describe('s', () => { test('d', () => {}); });`,
  );
  assert.equal(code, 0, out);
  assert.match(
    out,
    /\nskipped: .*a\.test\.ts > c: no reason\norder: SEED=7 npm test\n3 passed, 0 failed, 1 skipped\n$/,
  );
});

test('a failure names the file, the suites and the test, what was expected, and two commands that repeat it', async () => {
  const { code, out } = await runOf(
    `describe('s', () => { test('d', () => { throw new Error('no bread'); }); });`,
  );
  assert.equal(code, 1, out);
  assert.match(out, /^failed: .*a\.test\.ts > s > d\n {2}Error: no bread\n/m);
  assert.match(out, /SEED=7 npm test -- .*a\.test\.ts\n.*SEED=7 npm test\n/);
  assert.match(out, /\n0 passed, 1 failed, 0 skipped\n$/);
});

test('a property prints and keeps its counterexample, and meets the same values with the same seed', async () => {
  const text = `test('p', () => { fc.assert(fc.property(fc.integer(), (n) => n < 1_000)); });`;
  const runs = [await runOf(text), await runOf(text)].map(
    ({ out }) => /Counterexample: \[\d+\]/.exec(out)?.[0],
  );
  assert.ok(runs[0]);
  assert.equal(runs[0], runs[1]);
  const kept = await readFile(COUNTEREXAMPLES, 'utf8');
  assert.equal(kept.split(runs[0]).length, 3, kept);
  assert.match(kept, /^failed: .*a\.test\.ts > p$/m);
});

test('a process that ends with code 0 before the end of its report fails the run', async () => {
  const { code, out } = await runOf(`test('a', () => {}); test('b', () => process.exit(0));`);
  assert.equal(code, 1, out);
  assert.match(out, /^failed: .*a\.test\.ts > its report\n.*tests are missing/m);
});

test('a file without tests fails the run', async () => {
  const { code, out } = await runOf('');
  assert.equal(code, 1, out);
  assert.match(out, /^failed: .*a\.test\.ts > the file itself\n {2}the file has no test$/m);
});

test('a file that does not load fails the run, and the others run', async () => {
  const { code, out } = await runOf(`throw new Error('not here');`, `test('b', () => {});`);
  assert.equal(code, 1, out);
  assert.match(out, /^failed: .*a\.test\.ts > the file itself\n {2}Error: not here$/m);
  assert.match(out, /\n1 passed, 1 failed, 0 skipped\n$/);
});

test('a file whose suites are skipped with a reason passes: a machine may lack the program that they need', async () => {
  const { code, out } = await runOf(`describe('a', { skip: 'no such program' }, () => {});`);
  assert.equal(code, 0, out);
  const unexplained = await runOf(`describe('a', { skip: true }, () => {});`);
  assert.equal(unexplained.code, 1, unexplained.out);
});

test('a process that stays open is ended, says what is open, and fails the run', async () => {
  const { code, out } = await runOf(`test('a', () => {}); createServer().listen(0);`);
  assert.equal(code, 1, out);
  assert.match(out, /error: open 0\.5 s after the last test: .*TCPServerWrap/);
});

test('in a shared process a file fails that leaves the process changed, and the next one finds it as it was', async () => {
  const text = `test('a', () => { if (process.env.LEFT !== undefined) throw new Error('found'); process.env.LEFT = '1'; });`;
  const { code, out } = await runOf(text, text, text);
  assert.equal(code, 1, out);
  assert.match(
    out,
    /^failed: .*a\.test\.ts leaves the process as it was > .*\n {2}Error: changed: variable LEFT$/m,
  );
  assert.doesNotMatch(out, /found/);
});

test('in a shared process no file starts a process by a way that its imports do not show', async () => {
  const { code, out } = await runOf(
    `test('a', async () => { (await import('node:child_' + 'process')).spawn('true'); });`,
  );
  assert.equal(code, 1, out);
  assert.match(out, /a test of the gate starts no process/);
});

test('the hooks of a file run with the file, before the next one', async () => {
  const text = `globalThis.open = (globalThis.open ?? 0) + 1; after(() => { delete globalThis.open; });
    test('a', () => { if (globalThis.open !== 1) throw new Error('the hook of the file before came late'); });`;
  const { code, out } = await runOf(text, text, text, text);
  assert.equal(code, 0, out);
});
