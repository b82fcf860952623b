import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { ServiceRate } from '../../src/wire/gate/admission.ts';

it('D37: after five seconds of even service the rate is that of these seconds', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000_000 }),
      fc.integer({ min: 100, max: 100_000 }),
      fc.integer({ min: 1, max: 200 }),
      (guess, perSecond, ms) => {
        const rate = new ServiceRate(guess);
        for (let gone = 0; gone < 15_000; gone += ms) rate.add(ms, (perSecond * ms) / 1000);
        assert.ok(Math.abs(rate.perSecond / perSecond - 1) < 0.15, `${rate.perSecond} for ${perSecond}`);
      },
    ),
  );
});

it('D37: the rate falls during a stall, and recovers a second after it', () => {
  const rate = new ServiceRate(20_000);
  for (let gone = 0; gone < 3_000; gone += 200) rate.add(200, 0);
  assert.ok(rate.perSecond < 1_500);
  for (let gone = 0; gone < 1_000; gone += 20) rate.add(20, 400);
  assert.ok(rate.perSecond > 10_000);
});
