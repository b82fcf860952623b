/**
 * The answer to somebody who has tried too often: 429 with the seconds to wait. Pure. `uses/throttle.ts` has the
 * limits.
 */
import { counted } from '../../../ground/base/counted.ts';

export function throttled(retryAfterSeconds: number) {
  const error = `too many tries: wait ${counted(retryAfterSeconds, 'second')}`;
  return { status: 429, body: { error }, retryAfterSeconds };
}
