/** The tables of the secrets. */
import type { Table } from '../ground/postgres/table.ts';

export const TABLES: readonly Table[] = [
  { name: 'secret_checks', person: { not: 'fingerprints of secrets' } },
];
