/** A column of sealed values, one a row, as a kind of what data keys seal: its evidence, its count and its reseal. */
import type { Database } from '../ground/postgres/database.ts';
import { byteaArray } from '../ground/postgres/pg-encoding.ts';
import type { Vault } from './vault.ts';
import type { SealedKind, SealedRows } from './witness.ts';

/** The statements of a column. Ids are the decimal text of a bigint. */
export interface SealedColumn {
  /** In the plural: `documents`. */
  readonly name: string;
  /** A few rows (`name`, `sealed`) whose first byte is $1. `name` tells what the value is sealed under. */
  readonly some: string;
  /**
   * The rows after the id $1 in their order, `PAGE` of them at most: `id`, `name`, and `sealed` where
   * `(first byte = $2) = $3`, else NULL.
   */
  readonly page: string;
  /**
   * Writes each of $2 in the place of the value of $3 in the row of $1, which are arrays of one length, where the key
   * with the id $4 may seal (`may_seal`).
   */
  readonly write: string;
  /** What the value of a row is sealed under. */
  readonly identity: (name: string) => string;
}

/** The rows of one statement: to open and seal them again takes 2 ms, in which no other work is done. */
export const PAGE = 200;

interface Row {
  readonly id: string;
  readonly name: string;
  readonly sealed: Buffer | null;
}

/** The kind of a column. */
export function sealedRows(column: SealedColumn): SealedKind {
  const { name, some, identity } = column;
  return {
    name,
    async *find({ keyByte, rows }) {
      for (const row of await rows<{ name: string; sealed: Buffer }>(some, [keyByte])) {
        yield (vault) => vault.open(row.sealed, identity(row.name));
      }
    },
    rowsOf: (database, vault, keyId) => rowsOf(database, vault, keyId, column),
    reseal: async (database, vault, from) => {
      const { id: keyId } = vault.sealingKey;
      const { rows } = await database.query<Row>(column.page, [from || '0', Buffer.of(keyId), false]);
      const others = rows.filter(isSealed);
      const written = others.flatMap(({ id, name: what, sealed }) => {
        const again = openedAgain(vault, sealed, identity(what));
        return again === null ? [] : [{ id, sealed, again }];
      });
      const resealed = written.length === 0 ? 0 : await write(database, keyId, column, written);
      const next = rows.length < PAGE ? null : (rows.at(-1)?.id ?? null);
      return { next, resealed, unopened: others.length - written.length, applications: resealed };
    },
  };
}

function isSealed(row: Row): row is Row & { readonly sealed: Buffer } {
  return row.sealed !== null;
}

/** Writes the new values where the old ones still are. Resolves to how many. */
async function write(
  database: Database,
  keyId: number,
  column: SealedColumn,
  rows: readonly { readonly id: string; readonly sealed: Buffer; readonly again: Buffer }[],
): Promise<number> {
  const { rowCount } = await database.query(column.write, [
    rows.map(({ id }) => id),
    byteaArray(rows, ({ again }) => again),
    byteaArray(rows, ({ sealed }) => sealed),
    keyId,
  ]);
  return rowCount ?? 0;
}

async function rowsOf(
  database: Database,
  vault: Vault,
  keyId: number,
  { page, identity }: SealedColumn,
): Promise<SealedRows> {
  let [needing, damaged] = [0, 0];
  for (let after = '0'; ; ) {
    const { rows } = await database.query<Row>(page, [after, Buffer.of(keyId), true]);
    for (const { name, sealed } of rows) {
      if (sealed === null) continue;
      const isDamaged = vault.hasDataKey(keyId) && openedAgain(vault, sealed, identity(name)) === null;
      if (isDamaged) damaged += 1;
      else needing += 1;
    }
    if (rows.length < PAGE) return { needing, damaged };
    after = rows.at(-1)!.id;
  }
}

/** null where the value is damaged, or of a key that this process lacks. */
function openedAgain(vault: Vault, sealed: Buffer, identity: string): Buffer | null {
  try {
    return vault.reseal(sealed, identity);
  } catch {
    return null;
  }
}
