/** The ids of requests, as `X-Request-Id` has them. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../ground/base/clock.ts';

/** The numbers of one millisecond: 12 bits. */
const NUMBERS = 4_096;

/**
 * Makes UUIDs of version 7 (RFC 9562, 6.2, method 1): milliseconds, a number within the millisecond, 62 random bits.
 * Those of a process are in order, also where its clock steps back. The library `uuid` takes several microseconds for
 * one, and each request takes one.
 */
export function requestIds(clock: Pick<Clock, 'nowMs'>): () => string {
  let lastMs = 0;
  let number = 0;
  return () => {
    const nowMs = clock.nowMs();
    number += 1;
    if (nowMs > lastMs || number === NUMBERS) {
      lastMs = Math.max(nowMs, lastMs + 1);
      number = 0;
    }
    const time = lastMs.toString(16).padStart(12, '0');
    const counted = number.toString(16).padStart(3, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counted}${randomUUID().slice(18)}`;
  };
}
