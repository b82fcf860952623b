/**
 * Makes every stored blind index again with a newer index key, or in the form of this version (docs/keys.md, "The index
 * key"). Writes `reindexes` and, step by step, the tables of all subjects that have indexes.
 */
import { HOUR_MS } from '../../../ground/base/clock.ts';
import { errorCode } from '../../../ground/base/describe-error.ts';
import { UnknownDataKeyError } from '../../../ground/base/registration-failure.ts';
import { inTransaction, type Transaction } from '../../../ground/postgres/database.ts';
import { acting } from '../../../program/operations/acting.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { storedAgain } from '../../../seal/blind-indexes.ts';
import { readDataKeys, transactionsEnd } from '../../../seal/data-keys.ts';
import { lockIndexKey, NO_INDEX_KEY, rememberIndexKey } from '../../../seal/index-key.ts';
import type { Reindexing, ReindexStep } from '../../../seal/reindex.ts';
import { beginReindex, endReindex, lockReindex, moveReindex, readReindex } from '../sql/reindexes.ts';

/** A step may take a whole table, which takes long if millions of phones are open or suppressed. */
const STATEMENT_MS = HOUR_MS;
const LOCKED = '55P03';

/** What all steps of a reindex did together. */
export type Reindexed = Required<Pick<ReindexStep, 'written' | 'unopened'>>;

/**
 * Makes all blind indexes again with the newer keys of INDEX_KEY, and in the form of this version (`IndexOrigin`). No
 * service may run: from the first step to the last one, starts, commands and registrations are refused. Each step is a
 * transaction. If this throws or is killed, call it again with the same keys, and it goes on. Resolves to null if
 * nothing has to be done. For a restore (`StoreHolder`) it does not check for services or wait for transactions. Throws
 * `OperatorError` if a service runs, if another process takes steps, if the stored indexes were made with a key outside
 * the list, and if a needed data key is missing.
 */
export async function reindex(
  context: OperatorContext,
  kinds: readonly Reindexing[],
  holder?: 'restore',
): Promise<Reindexed | null> {
  const reindexings = kinds.toSorted((one, other) => Number(!!one.tellsMoves) - Number(!!other.tellsMoves));
  const { database, clock } = context;
  const isRestored = holder === 'restore';
  const isDue = await acting(
    context,
    (part) => begin(part, reindexings, isRestored),
    (begun) => (begun || !isRestored ? { act: 'vault reindex' } : null),
  );
  if (!isDue) return null;
  // A batch that is being registered has the old indexes.
  if (!isRestored && !(await transactionsEnd(database, clock))) {
    throw new OperatorError(
      'a transaction has been under way for more than a minute: end it, and run vault reindex again',
    );
  }
  for (;;) {
    const done = await step(context, reindexings);
    if (done !== null) return done;
  }
}

/** Begins the reindex, or finds the one under way. Resolves to false if nothing has to be done. */
function begin(
  { database, vault }: OperatorContext,
  reindexings: readonly Reindexing[],
  isRestored: boolean,
): Promise<boolean> {
  return inTransaction(database, async (session) => {
    const known = await lockIndexKey(session);
    const underWay = await readReindex(session);
    const fromKey = underWay?.fromKey ?? known;
    if (fromKey === null && isRestored) return false;
    if (fromKey === null || !vault.indexOrigins.has(fromKey)) {
      throw new OperatorError(
        'the stored indexes were made with none of the keys of INDEX_KEY: write the new key before the present one, NEW,OLD',
      );
    }
    if (underWay !== null && underWay.toKey !== vault.indexKeyId) {
      throw new OperatorError(
        'a vault reindex to another INDEX_KEY is not over: set INDEX_KEY as it was for that one, and run this command again with the version that began it',
      );
    }
    if (fromKey === vault.indexKeyId) return false;
    if (!isRestored && (await readDataKeys(session)).some(({ sealsNow }) => sealsNow)) {
      throw new OperatorError('a service or a worker runs: stop all of them, wait a minute and try again');
    }
    if (underWay === null) {
      await beginReindex(session, fromKey, vault.indexKeyId, reindexings[0]!.name);
      await rememberIndexKey(session, NO_INDEX_KEY);
    }
    return true;
  });
}

/** Takes the next step. Resolves to what all steps did if this was the last one, else to null. */
function step(
  { database, vault }: OperatorContext,
  reindexings: readonly Reindexing[],
): Promise<Reindexed | null> {
  return inTransaction(database, async (session) => {
    const underWay = await lockReindex(session).catch((error: unknown) => {
      if (errorCode(error) !== LOCKED) throw error;
      throw new OperatorError('another vault reindex is under way: wait until it is over');
    });
    if (underWay === null) throw new OperatorError('another vault reindex has just ended');
    const kind = reindexings.findIndex(({ name }) => name === underWay.kind);
    const origin = vault.indexOrigins.get(underWay.fromKey)!;
    const isOfForm = origin.form === vault.indexOrigins.get(vault.indexKeyId)!.form;
    const remaking = {
      again: storedAgain(vault, origin.key),
      macs: { vault, before: origin.key },
      opening: isOfForm ? null : { database, vault },
      movePhones: async (part: Transaction, before: readonly string[], after: readonly string[]) => {
        for (const { movePhones } of reindexings) await movePhones?.(part, before, after);
      },
    };
    await session.query(`SET LOCAL statement_timeout = ${STATEMENT_MS}`);
    const done = await reindexings[kind]!.step(patient(session), remaking, underWay.from).catch(toldOfKey);
    const following = done.next === null ? reindexings[kind + 1]?.name : underWay.kind;
    if (following !== undefined) {
      await moveReindex(session, { kind: following, from: done.next ?? '' }, done);
      return null;
    }
    await lockIndexKey(session);
    await rememberIndexKey(session, underWay.toKey);
    await endReindex(session);
    return {
      written: underWay.written + done.written,
      unopened: underWay.unopened + (done.unopened ?? 0),
    };
  });
}

function toldOfKey(error: unknown): never {
  if (!(error instanceof UnknownDataKeyError)) throw error;
  throw new OperatorError(
    'an envelope is sealed with a data key that this command lacks: set DATA_KEYS as the services have it, and run this command again',
  );
}

/** The session with a longer time limit for each answer. */
function patient(session: Transaction): Transaction {
  const query = (text: string, values: unknown[] = []) =>
    session.query({ text, values, query_timeout: STATEMENT_MS } as never);
  return { query } as unknown as Transaction;
}
