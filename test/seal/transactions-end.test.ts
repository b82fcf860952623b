/** What is on its way when a data key is refused is waited for (`vault retire`, `vault reindex`). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Database } from '../../src/ground/postgres/database.ts';
import { transactionsEnd } from '../../src/seal/data-keys.ts';
import { TestClock } from '../support/test-clock.ts';

/** A database in which the transactions before number 7 end at some time of the clock, and what was asked when. */
function databaseOf(clock: TestClock, endMs: number) {
  const beganMs = clock.monotonicMs();
  const asked: [number, unknown[] | undefined][] = [];
  const query = async (_: string, values?: unknown[]) => {
    const atMs = clock.monotonicMs() - beganMs;
    asked.push([atMs, values]);
    return { rows: [values === undefined ? { xid: '7' } : { yes: atMs >= endMs }] };
  };
  return { database: { query } as unknown as Database, asked };
}

function waiting(endMs: number) {
  const clock = new TestClock();
  const { database, asked } = databaseOf(clock, endMs);
  const seen: { end: boolean | null } = { end: null };
  void transactionsEnd(database, clock).then((end) => {
    seen.end = end;
  });
  return { clock, asked, seen };
}

describe('transactionsEnd', () => {
  it('lets each statement end before it looks: one that reads has no transaction id yet', async () => {
    const { clock, asked, seen } = waiting(0);
    await clock.advance(3_499);
    assert.deepEqual(asked, []);
    await clock.advance(1);
    assert.deepEqual(asked, [
      [3_500, undefined],
      [3_500, ['7']],
    ]);
    assert.equal(seen.end, true);
  });

  it('looks every 200 milliseconds until they have ended', async () => {
    const { clock, asked, seen } = waiting(4_000);
    await clock.advance(4_099);
    assert.equal(seen.end, null);
    await clock.advance(1);
    assert.equal(seen.end, true);
    assert.deepEqual(
      asked.map(([atMs]) => atMs),
      [3_500, 3_500, 3_700, 3_900, 4_100],
    );
  });

  it('gives up where one goes on for more than a minute', async () => {
    const { clock, seen } = waiting(Number.POSITIVE_INFINITY);
    await clock.advance(3_500 + 60_000);
    assert.equal(seen.end, null);
    await clock.advance(200);
    assert.equal(seen.end, false);
    assert.equal(clock.timers, 0);
  });
});
