/** What is only read, or may be done twice, need not be waited for: who asks again gets it. */
import { UnavailableError } from '../domain/registration-failure.ts';

/**
 * What `work` comes to; throws `UnavailableError` where that takes longer than until `deadline`, on the clock of
 * `performance.now()`. The work itself goes on.
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
