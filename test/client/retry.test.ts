/** The client's waits between attempts (D37). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { sleep as wait } from '../../client/src/clock.ts';
import { delayAfter, readRetryAfter } from '../../client/src/retry.ts';
import { TestClock } from '../support/test-clock.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');

it('property: the wait doubles from half a second to 30 s, half of it left to chance', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 2_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempt, random) => {
        const most = Math.min(30_000, 500 * 2 ** (attempt - 1));
        const delay = delayAfter(attempt, null, random);
        assert.ok(delay >= most / 2 && delay <= most, String(delay));
      },
    ),
  );
  assert.notEqual(delayAfter(1, null, 0), delayAfter(1, null, 1));
});

it('a longer Retry-After wins, up to a minute', () => {
  const cases: [retryAfterMs: number | null, expected: number][] = [
    [null, 500],
    [0, 500],
    [400, 500],
    [2_000, 2_000],
    [60_000, 60_000],
    [3_600_000, 60_000],
    [Number.POSITIVE_INFINITY, 60_000],
  ];
  for (const [retryAfterMs, expected] of cases) assert.equal(delayAfter(1, retryAfterMs, 1), expected);
});

it('Retry-After is seconds or a date, which is compared with the date of the answer', () => {
  const cases: [headers: Record<string, string>, expected: number | null][] = [
    [{}, null],
    [{ 'Retry-After': '0' }, 0],
    [{ 'Retry-After': ' 7 ' }, 7_000],
    [{ 'Retry-After': '1.5' }, null],
    [{ 'Retry-After': '-3' }, null],
    [{ 'Retry-After': 'soon' }, null],
    [{ 'Retry-After': '2030' }, 2_030_000],
    [{ 'Retry-After': 'Sat, 21 Nov 2026 12:00:09 GMT' }, 9_000],
    [{ 'Retry-After': 'Saturday, 21-Nov-26 12:00:09 GMT' }, 9_000],
    [{ 'Retry-After': 'Sat Nov 21 12:00:09 2026' }, null],
    [{ 'Retry-After': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 0],
    [{ 'Retry-After': 'Sat, 21 Nov 2026 12:00:09 GMT', Date: 'Sat, 21 Nov 2026 12:00:05 GMT' }, 4_000],
    [{ 'Retry-After': 'Sat, 21 Nov 2026 12:00:09 GMT', Date: 'whenever' }, 9_000],
  ];
  for (const [headers, expected] of cases) {
    assert.equal(readRetryAfter(new Headers(headers), NOW), expected, JSON.stringify(headers));
  }
});

it('a wait ends after its time, and with an abort before or during it', async () => {
  const clock = new TestClock();
  const reason = new Error('enough');
  await assert.rejects(wait(clock, 500, AbortSignal.abort(reason)), reason);
  const controller = new AbortController();
  const waiting = wait(clock, 500, controller.signal);
  controller.abort(reason);
  await assert.rejects(waiting, reason);
  assert.equal(clock.timers, 0);

  let isOver = false;
  const whole = wait(clock, 500, new AbortController().signal).then(() => {
    isOver = true;
  });
  await clock.advance(499);
  assert.equal(isOver, false);
  await clock.advance(1);
  await whole;
});
