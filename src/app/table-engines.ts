/**
 * Makes jobs of the upkeep and witnesses of keys from the tables that subjects declare (ARCHITECTURE, "Upkeep").
 * Touches no table itself: `ground/postgres` and `seal` have the engines.
 */
import { foldRows } from '../ground/postgres/fold.ts';
import { forgetRows } from '../ground/postgres/forget.ts';
import { isDeclared, type Table } from '../ground/postgres/table.ts';
import type { ServiceContext, UpkeepJob } from '../program/subject/subject.ts';
import { reindexedTable } from '../seal/reindex.ts';
import { sealedRows } from '../seal/sealed-rows.ts';
import type { Witnesses } from '../seal/witness.ts';

/** The jobs of the upkeep: folds, and then the deletion of what is old. */
export function jobsOf(tables: readonly Table[]): UpkeepJob[] {
  const folds = tables
    .filter((table) => isDeclared(table, 'fold'))
    .map((table) => ({
      name: table.fold.job,
      run: ({ database }: ServiceContext) => foldRows(database, table),
    }));
  const kept = Map.groupBy(
    tables.filter((table) => isDeclared(table, 'kept')),
    (table) => table.kept.job,
  );
  const deletions = [...kept].map(([name, some]) => ({
    name,
    seldom: true as const,
    run: async ({ database }: ServiceContext) => {
      for (const table of some) await forgetRows(database, table);
    },
  }));
  return [...folds, ...deletions];
}

/** The columns that data keys seal, and those that the index key makes. */
export function witnessesOf(tables: readonly Table[]): Pick<Witnesses, 'dataKeys' | 'reindexings'> {
  return {
    dataKeys: tables.filter((table) => isDeclared(table, 'sealed')).map(sealedRows),
    reindexings: tables.filter((table) => isDeclared(table, 'indexes')).map(reindexedTable),
  };
}
