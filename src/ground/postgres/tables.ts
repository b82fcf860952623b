/** The table that `elapsed.ts` writes. `table.ts` says what is declared. */
import type { Table } from './table.ts';

export const TABLES: readonly Table[] = [{ name: 'elapsed', person: { not: 'one row of the store' } }];
