/** What a test has changed in a table by SQL, as if the service had written it. */
import type pg from 'pg';
import type { Session } from '../../src/ground/postgres/database.ts';
import { type MacedRows, rowMac } from '../../src/seal/row-macs.ts';
import type { Vault } from '../../src/seal/vault.ts';
import { PROPOSALS } from '../../src/subjects/desk/sql/proposal-macs.ts';
import { ACCOUNTS } from '../../src/subjects/operators/sql/account.ts';
import { PENDING_SIGN_INS } from '../../src/subjects/operators/sql/pending-sign-ins.ts';
import { SESSIONS } from '../../src/subjects/operators/sql/sessions.ts';
import { KEYS } from '../../src/subjects/partners/sql/key-macs.ts';

/** Gives all rows that have a MAC the right one for what they are now. */
export async function remac({ database, vault }: { database: Session; vault: Vault }): Promise<void> {
  const tables: MacedRows<pg.QueryResultRow>[] = [ACCOUNTS, SESSIONS, PENDING_SIGN_INS, KEYS, ...PROPOSALS];
  for (const table of tables) {
    const { rows } = await database.query<{ name: string }>(table.read);
    const macs = rows.map((row) => rowMac(vault, table.kind, table.factsOf(row)));
    await database.query(table.write, [rows.map(({ name }) => name), macs]);
  }
}
