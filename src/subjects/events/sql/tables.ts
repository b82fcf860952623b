/** The tables that the events write. `ground/postgres/table.ts` says what is declared. */
import type { Table } from '../../../ground/postgres/table.ts';

export const TABLES: readonly Table[] = [
  { name: 'partner_events', person: 'application' },
  { name: 'partner_event_totals', person: { not: 'numbers by partner' } },
];
