/** The answer to somebody who has tried too often. */

export function throttled(retryAfterSeconds: number) {
  const error = `too many tries: wait ${retryAfterSeconds} seconds`;
  return { status: 429, body: { error }, retryAfterSeconds };
}
