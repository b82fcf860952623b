/** What the failure of a statement means for its next try. */
import { errorCode } from '../base/describe-error.ts';

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
 * Citus sends the rows of `INSERT .. SELECT` to another machine by COPY. Where that machine refuses a row, Citus passes
 * on the text of the refusal, but not the code: a row that another session made at the same time comes as XX000. The
 * name of Citus' function tells these errors from those of a lost machine; the text depends on the server's language.
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
