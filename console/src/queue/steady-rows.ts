/** Rows that keep their places while the keyboard stands among them. */
import type { QueueItemReply } from '../../../src/desk/routes/queue-forms.ts';

export interface SteadyRow {
  readonly item: QueueItemReply;
  /** It is no longer on this page of the queue. */
  readonly isGone: boolean;
}

export interface SteadyRows {
  readonly rows: readonly SteadyRow[];
  /** Whether the page has other rows by now, or another order. */
  readonly isBehind: boolean;
}

/** `held` are the rows whose places stay; null: nothing holds them. What is known of each one is always the newest. */
export function steadyRows(
  held: readonly QueueItemReply[] | null,
  fresh: readonly QueueItemReply[],
): SteadyRows {
  if (held === null) return { rows: fresh.map((item) => ({ item, isGone: false })), isBehind: false };
  const byId = new Map(fresh.map((item) => [item.id, item]));
  const rows = held.map((item) => ({ item: byId.get(item.id) ?? item, isGone: !byId.has(item.id) }));
  const isBehind = held.length !== fresh.length || held.some(({ id }, index) => fresh[index]!.id !== id);
  return { rows, isBehind };
}
