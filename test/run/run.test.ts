/** No failure of a test gets lost: a run that did not hear of all tests fails, and says how to repeat what failed. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { REPOSITORY } from '../support/sources.ts';

// In the checkout, whose libraries the files find.
const folder = await mkdtemp(join(REPOSITORY, '.of-run-'));
after(() => rm(folder, { recursive: true, force: true }));
const PASSES = `test('a', () => {});`;
const COUNTEREXAMPLES = join(folder, 'kept', 'counterexamples.txt');

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Runs files with these texts as `npm test` does. */
async function runOf(...texts: string[]): Promise<Ran> {
  const files = texts.map((_, index) => join(folder, `${'abcdef'[index]}.test.ts`));
  for (const [index, text] of texts.entries()) {
    const imports = [
      "import { after, before, describe, mock, test } from 'node:test';",
      "import { createServer } from 'node:net';",
      "import fc from 'fast-check';\n",
    ].join('\n');
    await writeFile(files[index] as string, imports + text);
  }
  return runWith(files);
}

async function runWith(files: readonly string[], variables: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const given = { SEED: '7', LEFT_OPEN_MS: '500', COUNTEREXAMPLES, ...variables };
  const env: NodeJS.ProcessEnv = { ...process.env, ...given };
  delete env.NODE_TEST_CONTEXT;
  return new Promise((done) => {
    const args = [join(import.meta.dirname, 'main.ts'), '--tier', 'gate', ...files];
    execFile(process.execPath, args, { env }, (failure, out, error) =>
      done({ code: failure === null ? 0 : Number(failure.code), out, error }),
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
    /\nskipped: .*a\.test\.ts > c: no reason\norder: SEED=7 npm test -- \S+a\.test\.ts \S+b\.test\.ts\n3 passed, 0 failed, 1 skipped\n$/,
  );
});

test('a failure names the file, the suites and the test, what was expected, and two commands that repeat it', async () => {
  const { code, out } = await runOf(
    `describe('s', () => { test('d', () => { throw new Error('no bread'); }); });`,
  );
  assert.equal(code, 1, out);
  assert.match(out, /^failed: .*a\.test\.ts > s > d\n {2}Error: no bread\n/m);
  assert.match(
    out,
    /alone: +SEED=7 npm test -- \S+a\.test\.ts\n.*order: +SEED=7 npm test -- \S+a\.test\.ts\n/,
  );
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

test('a process that stays open is ended, says what is open and since which file, and fails the run', async () => {
  const { code, out } = await runOf(`test('a', () => {}); createServer().listen(0);`);
  assert.equal(code, 1, out);
  assert.match(out, /error: open 0\.5 s after the last test: TCPServerWrap since \S+a\.test\.ts$/m);
});

test('of the files of a shared process the one is named that left something open', async () => {
  const leaves = `test('a', () => { createServer().listen(0); });`;
  const { out } = await runOf(PASSES, PASSES, PASSES, leaves, PASSES, PASSES);
  assert.match(out, /after the last test: TCPServerWrap since \S+d\.test\.ts$/m);
});

test('in a shared process a file fails that leaves the process changed, and the next one finds it as it was', async () => {
  const text = `test('a', () => { if (process.env.LEFT !== undefined) throw new Error('found'); process.env.LEFT = '1'; });`;
  const { code, out } = await runOf(text, text, text);
  assert.equal(code, 1, out);
  assert.match(
    out,
    /^failed: \S*a\.test\.ts > leaves the process as it was\n {2}Error: changed: variable LEFT$/m,
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

/** What a file can leave behind, beside its variables: how it does, and how the next one would see it. */
const CHANGES = [
  ['globalThis.fetch', 'globalThis.fetch = null', 'fetch === null'],
  ['Math.random', 'Math.random = () => 0.5', 'Math.random() === 0.5'],
  ['Array.prototype.last', 'Array.prototype.last = 1', '[].last === 1'],
  ['globalThis.Date', "mock.timers.enable({ apis: ['Date'] })", 'Date.now() === 0'],
  ['Math.max', "mock.method(Math, 'max', () => 7)", 'Math.max(1) === 7'],
  ['the mask of new files', 'process.umask(0o077)', 'process.umask() === 0o077'],
  ['the current folder', "process.chdir('/')", "process.cwd() === '/'"],
  [
    'a listener of uncaughtException',
    "process.on('uncaughtException', function left() {})",
    "process.listeners('uncaughtException').some(({ name }) => name === 'left')",
  ],
  [
    'the configuration of fast-check',
    'fc.configureGlobal({ numRuns: 1 })',
    'fc.readConfigureGlobal().numRuns === 1',
  ],
] as const;

test('a file fails that leaves a global, a mock or anything else of the process changed, and the next one finds it as it was', async () => {
  const text = CHANGES.map(
    ([, change, isThere]) => `if (${isThere}) throw new Error('found'); ${change};`,
  ).join('\n');
  const { code, out } = await runOf(...Array.from({ length: 4 }, () => `test('a', () => { ${text} });`));
  assert.equal(code, 1, out);
  assert.doesNotMatch(out, /found/);
  const told = [...out.matchAll(/Error: changed: (.*)/g)].map(([, names]) => names?.split(', ') ?? []);
  assert.equal(told.length, 4);
  for (const names of told)
    assert.deepEqual(
      CHANGES.map(([what]) => what).filter((what) => !names.includes(what)),
      [],
    );
});

test('an error after the end of a test names the file, of all that share its process, and the error', async () => {
  const late = `test('a', () => { setImmediate(() => Promise.reject(new Error('too late'))); });
    test('b', async () => { for (let i = 0; i < 9; i++) await new Promise((done) => setImmediate(done)); });`;
  const { code, out } = await runOf(late, PASSES, PASSES, PASSES);
  assert.equal(code, 1, out);
  assert.match(out, /^failed: \S*a\.test\.ts > after its tests\n {2}Error: Test "a" at .*too late/m);
});

test('the command that repeats a failure names each file of a process that ended, and how it ended', async () => {
  const kills = `test('a', () => process.kill(process.pid, 'SIGKILL'));`;
  const { code, out } = await runOf(kills, kills, kills, kills);
  assert.equal(code, 1, out);
  assert.match(out, /^failed: \S+, \S+ > its report\n.*\(SIGKILL\): tests are missing$/m);
  assert.match(out, /alone: +SEED=7 npm test -- \S+\.test\.ts \S+\.test\.ts$/m);
  assert.match(out, /\n0 passed, 3 failed, 0 skipped\n$/);
});

test('a suite whose first hook fails is one failure', async () => {
  const { code, out } = await runOf(
    `describe('s', () => { before(() => { throw new Error('no bread'); }); test('d', () => {}); });`,
  );
  assert.equal(code, 1, out);
  assert.match(out, /^failed: .*a\.test\.ts > s\n {2}Error: no bread$/m);
  assert.match(out, /\n0 passed, 1 failed, 0 skipped\n$/);
});

test('a test that is to do counts as skipped, and not as passed', async () => {
  const { code, out } = await runOf(`test('a', { todo: 'no oven yet' }); test('b', () => {});`);
  assert.equal(code, 0, out);
  assert.match(out, /\nskipped: .*a\.test\.ts > a: no oven yet\n(?:.*\n)*1 passed, 0 failed, 1 skipped\n$/);
});

test('a path that is no test file ends the run, also beside others; a path that is named twice runs once', async () => {
  await runOf(PASSES);
  const there = join(folder, 'a.test.ts');
  for (const wrong of [join(folder, 'none.test.ts'), folder, 'package.json', '']) {
    const { code, out, error } = await runWith([there, wrong]);
    assert.equal(code, 1, wrong);
    assert.equal(out, '');
    assert.equal(error, `error: no test file matches ${wrong}\n`);
  }
  const { out } = await runWith([there, relative('', there)]);
  assert.match(out, /\n1 passed, 0 failed, 0 skipped\n$/);
});

test('a SEED that is no whole number ends the run: it would repeat nothing', async () => {
  await runOf(PASSES);
  for (const SEED of ['abc', '-1', '1.5']) {
    const { code, error } = await runWith([join(folder, 'a.test.ts')], { SEED });
    assert.equal(code, 1, SEED);
    assert.equal(error, 'error: SEED must be a whole number from 0 on\n');
  }
});

test('a run that a signal ends, also that of a closed terminal, fails and leaves no server and no folder', async () => {
  const there = join(folder, 'hangs.test.ts');
  await writeFile(
    there,
    `import { mkdtempSync, writeFileSync } from 'node:fs';
    import { tmpdir } from 'node:os';
    import { join } from 'node:path';
    import { test } from 'node:test';
    const made = mkdtempSync(join(tmpdir(), 'of-a-file-'));
    test('a', () => { console.log('here: ' + [process.env.TEST_DATABASE_URL && process.env.TEST_CLUSTER, made].join(' ') + ' end'); return new Promise(() => {}); });`,
  );
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const env: NodeJS.ProcessEnv = { ...process.env };
    for (const name of ['NODE_TEST_CONTEXT', 'TEST_DATABASE_URL', 'TEST_CLUSTER']) delete env[name];
    const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), there], { env });
    let out = '';
    for await (const text of child.stdout.setEncoding('utf8')) {
      if (out.includes(' end\n')) continue;
      out += text;
      if (out.includes(' end\n')) child.kill(signal);
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    assert.deepEqual([child.exitCode, child.signalCode], [1, null], signal);
    const [, ...made] = /here: (\S+) (\S+) end/.exec(out) ?? [];
    assert.equal(made.length, 2, out);
    assert.deepEqual(made.filter(existsSync), [], signal);
  }
});
