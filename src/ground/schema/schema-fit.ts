/** Whether a version of the program works on the migrations that a database has. */
import type { Migration } from './migration-files.ts';

/** A row of the table of applied migrations. */
export type AppliedMigration = Pick<Migration, 'name' | 'checksum' | 'schema' | 'additive'>;

/** What a version finds in a database. */
export interface SchemaFit {
  /** Why this version does not work on the database, for operators; null where it does. */
  readonly fault: string | null;
  /** The migrations that the database lacks. */
  readonly pending: readonly Migration[];
  /**
   * True where processes of the version that made the tables go on working while the pending migrations are applied.
   */
  readonly isRolling: boolean;
}

/**
 * Compares a version's own migrations with the applied ones, both in order. The applied ones may end with migrations
 * that the version does not know, where all are of the next schema and additive: then a newer version has upgraded the
 * database, and this version works beside it until it is replaced.
 */
export function fitOf(known: readonly Migration[], applied: readonly AppliedMigration[]): SchemaFit {
  const faults = applied.map((migration, index) => faultOf(known, migration, index));
  const pending = known.slice(applied.length);
  const next = (applied.at(-1)?.schema ?? 0) + 1;
  return {
    fault: faults.find((fault) => fault !== null) ?? null,
    pending,
    // An empty database has no processes.
    isRolling: applied.length === 0 || pending.every(({ schema, additive }) => additive && schema === next),
  };
}

function faultOf(known: readonly Migration[], applied: AppliedMigration, index: number): string | null {
  const { name, checksum, schema, additive } = applied;
  const own = known[index];
  if (own?.name === name && own.checksum === checksum) return null;
  const next = (known.at(-1)?.schema ?? 0) + 1;
  if (own === undefined && additive && schema === next) return null;
  if (own === undefined && schema >= next) {
    const what =
      schema > next
        ? `${name} of schema ${schema}, and this version works up to schema ${next}`
        : `${name}, which this version does not know and cannot work beside`;
    return `the database has migration ${what}: update the service`;
  }
  const what = own?.name === name ? 'is not the same here' : 'is not there in this version';
  return `another version of Ventanilla made the database: its migration ${name} ${what}. Start the version that made it, or give this version an empty database or DATA_DIR. Before the first release no version takes over the store of another one`;
}
