/** Each test file is of the tier that its imports say, and can share a process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSources } from '../support/sources.ts';
import { filesOf, needsOf, needsOfText, tierOf } from './tiers.ts';

test('what a file imports decides its tier: a process, a browser, a server of its own and real time are not the gate', () => {
  for (const [path, needs] of [
    ['test/run/run.test.ts', ['a process']],
    ['test/browser/simulator.test.ts', ['a browser']],
    ['test/embedded/embedded.test.ts', ['a process', 'a server of its own', 'real time']],
    ['test/run/tiers.test.ts', []],
  ] as const) {
    assert.deepEqual([...needsOf(path).keys()].sort(), needs, path);
    assert.equal(tierOf(path), needs.length === 0 ? 'gate' : 'full');
  }
});

test('a need shows by any name of its module or function', () => {
  // Without the marks this file would have the needs itself.
  const needsIn = (text: string) => needsOfText(text.replaceAll('~', ''));
  for (const text of [
    "import { spawn } from 'child~_process';",
    "import {\n  spawn,\n} from 'node:child~_process';",
    "import { Worker } from 'worker~_threads';",
    "const { exec } = await import('node:child~_process');",
  ])
    assert.deepEqual(needsIn(text), ['a process'], text);
  for (const text of [
    "import { set~Timeout as pause } from 'node:timers/promises';",
    "import { set~Timeout as pause } from 'timers/promises';",
    "const { set~Timeout: pause } = await import('node:timers/promises');",
    "import { sch~eduler } from 'node:timers/promises';",
    'Ato~mics.wait(cells, 0, 0, 5);',
    'mac~hineClock.sleep(5);',
  ])
    assert.deepEqual(needsIn(text), ['real time'], text);
  for (const text of [
    "import { setImmediate as nextTurn } from 'node:timers/promises';",
    "import type { ChildProcess } from 'node:child~_process';",
    '// set~Timeout(ring, 5)',
  ])
    assert.deepEqual(needsIn(text), [], text);
});

test('the gate has all files without needs, and one smoke of each real thing', () => {
  const gate = filesOf('gate');
  const smoke = gate.filter((path) => needsOf(path).size > 0);
  assert.deepEqual(smoke, ['test/smoke/browser.test.ts', 'test/smoke/service.test.ts']);
  assert.deepEqual(
    filesOf('full').filter((path) => needsOf(path).size === 0 && !gate.includes(path)),
    [],
  );
});

test('a file makes its data before its first test: hooks that end them run after the last test known by then', () => {
  const late = readSources('test').filter(({ path, text }) => {
    const first = path.endsWith('.test.ts') ? text.search(/^(?:test|describe|it)\(/m) : -1;
    return first !== -1 && /^(?:const .* = )?await /m.test(text.slice(first));
  });
  assert.deepEqual(
    late.map(({ path }) => path),
    [],
  );
});
