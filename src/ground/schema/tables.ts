/** The tables that this room writes. `ground/postgres/table.ts` says what is declared. */
import type { Table } from '../postgres/table.ts';

export const TABLES: readonly Table[] = [
  { name: 'schema_migrations', person: { not: 'names of migrations' } },
  { name: 'schema_functions', person: { not: 'names of functions' } },
  { name: 'runtime_privileges', person: { not: 'names of tables' } },
];
