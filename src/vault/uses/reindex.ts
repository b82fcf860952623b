/** Makes every stored blind index again with a newer index key. */
import { HOUR_MS } from '../../base/time.ts';
import { type OperatorContext, OperatorError } from '../../operations/operator-context.ts';
import { inTransaction, type Transaction } from '../../postgres/database.ts';
import { storedAgain } from '../../seal/blind-indexes.ts';
import { readDataKeys } from '../../seal/data-keys.ts';
import { lockIndexKey, rememberIndexKey } from '../../seal/index-key.ts';
import type { Reindexing } from '../../seal/reindex.ts';

/** Twenty million applications take some minutes. */
const STATEMENT_MS = HOUR_MS;

/**
 * Makes all blind indexes again with the newer keys of INDEX_KEY, in one transaction: all or none. No service may run.
 * Returns how many were written, 0 where the newest key has made them already. Throws `OperatorError` where a service
 * runs, and where the stored indexes were made with another key than those of the list.
 */
export function reindex(
  { database, vault }: OperatorContext,
  reindexings: readonly Reindexing[],
): Promise<number> {
  return inTransaction(database, async (session) => {
    const known = await lockIndexKey(session);
    const from = known === null ? -1 : vault.indexKeyIds.indexOf(known);
    if (from === -1) {
      throw new OperatorError(
        'the stored indexes were made with none of the keys of INDEX_KEY: write the new key before the present one, NEW,OLD',
      );
    }
    if (from === vault.indexKeyIds.length - 1) return 0;
    if ((await readDataKeys(session)).some(({ sealsNow }) => sealsNow)) {
      throw new OperatorError('a service or a worker runs: stop all of them, wait a minute and try again');
    }
    await session.query(`SET LOCAL statement_timeout = ${STATEMENT_MS}`);
    let written = 0;
    const again = storedAgain(vault, from);
    for (const run of reindexings) written += await run(patient(session), again);
    await rememberIndexKey(session, vault.indexKeyIds.at(-1)!);
    return written;
  });
}

/** The session with more time for each answer. */
function patient(session: Transaction): Transaction {
  const query = (text: string, values: unknown[] = []) =>
    session.query({ text, values, query_timeout: STATEMENT_MS } as never);
  return { query } as unknown as Transaction;
}
