/** What processes make beside a path: whose it is, and when it counts as left behind. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import {
  discard,
  discardStale,
  keepYoung,
  temporariesBeside,
  temporaryBeside,
} from '../../src/ground/files/temporary.ts';
import { eventually } from '../support/eventually.ts';
import { TestClock } from '../support/test-clock.ts';

const STALE_AFTER_MS = 10 * 60_000;
const folder = mkdtempSync(join(tmpdir(), 'ventanilla-temporary-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let paths = 0;

/** A new path, and a folder that the process with this pid makes beside it at the clock's time. */
function madeBy(pid: number, clock: TestClock) {
  paths += 1;
  const path = join(folder, `cluster-${paths}`);
  const temporary = `${path}.making-${pid}-00000000`;
  mkdirSync(temporary);
  const now = new Date(clock.nowMs());
  utimesSync(temporary, now, now);
  return { path, temporary };
}

/** The parent of this process goes on; no process has such a pid. */
const [RUNNING, ENDED] = [process.ppid, 999_999_999];

describe('a temporary', () => {
  it('of a running process counts as left behind from its tenth minute on, and is removed then', async () => {
    const clock = new TestClock();
    const { path, temporary } = madeBy(RUNNING, clock);
    await clock.advance(STALE_AFTER_MS - 1);
    assert.deepEqual(await temporariesBeside(path, clock), [{ temporary, isStale: false }]);
    await discardStale(path, clock);
    assert.ok(existsSync(temporary));
    await clock.advance(1);
    assert.deepEqual(await temporariesBeside(path, clock), [{ temporary, isStale: true }]);
    await discardStale(path, clock);
    assert.ok(!existsSync(temporary));
  });

  it('of a process that has ended counts as left behind at once', async () => {
    const clock = new TestClock();
    const { path, temporary } = madeBy(ENDED, clock);
    assert.deepEqual(await temporariesBeside(path, clock), [{ temporary, isStale: true }]);
  });

  it('with the pid of this process, which did not make it, comes from a process before', async () => {
    const clock = new TestClock();
    const { path, temporary } = madeBy(process.pid, clock);
    assert.deepEqual(await temporariesBeside(path, clock), [{ temporary, isStale: true }]);
    const own = temporaryBeside(path);
    mkdirSync(own);
    assert.deepEqual(await temporariesBeside(path, clock), [{ temporary, isStale: true }]);
    await discard(own);
  });

  it('is not taken for left behind when its process works on it for hours', async () => {
    const clock = new TestClock();
    const { path, temporary } = madeBy(RUNNING, clock);
    const letAge = keepYoung(temporary, clock);
    for (let minute = 0; minute < 180; minute += 1) {
      await clock.advance(60_000);
      await eventually('the new time', () => statSync(temporary).mtimeMs === clock.nowMs());
    }
    assert.deepEqual(await temporariesBeside(path, clock), [{ temporary, isStale: false }]);
    letAge();
    assert.equal(clock.timers, 0);
  });
});
