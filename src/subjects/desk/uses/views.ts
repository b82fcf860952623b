/**
 * Pages of the views beside the review queue (docs/operators.md, "Views"). A view gives ids in its order; filters by
 * what an application has are applied to the applications as they are read. Reads only.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { ReviewAction } from '../../../domain/application/lifecycle.ts';
import type { View } from '../../../domain/application/views.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { applicationsDown, type ListedApplication, readListed } from '../../applications/sql/desk/listed.ts';
import type { QueuePlace } from '../rules/queue.ts';
import type { ViewAsked, ViewFilter } from '../rules/views.ts';
import { countView, proposedActs, readViewPage, type ViewPlace } from '../sql/views.ts';

export interface ViewRow extends ListedApplication {
  /** The time that the view is ordered by. */
  readonly at: Date;
  /** What an operator has proposed; null: nothing is open. */
  readonly proposed: ReviewAction | null;
}

export interface ViewPage {
  readonly applications: readonly ViewRow[];
  /** Where the next page goes on; null: this is the last one. */
  readonly next: QueuePlace | null;
  /** `MOST_COUNTED` stands for that number and more; null: it is not counted. */
  readonly count: number | null;
}

/** The ids that one look reads where a filter may leave most of them out, and the most looks of a page. */
const LOOK = 500;
const MOST_LOOKS = 3;

/**
 * A page. Where a filter leaves most out, it may be short, or empty, and still have a `next`: a request looks at 1,500
 * applications at most.
 */
export async function showView(database: Database, view: View, asked: ViewAsked): Promise<ViewPage> {
  const [page, count] = await Promise.all([
    showRows(database, view, asked),
    countOf(database, view, asked.filter),
  ]);
  return { ...page, count };
}

/** The rows of a page, and where the next one goes on, without a count. */
export async function showRows(
  database: Database,
  view: View,
  asked: ViewAsked,
): Promise<Omit<ViewPage, 'count'>> {
  const { rows, next } = await readRows(database, view, asked);
  const acts = await proposedActs(
    database,
    rows.map(({ id }) => id),
  );
  return { applications: rows.map((row) => ({ ...row, proposed: acts.get(row.id) ?? null })), next };
}

async function readRows(database: Database, view: View, { filter, order, after, limit }: ViewAsked) {
  const fits = { ...filter, isUnsigned: view === 'waiting_signature' };
  const isNarrowed = fits.isUnsigned || areCompared(filter);
  const look = isNarrowed ? Math.max(LOOK, limit + 1) : limit + 1;
  const found: (Omit<ViewRow, 'proposed'> & ViewPlace)[] = [];
  let place = after;
  for (let looks = 0; looks < MOST_LOOKS && found.length <= limit; looks += 1) {
    const places = await placesAfter(database, view, { filter, order, after: place, limit: look });
    const listed = await readListed(
      database,
      places.map(({ id }) => id),
      fits,
    );
    found.push(...places.flatMap((one) => (listed.has(one.id) ? [{ ...listed.get(one.id)!, ...one }] : [])));
    place = places.length < look ? null : places.at(-1)!;
    if (place === null) break;
  }
  return { rows: found.slice(0, limit), next: found.length > limit ? found[limit - 1]! : place };
}

async function placesAfter(
  database: Database,
  view: View,
  { filter, ...asked }: ViewAsked,
): Promise<ViewPlace[]> {
  if (view !== 'waiting_signature') return readViewPage(database, view, filter, asked);
  const before = (asked.after?.id ?? null) as ApplicationId | null;
  return (await applicationsDown(database, filter, before, asked.limit)).map((one) => ({
    ...one,
    key: null,
  }));
}

async function countOf(database: Database, view: View, filter: ViewFilter): Promise<number | null> {
  if (view === 'waiting_signature' || areCompared(filter)) return null;
  return countView(database, view, filter);
}

/** Whether an application has to be read to know whether it fits: no index of a view has these. */
function areCompared({ partner, country, currency }: ViewFilter): boolean {
  return partner !== undefined || country !== undefined || currency !== undefined;
}
