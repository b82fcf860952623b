/** Finds batches by the time of their registration. Reads `batches`; a statement names one partition. */
import type { Session } from '../../../ground/postgres/database.ts';
import { partitionsDown } from './partition-runs.ts';

/** Numbers of batches and their times go up together but for a few seconds: a walk from a time on begins earlier. */
export const EARLIER_MS = 60_000;

const FIRST = `
  SELECT b.id::float8, b.created_at < $3 AS "isBefore" FROM batches b WHERE b.id >= $1 AND b.id < $2 ORDER BY b.id LIMIT 1`;

/** The number of about the first batch at a time: the numbers go up with the times, but for a few seconds. */
export async function firstBatchAt(session: Session, at: Date): Promise<number> {
  const first = async (from: number, before: number) =>
    (await session.query<{ id: number; isBefore: boolean }>(FIRST, [from, before, at])).rows[0];
  for await (const partition of partitionsDown(session)) {
    const [start, before] = [Number(partition.from), Number(partition.before)];
    const found = await first(start, before);
    if (found === undefined || (!found.isBefore && start > 0)) continue;
    let [low, high] = [start, before];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const next = await first(middle, before);
      if (next?.isBefore) low = next.id + 1;
      else high = middle;
    }
    return low;
  }
  return 0;
}
