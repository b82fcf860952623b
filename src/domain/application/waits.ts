/**
 * How long an application takes from one step of the business to the next, in buckets whose median is known to a tenth.
 * Pure.
 */

/** The steps in the order of the business's way; each takes the time since the one that is named beside it. */
export const STEPS = [
  /** An operator decided, since the registration. */
  'review',
  /** The conversation began, since the approval. */
  'start',
  /** There are no more documents, since the conversation began. */
  'documents',
  /** The first offer was shown, since the conversation began. */
  'offer',
  /** The contract was signed, since the first offer. */
  'sign',
  /** The loan was paid out, since the signature. */
  'pay',
] as const;
export type Step = (typeof STEPS)[number];

/** The times of a bucket are up to this much longer than those of the bucket before. */
const WIDTH = 2 ** 0.25;
/** Some 34 years. */
const LAST = 120;

/** The bucket of a time: 0 up to a second. A clock that stepped back makes no time below 0. */
export function bucketOf(ms: number): number {
  if (ms <= 1_000) return 0;
  return Math.min(Math.ceil(Math.log(ms / 1_000) / Math.log(WIDTH)), LAST);
}

/** The seconds in the middle of a bucket, which no time of it misses by more than a tenth. */
export function secondsOf(bucket: number): number {
  return bucket === 0 ? 1 : Math.max(Math.round(WIDTH ** (bucket - 0.5)), 1);
}
