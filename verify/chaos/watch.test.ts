/** When the watch of a chaos run says that a service does not answer /healthz. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holdHealth } from './watch.ts';

const LOOKS: readonly (readonly [what: string, status: number | null, ms: number, held: boolean | null])[] = [
  ['an answer', 200, 40, true],
  ['an answer of a process that is stuck', 503, 40, false],
  ['no answer in 10 s', null, 10_050, false],
  ['a look that ended 9 s after its limit, because the watch itself had no CPU', null, 19_368, null],
];

for (const [what, status, ms, held] of LOOKS) {
  test(`${what}: ${held === null ? 'tells nothing' : held ? 'is healthy' : 'breaks the promise'}`, () => {
    const seen: boolean[] = [];
    const hold = (_: string, isKept: boolean) => void seen.push(isKept);
    holdHealth({ hold }, 'service-1', status, ms);
    assert.deepEqual(seen, held === null ? [] : [held]);
  });
}
