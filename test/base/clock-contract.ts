/** What every clock does, for tests of each of them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Clock } from '../../src/ground/base/clock.ts';
import { untilDone } from '../support/until-done.ts';

const passUntil = (pass: (ms: number) => Promise<void>, isMet: () => boolean) =>
  untilDone(async () => {
    await pass(1);
    return isMet();
  });

/** `make` gives a clock, and what lets its time pass. */
export function isAClock(
  what: string,
  make: () => { clock: Clock; pass: (ms: number) => Promise<void> },
): void {
  describe(what, () => {
    it('rings once, again and again, or not at all', async () => {
      const { clock, pass } = make();
      const rung: string[] = [];
      clock.after(1, () => rung.push('once'));
      clock.after(1, () => rung.push('cancelled')).cancel();
      const again = clock.every(1, () => {
        rung.push('again');
        if (rung.filter((one) => one === 'again').length === 2) again.cancel();
      });
      await passUntil(pass, () => rung.length >= 3);
      await pass(3);
      assert.deepEqual(rung.toSorted(), ['again', 'again', 'once']);
      again.cancel();
    });

    it('sleeps until the signal aborts', async () => {
      const { clock } = make();
      const stop = new AbortController();
      const slept = clock.sleep(3_600_000, { signal: stop.signal });
      stop.abort(new Error('enough'));
      const isAbort = (error: unknown) => {
        const { name, code, cause } = error as Error & { code: string };
        return name === 'AbortError' && code === 'ABORT_ERR' && (cause as Error).message === 'enough';
      };
      await assert.rejects(slept, isAbort);
      await assert.rejects(clock.sleep(1, { signal: stop.signal }), isAbort);
    });

    it('aborts a signal after its time, with a TimeoutError', async () => {
      const { clock, pass } = make();
      const signal = clock.timeout(1);
      await passUntil(pass, () => signal.aborted);
      assert.equal(signal.reason.name, 'TimeoutError');
    });

    it('counts on', async () => {
      const { clock, pass } = make();
      const [nowMs, monotonicMs] = [clock.nowMs(), clock.monotonicMs()];
      await pass(2);
      assert.ok(clock.monotonicMs() - monotonicMs >= 2);
      assert.ok(clock.nowMs() > nowMs);
    });
  });
}
