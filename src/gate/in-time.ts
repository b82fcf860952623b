/** A time limit for work that only reads or that may be done twice, because the client can ask again. */
import { UnavailableError } from '../base/registration-failure.ts';

/**
 * Resolves to the result of `work`. Throws `UnavailableError` at `deadline`, on the clock of `performance.now()`. The
 * work itself goes on.
 */
export function inTime<T>(deadline: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new UnavailableError('it took too long')),
      Math.max(deadline - performance.now(), 0),
    );
    work.then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
