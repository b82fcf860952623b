/**
 * Reads the lead's view: how much is decided, what waits, who decides against the score, and second looks
 * (docs/operators.md, "The lead's view and second looks"). Reads counts, and writes nothing.
 */
import type { Database } from '../../../ground/postgres/database.ts';
import { type Backlog, readBacklog } from '../sql/backlog.ts';
import {
  type CountedLooks,
  countLooks,
  type DecidedBy,
  type DecidedHour,
  decidedBy,
  decidedHours,
} from '../sql/lead.ts';

/** The upper bounds of the backlog's ages, in hours. */
export const AGES = [4, 24, 72, 168] as const;

/** The lead's view. Counts are about decisions of the desk that were applied within the last `days`. */
export interface ShownLead {
  readonly days: number;
  readonly hours: readonly DecidedHour[];
  readonly backlog: Backlog;
  readonly by: readonly DecidedBy[];
  readonly looks: CountedLooks;
}

/** What happened within the last `days` (1 to 90), and what waits now, for this admin. */
export async function readLead(database: Database, days: number, adminId: number): Promise<ShownLead> {
  const [hours, by, backlog, looks] = await Promise.all([
    decidedHours(database, days),
    decidedBy(database, days),
    readBacklog(database, AGES),
    countLooks(database, days, adminId),
  ]);
  return { days, hours, by, backlog, looks };
}
