/** Behind which numbers of the business a list of applications stands, and where such a list goes on. Pure. */
import type { CountName } from './tally.ts';

/**
 * The numbers that have a list, and what it comes from: the batches of the days, for what was decided at the
 * registration; the events of partners, which are kept for 30 days (D41); the evidence of offers. Of what was refused
 * nothing is stored.
 */
const SOURCES = {
  registered: 'batches',
  approved: 'batches',
  in_review: 'batches',
  rejected: 'batches',
  review_approved: 'events',
  review_rejected: 'events',
  overridden: 'events',
  started: 'events',
  documents: 'events',
  offered: 'evidence',
  signed: 'events',
  withdrawn: 'events',
  disbursed: 'events',
} as const satisfies Partial<Record<CountName, string>>;

export type Listed = keyof typeof SOURCES;
export const LISTED = Object.keys(SOURCES) as readonly Listed[];
export type OfEvents = {
  [Name in Listed]: (typeof SOURCES)[Name] extends 'events' ? Name : never;
}[Listed];

export function isOfEvents(number: Listed): number is OfEvents {
  return SOURCES[number] === 'events';
}

/**
 * After which row a list goes on. `part` is 0 in lists of batches, which go by application; the partner in lists of
 * events, which go by partner and number; the time in microseconds since 1970 in those of evidence, which go by time
 * and application.
 */
export interface BehindPlace {
  readonly part: number;
  readonly before: number;
}

export function cursorOfPlace({ part, before }: BehindPlace): string {
  return `${part}.${before}`;
}

const MOST_PARTNER = 2_147_483_647;

/** The place that a cursor of such a list tells; null: it is none. */
export function behindPlaceOf(number: Listed, cursor: string): BehindPlace | null {
  const [, text, before] = /^(0|[1-9]\d{0,15})\.([1-9]\d{0,14})$/.exec(cursor) ?? [];
  if (text === undefined) return null;
  const part = Number(text);
  const source = SOURCES[number];
  const fits = source === 'batches' ? part === 0 : part > 0 && (source !== 'events' || part <= MOST_PARTNER);
  return fits ? { part, before: Number(before) } : null;
}
