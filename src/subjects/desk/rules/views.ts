/** What a page of a view is asked for (docs/operators.md, "Views"). Pure. */
import type { View, ViewOrder } from '../../../domain/application/views.ts';
import type { QueuePlace } from './queue.ts';

/** The filters, in the names of the query. An absent one does not narrow the view. */
export interface ViewFilter {
  readonly partner?: number;
  /** The partner's, as a code of two letters. */
  readonly country?: string;
  readonly currency?: string;
  /** From this day on and up to this day, in UTC, by the time that the view is ordered by. */
  readonly from?: string;
  readonly to?: string;
}

/** What a page is asked for. */
export interface ViewAsked {
  readonly filter: ViewFilter;
  readonly order: ViewOrder;
  /** The place after which the page begins; null: from the beginning. */
  readonly after: QueuePlace | null;
  readonly limit: number;
}

/** A view as an operator saves it, in the names of the query. */
export interface SavedQuery extends ViewFilter {
  readonly view: View;
  readonly order?: ViewOrder;
}

/** A saved view. */
export interface SavedView {
  readonly id: number;
  readonly name: string;
  readonly query: SavedQuery;
}

/** The most rows of one answer with rows of a file. */
export const ROWS_AT_ONCE = 500;
