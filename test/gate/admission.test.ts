import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type PartnerId, toPartnerId } from '../../src/domain/partner/credential.ts';
import { OverloadError } from '../../src/ground/base/registration-failure.ts';
import { Admission, costOf, type Leave, LONGEST_WAIT_MS } from '../../src/wire/gate/admission.ts';
import { TestClock } from '../support/test-clock.ts';

const [FIRST, SECOND, THIRD] = [toPartnerId(1), toPartnerId(2), toPartnerId(3)];
const LIMIT = 800;
const BATCH = costOf(100 * 256);
const FAR = Number.POSITIVE_INFINITY;
/** How often waiting requests are judged, and after what time refusals are reported. */
const JUDGE_MS = 200;
const TELL_AFTER_MS = 5_000;

/** Another request uses the whole limit; `release` gives it back. */
async function full(): Promise<{ admission: Admission; release: Leave; clock: TestClock }> {
  const clock = new TestClock();
  const admission = new Admission({ limit: LIMIT, clock, tell: () => {} });
  const release = await admission.enter(THIRD, LIMIT, FAR);
  return { admission, release, clock };
}

/** Enters and leaves at once, and notes the order of admissions. */
function pass(admission: Admission, partnerId: PartnerId, turns: PartnerId[], cost = BATCH): Promise<void> {
  return admission.enter(partnerId, cost, FAR).then((leave) => {
    turns.push(partnerId);
    leave();
  });
}

describe('D37: partners take turns, and overload is refused', () => {
  it('below the limit no request waits', async () => {
    const admission = new Admission({ limit: LIMIT, clock: new TestClock(), tell: () => {} });
    const entered: number[] = [];
    const all = Array.from({ length: 8 }, () =>
      admission.enter(FIRST, 100, FAR).then(() => void entered.push(1)),
    );
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(entered.length, 8);
    await Promise.all(all);
  });

  it('a batch of one partner goes before the backlog of another, which is served too', async () => {
    const { admission, release } = await full();
    const turns: PartnerId[] = [];
    const flood = Array.from({ length: 100 }, () => pass(admission, FIRST, turns));
    const quiet = pass(admission, SECOND, turns);
    await new Promise((resolve) => setImmediate(resolve));
    release();
    await Promise.all([...flood, quiet]);
    assert.equal(turns.length, 101);
    assert.ok(turns.indexOf(SECOND) <= 1, `after ${turns.indexOf(SECOND)}`);
  });

  it('the work under way is never more than the limit and one more request', async () => {
    const { admission, release, clock } = await full();
    let atWork = 0;
    let most = 0;
    const all = Array.from({ length: 60 }, async () => {
      const leave = await admission.enter(FIRST, BATCH, FAR);
      atWork += BATCH;
      most = Math.max(most, atWork);
      await clock.sleep(20);
      atWork -= BATCH;
      leave();
    });
    release();
    await clock.advance(60 * 20);
    await Promise.all(all);
    assert.ok(most > 2 * BATCH && most < LIMIT + BATCH, String(most));
  });

  it('a backlog that would take too long is refused with a Retry-After; batches of other partners are not', async () => {
    const { admission, release, clock } = await full();
    const turns: PartnerId[] = [];
    const refused: OverloadError[] = [];
    // More than can be done in time at the rate that is assumed before a measurement.
    const flood = Array.from({ length: 1_000 }, () =>
      pass(admission, FIRST, turns).catch((error) => void refused.push(error)),
    );
    let refusing = 0;
    const note = () => {
      refusing += 1;
    };
    const refusal = assert.rejects(admission.check(FIRST, BATCH, note), OverloadError);
    assert.equal(refusing, 1);
    let isRefused = false;
    void refusal.then(() => {
      isRefused = true;
    });
    await clock.advance(499);
    assert.equal(isRefused, false);
    await clock.advance(1);
    await refusal;
    await admission.check(SECOND, BATCH, note);
    assert.equal(refusing, 1);
    const quiet = pass(admission, SECOND, turns);
    await new Promise((resolve) => setImmediate(resolve));
    release();
    await Promise.all([...flood, quiet]);
    assert.equal(turns.length + refused.length, 1_001);
    assert.ok(turns.indexOf(SECOND) <= 1, `after ${turns.indexOf(SECOND)}`);
    assert.ok(refused.length > 0);
    for (const error of refused) {
      assert.ok(error instanceof OverloadError);
      assert.ok(Number.isInteger(error.retryAfterSeconds));
      assert.ok(error.retryAfterSeconds >= 1 && error.retryAfterSeconds <= 30);
    }
  });

  it('requests that make no progress are refused in time, newest first, and reported; then all is as before', async () => {
    const clock = new TestClock();
    const told: ReadonlyMap<number, number>[] = [];
    const admission = new Admission({ limit: LIMIT, clock, tell: (refused) => told.push(refused) });
    const release = await admission.enter(THIRD, LIMIT, FAR);
    const refusedAt: { serial: number; ms: number }[] = [];
    const startMs = clock.monotonicMs();
    for (let serial = 0; serial < 100; serial += 1) {
      admission.enter(FIRST, BATCH, FAR).then(
        () => assert.fail('nothing is served'),
        (error) => {
          assert.ok(error instanceof OverloadError);
          refusedAt.push({ serial, ms: clock.monotonicMs() - startMs });
        },
      );
    }
    await clock.advance(LONGEST_WAIT_MS);
    assert.ok(refusedAt.length < 100, 'those whose turn may be near wait');
    assert.deepEqual(
      refusedAt.map(({ serial }) => serial),
      refusedAt.map((_, index) => 99 - index),
    );
    await clock.advance(JUDGE_MS);
    assert.equal(refusedAt.length, 100);
    // The first judgement after the longest wait.
    assert.equal(refusedAt.at(-1)?.ms, 3_600);
    const firstAtMs = refusedAt[0]!.ms;
    await clock.advance(firstAtMs + TELL_AFTER_MS - 1 - (clock.monotonicMs() - startMs));
    assert.deepEqual(told, []);
    await clock.advance(1);
    assert.deepEqual(told, [new Map([[FIRST, 100]])]);
    release();
    const turns: PartnerId[] = [];
    await Promise.all(Array.from({ length: 10 }, () => pass(admission, FIRST, turns)));
    assert.equal(turns.length, 10);
  });

  it('no request waits beyond its own deadline', async () => {
    const { admission, clock } = await full();
    let isRefused = false;
    const waiting = assert.rejects(admission.enter(FIRST, BATCH, clock.monotonicMs() + 400), OverloadError);
    void waiting.then(() => {
      isRefused = true;
    });
    await clock.advance(400);
    assert.equal(isRefused, false);
    await clock.advance(JUDGE_MS);
    await waiting;
  });
});
