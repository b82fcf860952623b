/** What a page of a view is asked for (docs/operators.md, "Views"). Pure. */
import type { QueuePlace } from './queue.ts';

/** The filters, in the names of the query. An absent one does not narrow the view. */
export interface ViewFilter {
  readonly partner?: number;
  readonly currency?: string;
  /** From this day on and up to this day, in UTC, by the time that the view is ordered by. */
  readonly from?: string;
  readonly to?: string;
}

/** What a page is asked for. */
export interface ViewAsked {
  readonly filter: ViewFilter;
  /** The place after which the page begins; null: from the beginning. */
  readonly after: QueuePlace | null;
  readonly limit: number;
}
