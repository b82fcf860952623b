/**
 * Pages of the views beside the review queue: ids of applications in the order of a time, which an index serves
 * (docs/operators.md, "Views"). Reads the tables of the subjects that know the time, and writes nothing.
 */
import { type ApplicationId, toApplicationId } from '../../../domain/application/ids.ts';
import type { ReviewAction } from '../../../domain/application/lifecycle.ts';
import type { View, ViewOrder } from '../../../domain/application/views.ts';
import { type Database, onlyRow } from '../../../ground/postgres/database.ts';
import { MOST_COUNTED, type QueuePlace } from '../rules/queue.ts';
import type { ViewAsked, ViewFilter } from '../rules/views.ts';

/** The views in the order of a time. The other one walks over batches (`applications/sql/desk/listed.ts`). */
export type TimedView = Exclude<View, 'waiting_signature'>;

interface Timed {
  /** What follows FROM, up to and with the condition. */
  readonly rows: string;
  /** The time of a row. */
  readonly at: string;
}

const SIGNED = "application_states v WHERE v.status = 'pending_signature' AND v.signed_at IS NOT NULL";
/** From when on a signed contract may be paid. */
const PAYABLE = 'coalesce(v.withdrawable_until, v.signed_at)';

const VIEWS: Readonly<Record<TimedView, Timed>> = {
  to_pay: { rows: `${SIGNED} AND ${PAYABLE} <= now()`, at: PAYABLE },
  signed: { rows: `${SIGNED} AND ${PAYABLE} > now()`, at: PAYABLE },
  // Since when nobody has answered the person.
  waiting_person: { rows: 'conversations v WHERE v.waits_since IS NOT NULL', at: 'v.waits_since' },
  pended: { rows: 'open_pends v WHERE true', at: 'v.at' },
  // Up to when the answer is due.
  review_asked: { rows: "cases v WHERE v.outcome IS NULL AND v.kind = 'reconsideration'", at: 'v.due_at' },
  decided: {
    rows: "application_events v WHERE v.from_status = 'in_review' AND v.to_status <> 'in_review'",
    at: 'v.at',
  },
};

/** $1 and $2: from this day on and up to this day; NULL: any. */
const WITHIN = (at: string) => `
  ($1::date IS NULL OR ${at} >= $1::date::timestamp AT TIME ZONE 'UTC')
  AND ($2::date IS NULL OR ${at} < ($2::date + 1)::timestamp AT TIME ZONE 'UTC')`;

/** $3 and $4: the time, in microseconds since 1970, and the id after which the page begins; $5: the most rows. */
const page = ({ rows, at }: Timed, order: ViewOrder) => {
  const [direction, after] = order === 'newest' ? ['DESC', '<'] : ['ASC', '>'];
  return `
    SELECT v.application_id::float8 AS id, ${at} AS at, (extract(epoch FROM ${at}) * 1000000)::float8 AS key
    FROM ${rows} AND ${WITHIN(at)} AND ($4::bigint IS NULL
      OR (${at}, v.application_id) ${after} ('epoch'::timestamptz + $3::bigint * interval '1 microsecond', $4::bigint))
    ORDER BY ${at} ${direction}, v.application_id ${direction} LIMIT $5`;
};
const count = ({ rows, at }: Timed) => `
  SELECT count(*)::integer AS count FROM (SELECT FROM ${rows} AND ${WITHIN(at)} LIMIT ${MOST_COUNTED}) AS c`;

/** A row of a view before its application is read. */
export interface ViewPlace extends QueuePlace {
  readonly id: ApplicationId;
  /** The time that the view is ordered by. */
  readonly at: Date;
}

/** The first `limit` rows after a place; null: from the beginning. The filters of applications are not applied. */
export async function readViewPage(
  database: Database,
  view: TimedView,
  { from, to }: ViewFilter,
  { order, after, limit }: Omit<ViewAsked, 'filter'>,
): Promise<ViewPlace[]> {
  const values = [from, to, after?.key, after?.id, limit];
  const { rows } = await database.query<ViewPlace>(page(VIEWS[view], order), values);
  return rows.map((row) => ({ ...row, id: toApplicationId(`${row.id}`) }));
}

/** How many there are within the days; `MOST_COUNTED` stands for that number and more. */
export async function countView(
  database: Database,
  view: TimedView,
  { from, to }: ViewFilter,
): Promise<number> {
  return onlyRow((await database.query<{ count: number }>(count(VIEWS[view]), [from, to])).rows).count;
}

const ACTS = `
  SELECT o.application_id::float8 AS id, p.act FROM open_proposals o JOIN proposals p ON p.id = o.proposal_id
  WHERE o.application_id = ANY ($1::bigint[])`;

/** The acts that are proposed on these applications; one without an open proposal is absent. */
export async function proposedActs(
  database: Database,
  ids: readonly ApplicationId[],
): Promise<ReadonlyMap<ApplicationId, ReviewAction>> {
  const { rows } = await database.query<{ id: number; act: ReviewAction }>(ACTS, [ids]);
  return new Map(rows.map(({ id, act }) => [toApplicationId(id), act]));
}
