/** The tables of the business counts: what is kept, and until when. */
import { aged, type Table } from '../../../ground/postgres/table.ts';

const KEPT = "interval '3 years'";

export const BUSINESS_DAYS = {
  name: 'business_days',
  person: { not: 'numbers by day, partner and currency' },
  kept: {
    job: 'forget business counts',
    until: `day < (now() - ${KEPT})::date AND ${aged('stored_ms', KEPT)}`,
    by: 'day',
  },
} satisfies Table;

export const TABLES: readonly Table[] = [
  BUSINESS_DAYS,
  {
    name: 'business_waits',
    person: { not: 'numbers by day, partner and step' },
    kept: {
      job: 'forget business counts',
      until: `day < (now() - ${KEPT})::date AND ${aged('stored_ms', KEPT)}`,
      by: 'day',
    },
  },
  { name: 'business_place', person: { not: 'one row of the store' } },
  { name: 'business_event_places', person: { not: 'numbers by partner' } },
  { name: 'business_totals', person: { not: 'numbers by partner' } },
  { name: 'business_offers', person: 'application' },
];
