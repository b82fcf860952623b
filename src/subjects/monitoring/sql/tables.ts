/** The tables that monitoring writes. `ground/postgres/table.ts` says what is declared. */
import type { Table } from '../../../ground/postgres/table.ts';

export const TABLES: readonly Table[] = [
  { name: 'upkeep_jobs', person: { not: 'names of jobs' } },
  { name: 'message_count_hours', person: { not: 'numbers by status and hour' } },
];
