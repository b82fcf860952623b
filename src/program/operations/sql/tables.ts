/**
 * The tables that this room writes, with the record of operators' acts. `ground/postgres/table.ts` says what is
 * declared.
 */
import type { Table } from '../../../ground/postgres/table.ts';

export const TABLES: readonly Table[] = [
  { name: 'operator_events', person: 'application' },
  { name: 'operator_events_head', person: { not: 'one row of the store' } },
];
