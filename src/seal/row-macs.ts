/**
 * Makes and checks MACs of the rows by which the service decides whom it trusts. Somebody who can write to the database
 * but has no secret cannot make or change such a row: a row whose MAC does not hold counts as absent, and the upkeep
 * reports it. A row may be put back as it was before: no MAC shows that. Reads and writes the `mac` of the given
 * tables. SECURITY.md ("Who writes the database") has the rule.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type pg from 'pg';
import { errorCode } from '../ground/base/describe-error.ts';
import type { Session } from '../ground/postgres/database.ts';
import { storeTrouble } from '../ground/postgres/store-trouble.ts';
import { requireIndexKey } from './index-key.ts';
import type { Reindexing } from './reindex.ts';
import type { Vault } from './vault.ts';

/** What a row is. Each kind has a key of its own, so that no row passes for one of another kind. */
export const MACED_KINDS = [
  ...(['operator account', 'operator session', 'operator sign-in under way'] as const),
  ...(['API key', 'proposal', 'confirmation of a proposal'] as const),
] as const;
export type RowKind = (typeof MACED_KINDS)[number];

/** A value that a MAC covers. */
export type Fact = string | number | boolean | null | readonly Fact[];

/** The rows of a table that have a MAC. */
export interface MacedRows<Row extends pg.QueryResultRow> {
  readonly kind: RowKind;
  /** Reads all rows, each with its `name` (text) and its `mac`. */
  readonly read: string;
  /** Writes MACs ($2) of the rows with these names ($1), both arrays. */
  readonly write: string;
  /** What the MAC of a row covers. */
  factsOf(row: Row): readonly Fact[];
}

type Named = { readonly name: string; readonly mac: Buffer };

/** The MAC of a row (HMAC-SHA-256), by the newest key or by the one with this number in `Vault.derivedKeys`. */
export function rowMac(vault: Vault, kind: RowKind, facts: readonly Fact[], keyNumber = -1): Buffer {
  const key = vault.derivedKeys(`ventanilla ${kind}`).at(keyNumber)!;
  return createHmac('sha256', key).update(JSON.stringify(facts)).digest();
}

/** Whether the service has written the row. Compares in constant time. `keyNumber` as in `rowMac`. */
export function isRowMac(
  vault: Vault,
  kind: RowKind,
  facts: readonly Fact[],
  mac: Buffer,
  keyNumber = -1,
): boolean {
  const expected = rowMac(vault, kind, facts, keyNumber);
  return mac.length === expected.length && timingSafeEqual(mac, expected);
}

/** What a job of the upkeep gets of its service. */
export interface Telling {
  readonly database: Session;
  readonly vault: Vault;
  readonly log: { error(facts: object, text: string): void };
}

/** How many rows a line of the log names. */
const MOST_NAMED = 10;

/**
 * Logs the rows whose MAC does not hold, and then throws. So the upkeep notes a failure, and monitoring shows it
 * (`rows_forged`).
 */
export async function tellForged(
  { database, vault, log }: Telling,
  tables: readonly MacedRows<pg.QueryResultRow>[],
): Promise<void> {
  // A process that a `vault reindex` has passed by knows no MAC of the new key; `/readyz` reports that.
  const isPassedBy = await requireIndexKey(database, vault).then(
    () => false,
    (error: unknown) => errorCode(error) === OTHER_INDEX_KEY,
  );
  if (isPassedBy) return;
  let isForged = false;
  for (const table of tables) {
    const { kind, read } = table;
    const { rows } = await database.query<Named>(read).catch((error: unknown) => {
      // Other work reports trouble of the store. Here it must not look like forged rows.
      if (storeTrouble(error) === null) throw error;
      return { rows: [] };
    });
    const forged = rows.filter((row) => !isRowMac(vault, kind, table.factsOf(row), row.mac));
    if (forged.length === 0) continue;
    isForged = true;
    const names = forged.slice(0, MOST_NAMED).map(({ name }) => name);
    log.error({ row: kind, forged: forged.length, names }, FORGED);
  }
  if (isForged) throw new Error(FORGED);
}

const OTHER_INDEX_KEY = 'VN005';
const FORGED = 'rows were changed in the database without the keys of this service: they are refused';

/** Makes the MACs again when the index key is replaced. A row whose MAC does not hold keeps it. */
export function renewedMacs<Row extends pg.QueryResultRow>(name: string, table: MacedRows<Row>): Reindexing {
  const { kind, read, write } = table;
  return {
    name,
    step: async (session, { macs: { vault, before } }) => {
      const { rows } = await session.query<Row & Named>(read);
      const own = rows.filter((row) => isRowMac(vault, kind, table.factsOf(row), row.mac, before));
      await session.query(write, [
        own.map((row) => row.name),
        own.map((row) => rowMac(vault, kind, table.factsOf(row))),
      ]);
      return { next: null, written: own.length };
    },
  };
}
