/**
 * Limits the time of work that only reads or that may be done twice, because the client can ask again (D37). Touches
 * its clock alone.
 */
import type { Clock } from '../../ground/base/clock.ts';
import { UnavailableError } from '../../ground/base/registration-failure.ts';

/**
 * Resolves to the result of `work`. Throws `UnavailableError` at `deadline`, on `Clock.monotonicMs`. The
 * work itself goes on.
 */
export function inTime<T>(clock: Clock, deadline: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(Math.max(deadline - clock.monotonicMs(), 0), () =>
      reject(new UnavailableError('it took too long')),
    );
    work.then(
      (result) => {
        timer.cancel();
        resolve(result);
      },
      (error) => {
        timer.cancel();
        reject(error);
      },
    );
  });
}
