/** The tables of the connection. */
import type { Table } from './table.ts';

export const TABLES: readonly Table[] = [{ name: 'elapsed', person: { not: 'one row of the store' } }];
