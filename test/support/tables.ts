/** What the rooms of the program declare of their tables. */
import { join } from 'node:path';
import { foldStatement } from '../../src/ground/postgres/fold.ts';
import { forgetStatement } from '../../src/ground/postgres/forget.ts';
import { isDeclared, type Table } from '../../src/ground/postgres/table.ts';
import { replaceStatement } from '../../src/seal/reindex.ts';
import { sealedStatements } from '../../src/seal/sealed-rows.ts';
import { REPOSITORY, readSources } from './sources.ts';

export interface Declared {
  /** The folder, without its storey: `partners/sql`. */
  readonly room: string;
  readonly table: Table;
}

/** All tables, by the files `tables.ts`. */
export async function declaredTables(): Promise<Declared[]> {
  const files = readSources('src').filter(({ path }) => path.endsWith('/tables.ts'));
  const rooms = await Promise.all(
    files.map(async ({ path }) => {
      const { TABLES }: { TABLES: readonly Table[] } = await import(join(REPOSITORY, 'src', path));
      const room = path.replace(/^(?:ground|program|subjects)\//, '').replace(/\/tables\.ts$/, '');
      return TABLES.map((table) => ({ room, table }));
    }),
  );
  return rooms.flat();
}

/** The statements that the engines make of what a table declares. */
export function declaredStatements(table: Table): string[] {
  return [
    ...(isDeclared(table, 'kept') ? [forgetStatement(table)] : []),
    ...(isDeclared(table, 'fold') ? [foldStatement(table)] : []),
    ...(isDeclared(table, 'sealed') ? Object.values(sealedStatements(table)) : []),
    ...(table.indexes ?? []).map(({ column }) => replaceStatement(table.name, column)),
  ];
}
