/** Behind which numbers of the business a list of applications stands, and where such a list goes on. Pure. */
import type { CountName } from './tally.ts';

/** What was decided at the registration: the list comes from the batches of the days. */
const OF_BATCHES = ['registered', 'approved', 'in_review', 'rejected'] as const;
/** What happened later: the list comes from the events of partners, which are kept for 30 days (D41). */
const OF_EVENTS = [
  'review_approved',
  'review_rejected',
  'overridden',
  'started',
  'documents',
  'signed',
  'withdrawn',
  'disbursed',
] as const;

/**
 * The numbers that have a list. Of what was refused nothing is stored, and nothing finds an offer by the day on which
 * it was shown.
 */
export const LISTED = [...OF_BATCHES, ...OF_EVENTS] as const satisfies readonly CountName[];
export type Listed = (typeof LISTED)[number];
export type OfEvents = (typeof OF_EVENTS)[number];

export function isOfEvents(number: Listed): number is OfEvents {
  return (OF_EVENTS as readonly string[]).includes(number);
}

/**
 * After which row a list goes on. Lists of events go by partner, and within a partner by the number of the event; the
 * others have partner 0, and go by the application.
 */
export interface BehindPlace {
  readonly partner: number;
  readonly before: number;
}

export function cursorOfPlace({ partner, before }: BehindPlace): string {
  return `${partner}.${before}`;
}

/** The place that a cursor of such a list tells; null: it is none. */
export function behindPlaceOf(number: Listed, cursor: string): BehindPlace | null {
  const [, partner, before] = /^(0|[1-9]\d{0,9})\.([1-9]\d{0,14})$/.exec(cursor) ?? [];
  if (partner === undefined || (partner !== '0') !== isOfEvents(number)) return null;
  return { partner: Number(partner), before: Number(before) };
}
