/** Rows that keep their places while the keyboard stands among them. */

export interface SteadyRow<Item> {
  readonly item: Item;
  /** It is no longer on this page of the list. */
  readonly isGone: boolean;
}

export interface SteadyRows<Item> {
  readonly rows: readonly SteadyRow<Item>[];
  /** Whether the page has other rows by now, or another order. */
  readonly isBehind: boolean;
}

/** `held` are the rows whose places stay; null: nothing holds them. What is known of each one is always the newest. */
export function steadyRows<Item extends { readonly id: number }>(
  held: readonly Item[] | null,
  fresh: readonly Item[],
): SteadyRows<Item> {
  if (held === null) return { rows: fresh.map((item) => ({ item, isGone: false })), isBehind: false };
  const byId = new Map(fresh.map((item) => [item.id, item]));
  const rows = held.map((item) => ({ item: byId.get(item.id) ?? item, isGone: !byId.has(item.id) }));
  const isBehind = held.length !== fresh.length || held.some(({ id }, index) => fresh[index]!.id !== id);
  return { rows, isBehind };
}
