/**
 * One file of each program reads the clock and sets timers. All else gets its time as a value, so that a test moves it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readProgram, readSources } from './support/sources.ts';

/** The programs, src with its packages, each with the one file that has the clock and the timers of its machine. */
const PROGRAMS = {
  src: 'ground/base/clock.ts',
  'client/src': 'clock.ts',
  'console/src': 'clock.ts',
} as const;
/** The scripts of the pages without a build: their browser is their clock. */
const PAGE_SCRIPTS = /^(listeners\/docs-page|subjects\/simulator)\/page\//;
/** A socket has a time limit of its own, which this file passes on. */
const SOCKET = 'wire/gate/connection.ts';
/** What reads a clock or sets a timer. A method of that name, such as a socket's, is none of these. */
const OWN_TIME = [
  /\bDate\.now\b/,
  /\bperformance\.(?:now|timeOrigin)\b/,
  /\bprocess\.(?:hrtime|uptime)\b/,
  /\bnew Date\(\)|\bnew Date\b(?!\()/,
  /(?<![.\w])set(?:Timeout|Interval)\b/,
  /\bAbortSignal\.timeout\b/,
  /\bset(?:Timeout|Interval)\b[^}]*\}\s*from\s*'(?:node:)?timers/,
];

/** The lines of a module that read a clock or set a timer. Comments do not count. */
function ownTimeIn(text: string): string[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
  return code.split('\n').filter((line) => OWN_TIME.some((form) => form.test(line)));
}

for (const [folder, clock] of Object.entries(PROGRAMS)) {
  test(`in ${folder} only ${clock} reads a clock or sets a timer`, () => {
    const sources = folder === 'src' ? readProgram() : readSources(folder);
    const found = sources
      .filter(({ path }) => ![clock, SOCKET].includes(path) && !PAGE_SCRIPTS.test(path))
      .flatMap(({ path, text }) => ownTimeIn(text).map((line) => `${path}: ${line.trim()}`));
    assert.deepEqual(found, []);
    const own = sources.find(({ path }) => path === clock);
    assert.ok(ownTimeIn(own?.text ?? '').length > 0, 'the check finds what it looks for');
  });
}

test('the check finds every form, and no method of another thing', () => {
  for (const line of [
    'const now = Date.now();',
    'const now = () => new Date();',
    'const now = new Date;',
    'const begun = performance.now();',
    'process.hrtime.bigint()',
    'setTimeout(ring, 5);',
    'globalThis["x"] = setInterval;',
    'AbortSignal.timeout(5)',
    "import { setTimeout as sleep } from 'node:timers/promises';",
    "import { setInterval } from 'timers';",
  ])
    assert.deepEqual(ownTimeIn(line), [line], line);
  for (const line of [
    'socket.setTimeout(1_000);',
    'new Date(text)',
    '// on the clock of performance.now()',
    '/** By `Date.now()`. */',
    "import { setImmediate as nextTurn } from 'node:timers/promises';",
    'clock.timeout(5)',
  ])
    assert.deepEqual(ownTimeIn(line), [], line);
});

/** The files that read the time of day of the machine, and why that reading decides nothing (D39). */
const TIME_OF_DAY: Readonly<Record<string, string>> = {
  'listeners/partner/request-id.ts': 'the order of the ids of requests, which say no time',
  'subjects/messages/open.ts': 'a start checks that a file of contact windows opens at all within 60 days',
  'subjects/operators/uses/identity-provider.ts':
    'a library judges the times of a token by its own clock, and is told how far the database is from it',
  'subjects/rights/commands/subject.ts': 'an export names the time of its making, which is not stored',
  'subjects/signing/pdf/demo-identity.ts':
    'the dates of the certificate of a demonstration, which readers compare with their own',
  'subjects/simulator/channel.ts':
    'statuses of the simulator, which open.ts tells by the clock of the database',
  'subjects/simulator/codes.ts': 'what the second phone of the simulator shows',
  'subjects/simulator/open.ts': 'how far the database is from the clock of these statuses',
};
/** What never writes a time into the store: the start of the server that comes along. */
const APART = /^ground\/(embedded|files)\//;

test('D39: the machine’s time of day decides nothing: only these files read it', () => {
  const readers = readSources('src')
    .filter(({ path }) => path !== PROGRAMS.src && !APART.test(path) && !PAGE_SCRIPTS.test(path))
    .filter(({ text }) => /[cC]lock\.nowMs\b|\bnew Date\(\)|\bDate\.now\b/.test(text))
    .map(({ path }) => path);
  assert.deepEqual(readers, Object.keys(TIME_OF_DAY).sort());
});
