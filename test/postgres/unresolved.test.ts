/** Reads beside transactions that a Citus cluster has not resolved yet (docs/scale.md). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UnavailableError } from '../../src/ground/base/registration-failure.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { readWhole } from '../../src/ground/postgres/unresolved.ts';
import { TestClock } from '../support/test-clock.ts';

/** Reads what is whole from some time on, in a cluster with these prepared transactions at each look. */
function reading(wholeAtMs: number, preparedAt: (ms: number) => readonly string[] | null) {
  const clock = new TestClock();
  const beganMs = clock.monotonicMs();
  const passedMs = () => clock.monotonicMs() - beganMs;
  const reads: number[] = [];
  const database = { query: async () => ({ rows: [{ names: preparedAt(passedMs()) }] }) };
  const seen = { end: null as unknown };
  void readWhole(
    database as unknown as Database,
    clock,
    async () => {
      reads.push(passedMs());
      return passedMs() >= wholeAtMs;
    },
    (isWhole) => isWhole,
  ).then(
    (found) => {
      seen.end = found;
    },
    (error: unknown) => {
      seen.end = error;
    },
  );
  return { clock, reads, seen };
}

describe('readWhole', () => {
  it('reads once where nothing is missing, and where the store is no cluster', async () => {
    for (const { clock, reads, seen, found } of [
      { ...reading(0, () => ['a']), found: true },
      { ...reading(10_000, () => null), found: false },
    ]) {
      await clock.advance(0);
      assert.deepEqual([reads, seen.end], [[0], found]);
    }
  });

  it('reads again each 50 milliseconds while a transaction of before is unresolved', async () => {
    const { clock, reads, seen } = reading(120, () => ['a']);
    await clock.advance(149);
    assert.equal(seen.end, null);
    await clock.advance(1);
    assert.equal(seen.end, true);
    assert.deepEqual(reads, [0, 0, 50, 100, 150]);
  });

  it('takes what it finds as it is when the transactions of before are resolved, whatever began later', async () => {
    const { clock, reads, seen } = reading(10_000, (ms) => (ms < 100 ? ['a', 'b'] : ['c']));
    await clock.advance(100);
    assert.equal(seen.end, false);
    assert.deepEqual(reads, [0, 0, 50, 100]);
  });

  it('gives up where one stays unresolved for more than two seconds', async () => {
    const { clock, seen } = reading(10_000, () => ['a']);
    await clock.advance(2_000);
    assert.equal(seen.end, null);
    await clock.advance(50);
    const end: unknown = seen.end;
    assert.ok(end instanceof UnavailableError);
    assert.equal(clock.timers, 0);
  });
});
