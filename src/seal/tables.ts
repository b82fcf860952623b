/** The table that this room writes. `ground/postgres/table.ts` says what is declared. */
import type { Table } from '../ground/postgres/table.ts';

export const TABLES: readonly Table[] = [
  { name: 'secret_checks', person: { not: 'fingerprints of secrets' } },
];
