/** A measurement names the missed bars, and its process then ends with 1. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Bar, verdict } from '../../bench/bars.ts';

const bar = (figure: number | null, direction: Bar['direction'], bound: number): Bar => ({
  name: `${figure} ${direction} ${bound}`,
  figure,
  direction,
  bound,
});

describe('bars of a measurement', () => {
  for (const [figure, direction, bound, isGood] of [
    [0.85, 'at least', 0.85, true],
    [0.55, 'at least', 0.85, false],
    [4, 'at most', 4, true],
    [4.1, 'at most', 4, false],
    [Number.NaN, 'at least', 0, false],
    [Number.NaN, 'at most', 10, false],
  ] as const) {
    test(`${figure} is ${isGood ? '' : 'not '}good where the bar is ${direction} ${bound}`, () => {
      assert.equal(verdict([bar(figure, direction, bound)]).isGood, isGood);
    });
  }

  test('one missed bar is named, and the other bars do not make up for it', () => {
    const { text, isGood } = verdict([bar(1, 'at least', 0.5), bar(0.55, 'at least', 0.85)]);
    assert.equal(isGood, false);
    assert.match(text, /FAILED: 1 of 2 bars are missed: 0\.55 at least 0\.85$/);
  });

  test('a figure that was not measured is neither judged nor printed', () => {
    const { text, isGood } = verdict([bar(1, 'at least', 0.5), bar(null, 'at least', 0.85)]);
    assert.equal(isGood, true);
    assert.doesNotMatch(text, /null|NaN|0\.85/);
  });

  test('a run that measured nothing fails', () => {
    assert.equal(verdict([bar(null, 'at most', 1)]).isGood, false);
  });
});
