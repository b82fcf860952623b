/** The tables of the replacement of keys: `reseals` and `reindexes`. */
import type { Table } from '../../../ground/postgres/table.ts';

export const TABLES: readonly Table[] = [
  { name: 'reseals', person: { not: 'one row of the store' } },
  { name: 'reindexes', person: { not: 'one row of the store' } },
];
