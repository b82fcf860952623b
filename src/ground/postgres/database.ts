/**
 * Runs transactions, and says of a failed statement whether it was undone and whether a repetition may help (D15, D37).
 * Has the time limits of connections and statements. `open-database.ts` opens the pool.
 */
import pg from 'pg';
import { errorCode } from '../base/describe-error.ts';

export type Database = pg.Pool;

/** Longest wait for a new connection, the search for its server included, in milliseconds (D37). */
export const CONNECT_TIMEOUT_MS = 1_500;
/** Longest run of a statement, in milliseconds (D37). */
export const STATEMENT_TIMEOUT_MS = 3_000;
/** The client gives up a little later than the server does. */
export const QUERY_TIMEOUT_MS = 3_300;

/**
 * A transaction, or a pool that runs each statement in a transaction of its own. For statements that are right in both.
 */
export type Session = Pick<Database, 'query'>;

declare const TRANSACTION: unique symbol;

/**
 * A session in a transaction. Only `inTransaction` makes one, so that a statement which locks rows for its caller, or
 * must commit together with others, cannot run alone.
 */
export type Transaction = Session & { readonly [TRANSACTION]: true };

/** The databases that are parts of a transaction. */
const PARTS = new WeakMap<Database, Transaction>();

/**
 * Runs `work` in one transaction of one session, or in a savepoint if `database` is a part of a transaction
 * (`inOneTransaction`). If `work` throws, the transaction is undone before this rejects, so that its locks do not stop
 * others. A session that does not answer is ended, which works even if it is unknown how far the transaction came.
 */
export async function inTransaction<T>(
  database: Database,
  work: (session: Transaction) => Promise<T>,
): Promise<T> {
  const outer = PARTS.get(database);
  if (outer !== undefined) return inSavepoint(outer, work);
  const client = await database.connect();
  let ended = false;
  try {
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    const result = await work(client as unknown as Transaction);
    const { command } = await client.query('COMMIT');
    // PostgreSQL gives this answer to the commit of a transaction in which a statement failed.
    if (command === 'ROLLBACK') throw new Error('the transaction had failed and was rolled back');
    return result;
  } catch (error) {
    ended = await client.query('ROLLBACK').then(
      () => isReadOnly(error),
      () => true,
    );
    throw error;
  } finally {
    client.release(ended);
  }
}

/**
 * Runs `work` with a database whose statements and transactions are all parts of one transaction, one after the other.
 * A part that fails is undone alone.
 */
export function inOneTransaction<T>(
  database: Database,
  work: (part: Database, session: Transaction) => Promise<T>,
): Promise<T> {
  return inTransaction(database, (session) => {
    const query = (...args: unknown[]) =>
      inSavepoint(session, () => (session.query as (...args: unknown[]) => Promise<unknown>)(...args));
    const part = { query } as unknown as Database;
    PARTS.set(part, session);
    return work(part, session);
  });
}

async function inSavepoint<T>(session: Transaction, work: (session: Transaction) => Promise<T>): Promise<T> {
  await session.query('SAVEPOINT part');
  try {
    const result = await work(session);
    await session.query('RELEASE SAVEPOINT part');
    return result;
  } catch (error) {
    // If this fails too, so does the transaction.
    await session.query('ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part').catch(() => {});
    throw error;
  }
}

/** Longest wait for an answer that shows that a session still works, in milliseconds. */
const GOES_ON_WITHIN_MS = 1_000;
/** Classes of SQLSTATEs that end a session, or that a pooler makes up for a session that ended. */
const ENDS_SESSION = /^(08|57P)/;

/**
 * Whether the server has undone a failed statement that was no part of a transaction: it sent the error, and the
 * session goes on. An error that ends the session may come after the commit. The server's word for the severity would
 * tell the two apart in English alone (`lc_messages`). The code does not tell them apart: a full disk is an error of
 * one statement, or ends the server during a commit.
 */
export async function isUndone(client: pg.ClientBase, error: unknown): Promise<boolean> {
  if (!(error instanceof pg.DatabaseError) || ENDS_SESSION.test(error.code ?? '')) return false;
  const probe = { text: 'SELECT 1', query_timeout: GOES_ON_WITHIN_MS };
  return client.query(probe).then(
    () => true,
    () => false,
  );
}

/**
 * True for a write in a read-only session, which has to be ended: it may stay read-only after its server takes writes
 * again.
 */
export function isReadOnly(error: unknown): boolean {
  return errorCode(error) === '25006';
}

/**
 * Two sessions got in each other's way: serialization failure, deadlock, a row that another session made at the same
 * time, and a function's decision that no longer holds after its lock (VN001 in the migrations). Nothing of the
 * transaction is stored, and it can simply be repeated.
 */
const CONFLICTS: readonly (string | undefined)[] = ['40001', '40P01', '23505', 'VN001'];
/** The statement or its wait for a lock took too long. */
const LATE: readonly (string | undefined)[] = ['57014', '55P03'];
/** A check violation: also a row that no partition of its table takes. */
const CHECK_VIOLATION = '23514';
/** The codes of a cluster that lost a machine: some of the other machines may have committed. */
const MACHINE_LOST = /^(XX000|08...|57P..)$/;
/** Most tries of a transaction after conflicts. */
export const CONFLICT_TRIES = 4;

/** Whether an error is such a conflict. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.includes(errorCode(error)) || isFromCopy(error);
}

/**
 * Citus sends the rows of `INSERT .. SELECT` to another machine by COPY. If that machine refuses a row, Citus passes on
 * the text of the refusal, but not the code: a row that another session made at the same time comes as XX000. The name
 * of Citus' function tells these errors from those of a lost machine; the text depends on the server's language.
 */
function isFromCopy(error: unknown): boolean {
  return errorCode(error) === 'XX000' && (error as { routine?: unknown }).routine === 'ReportCopyError';
}

/** Whether the statement was given up because it took too long. */
export function isLate(error: unknown): boolean {
  return LATE.includes(errorCode(error));
}

/** Whether no partition takes the row, or the row breaks another check of its table. */
export function isWithoutPartition(error: unknown): boolean {
  return errorCode(error) === CHECK_VIOLATION;
}

/** Whether a cluster lost a machine during the statement. */
export function isMachineLost(error: unknown): boolean {
  return MACHINE_LOST.test(errorCode(error) ?? '');
}

/** Runs `work`, a transaction or a single statement, and repeats it after a conflict; four times at most. */
export async function againAfterConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === CONFLICT_TRIES || !isConflict(error)) throw error;
    }
  }
}

/** The row of a statement that always gives one. Throws an `Error` if it gave none or several. */
export function onlyRow<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined || rows.length > 1)
    throw new Error(`a statement gave ${rows.length} rows instead of one`);
  return row;
}
