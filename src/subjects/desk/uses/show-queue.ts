/**
 * Reads the review queue a page at a time, and for the rows of the page what the loans take of the incomes and which
 * documents have arrived (docs/operators.md, "The review queue"). Writes nothing, and shows nothing personal.
 */
import { type DocumentCounts, documentCountsOf } from '../../documents/sql/documents.ts';
import type { KeptInstallments } from '../../signing/uses/installments.ts';
import type { Capacity } from '../rules/capacity.ts';
import type { QueueFilter, QueueOrder, QueuePlace } from '../rules/queue.ts';
import { readPartnerNames } from '../sql/names.ts';
import { countItems, readPage, type StoredItem } from '../sql/queue.ts';
import { capacitiesOf } from './capacities.ts';
import { NO_DOCUMENTS } from './decided-facts.ts';
import type { ShowingDesk } from './desk-context.ts';

export { readPartnerNames };

/** An item with what is read for its row alone. */
export interface ShownItem extends StoredItem {
  /** null: the application is deleted. */
  readonly capacity: Capacity | null;
  readonly documents: DocumentCounts;
}

/** A page of the queue. */
export interface QueuePage {
  readonly items: readonly ShownItem[];
  /** Where the next page goes on; null: this is the last one. */
  readonly next: QueuePlace | null;
  /** How many fit the filter; `MOST_COUNTED` stands for that number and more. */
  readonly count: number;
}

interface Asked {
  readonly filter: QueueFilter;
  readonly order: QueueOrder;
  /** null: from the beginning. */
  readonly after: QueuePlace | null;
  readonly limit: number;
}

/** A page of what the operator asked for. An item whose place changes meanwhile may be missing, or come twice. */
export async function showQueue(
  { database, vault, terms, kept }: ShowingDesk & { readonly kept: KeptInstallments },
  { filter, order, after, limit }: Asked,
  operatorId: number,
): Promise<QueuePage> {
  const [found, count] = await Promise.all([
    readPage(database, filter, { order, after, limit: limit + 1 }, operatorId),
    countItems(database, filter, operatorId),
  ]);
  const items = found.slice(0, limit);
  const ids = items.map(({ id }) => id);
  const [capacities, documents] = await Promise.all([
    capacitiesOf(database, vault, await terms(), ids, { kept }),
    documentCountsOf(database, ids),
  ]);
  const shown = items.map((item) => ({
    ...item,
    capacity: capacities.get(item.id) ?? null,
    documents: documents.get(item.id) ?? NO_DOCUMENTS,
  }));
  return { items: shown, next: found.length > limit ? (items.at(-1) ?? null) : null, count };
}
