/**
 * Reseals and counts a column of sealed values that a table declares (`ground/postgres/table.ts`), and finds which key
 * sealed it. Reads and writes that column. docs/keys.md ("The data key") has the rule.
 */
import type { Database } from '../ground/postgres/database.ts';
import { byteaArray } from '../ground/postgres/gathering.ts';
import type { SealedColumn, Table } from '../ground/postgres/table.ts';
import type { Vault } from './vault.ts';
import type { SealedKind } from './witness.ts';

export type SealedTable = Pick<Table, 'name'> & { readonly sealed: SealedColumn };

/** The rows of one statement. To open and seal them again takes 2 ms, and other work waits so long. */
export const PAGE = 200;

/** The statements of a column. Ids are the decimal text of a bigint. */
interface Statements {
  /** A few rows whose first byte is $1. */
  readonly some: string;
  /** The rows after the id $1 in their order: `sealed` where `(first byte = $2) = $3`, else NULL. */
  readonly page: string;
  /**
   * Writes each value of $2 in the place of the value of $3 in the row of $1, arrays of one length, if the key with the
   * id $4 may seal (`may_seal`). Locks in the order of the ids.
   */
  readonly write: string;
}

export function sealedStatements({ name, sealed: { column, id, under } }: SealedTable): Statements {
  const texts = `ARRAY[${under.map((part) => `(${part})::text`).join(', ')}] AS under`;
  const keyByte = `substring(${column} FROM 1 FOR 1)`;
  return {
    some: `SELECT ${texts}, ${column} AS sealed FROM ${name} WHERE ${keyByte} = $1 LIMIT 3`,
    page: `
      SELECT ${id} AS id, ${texts}, CASE WHEN (${keyByte} = $2) = $3 THEN ${column} END AS sealed
      FROM ${name} WHERE ${id} > $1::bigint AND ${column} IS NOT NULL ORDER BY ${id} LIMIT ${PAGE}`,
    write: `
      UPDATE ${name} t SET ${column} = g.again
      FROM unnest($1::bigint[], $2::bytea[], $3::bytea[]) AS g(id, again, sealed)
      WHERE t.${id} = g.id AND t.${column} = g.sealed AND may_seal($4) AND t.${id} = ANY (ARRAY(
        SELECT h.${id} FROM ${name} h WHERE h.${id} = ANY ($1::bigint[]) ORDER BY h.${id} FOR NO KEY UPDATE))`,
  };
}

interface Row {
  /** A number if the primary key is an integer. */
  readonly id: string | number;
  readonly under: readonly string[];
  readonly sealed: Buffer | null;
}

/** The kind of a column. */
export function sealedRows(table: SealedTable): SealedKind {
  const { kind, identity } = table.sealed;
  const { some, page, write } = sealedStatements(table);
  return {
    name: kind,
    async *find({ keyByte, rows }) {
      for (const row of await rows<{ under: string[]; sealed: Buffer }>(some, [keyByte])) {
        yield (vault) => vault.open(row.sealed, identity(...row.under));
      }
    },
    rowsOf: async (database, vault, keyId) => {
      let [needing, damaged] = [0, 0];
      for (let after: Row['id'] | undefined = '0'; after !== undefined; ) {
        const { rows }: { rows: Row[] } = await database.query<Row>(page, [after, Buffer.of(keyId), true]);
        for (const { under, sealed } of rows.filter(isSealed)) {
          const isDamaged =
            vault.hasDataKey(keyId) && openedAgain(vault, sealed, identity(...under)) === null;
          if (isDamaged) damaged += 1;
          else needing += 1;
        }
        after = rows.length < PAGE ? undefined : rows.at(-1)!.id;
      }
      return { needing, damaged };
    },
    reseal: async (database, vault, from) => {
      const { id: keyId } = vault.sealingKey;
      const { rows } = await database.query<Row>(page, [from || '0', Buffer.of(keyId), false]);
      const others = rows.filter(isSealed);
      const again = others.flatMap((row) => {
        const value = openedAgain(vault, row.sealed, identity(...row.under));
        return value === null ? [] : [{ ...row, again: value }];
      });
      const resealed = again.length === 0 ? 0 : await writeAgain(database, write, again, keyId);
      const next = rows.length < PAGE ? null : `${rows.at(-1)!.id}`;
      return { next, resealed, unopened: others.length - again.length, applications: resealed };
    },
  };
}

function isSealed(row: Row): row is Row & { readonly sealed: Buffer } {
  return row.sealed !== null;
}

/** Writes the new values into rows that still have the old ones. Resolves to how many. */
async function writeAgain(
  database: Database,
  write: string,
  rows: readonly { readonly id: Row['id']; readonly sealed: Buffer; readonly again: Buffer }[],
  keyId: number,
): Promise<number> {
  const { rowCount } = await database.query(write, [
    rows.map(({ id }) => id),
    byteaArray(rows, ({ again }) => again),
    byteaArray(rows, ({ sealed }) => sealed),
    keyId,
  ]);
  return rowCount ?? 0;
}

/** null if the value is damaged, or sealed with a key that this process lacks. */
function openedAgain(vault: Vault, sealed: Buffer, identity: string): Buffer | null {
  try {
    return vault.reseal(sealed, identity);
  } catch {
    return null;
  }
}
