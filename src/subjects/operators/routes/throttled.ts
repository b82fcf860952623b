/** The answer to somebody who has tried too often. */
import { counted } from '../../../ground/base/counted.ts';

export function throttled(retryAfterSeconds: number) {
  const error = `too many tries: wait ${counted(retryAfterSeconds, 'second')}`;
  return { status: 429, body: { error }, retryAfterSeconds };
}
