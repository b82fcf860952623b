/**
 * Judges withdrawals that come by another way than the chat: a letter, an e-mail, a call (D46; docs/signing.md, "The
 * signature" has the table). Reads the contract and the evidence, and locks the application.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { localDate, startOfDate } from '../../../domain/loan/local-day.ts';
import type { ReceivedWithdrawal } from '../../../domain/loan/withdrawal.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import type { Vault } from '../../../seal/vault.ts';
import { lockState } from '../../applications/sql/application-marks.ts';
import { readContract } from '../sql/contracts.ts';
import { readEvidence } from '../sql/evidence.ts';
import { noContract } from './show-contract.ts';

/** What an operator states about a withdrawal. */
export interface GivenWithdrawal {
  /** The day on which it came (YYYY-MM-DD); null: today. */
  readonly day: string | null;
  /** The lender accepts the withdrawal even if it came late. */
  readonly acceptsLate: boolean;
}

/**
 * Judges a withdrawal, and locks its application until the end of the transaction. Throws `OperatorError` if nothing is
 * signed, if nothing is left to withdraw from, if the day cannot be right, and if it came late.
 */
export async function judgeReceived(
  session: Transaction,
  id: ApplicationId,
  { day: given, acceptsLate }: GivenWithdrawal,
): Promise<Pick<ReceivedWithdrawal, 'day' | 'isLate'>> {
  const contract = await readContract(session, id);
  if (contract === null) throw await noContract(session, id);
  const state = await lockState(session, id);
  if (state === null) throw new OperatorError(`application ${id} is gone: only its contract is kept`);
  if (state.signedAt === null) throw new OperatorError(`the contract of application ${id} is not signed`);
  if (state.status === 'rejected') {
    throw new OperatorError(`application ${id} is rejected already: nothing is paid out of its contract`);
  }
  const { zone } = contract.terms;
  const until = state.withdrawableUntil;
  const [signedOn, today] = [localDate(state.signedAt, zone), localDate(state.now, zone)];
  const day = given ?? today;
  if (day > today)
    throw new OperatorError(`${day} is in the future: today is ${today} by the country's clock`);
  // The default, today, is never refused, even if the clock was ahead at the signature (D39).
  if (given !== null && day < signedOn)
    throw new OperatorError(`the contract was signed later than ${day}, on ${signedOn}`);
  const isLate = until === null || startOfDate(day, zone) >= until;
  if (isLate && !acceptsLate) {
    const over =
      until === null
        ? 'the country gives no time to withdraw'
        : `the time to withdraw ended with ${localDate(new Date(until.getTime() - 1), zone)}`;
    throw new OperatorError(`${over}: where the lender takes the withdrawal all the same, add --late`);
  }
  return { day, isLate };
}

/** A withdrawal as it stands in the evidence. */
export interface RecordedWithdrawal {
  /** `paid_out`: it came after the payment, so the contract stays signed. */
  readonly result: 'withdrawn' | 'paid_out';
  readonly by: 'operator' | 'applicant';
  /** The day of one that an operator recorded. */
  readonly received: string | null;
  readonly isLate: boolean;
}

/** The withdrawals from the signed contract of an application, in the order of the evidence. */
export async function recordedWithdrawals(
  session: Session,
  vault: Vault,
  id: ApplicationId,
): Promise<RecordedWithdrawal[]> {
  const { rows: evidence } = await readEvidence(session, vault, id);
  const signed = evidence.findIndex(({ kind }) => kind === 'signed');
  if (signed === -1) return [];
  return evidence.slice(signed).flatMap(({ kind, facts }) => {
    if (kind !== 'withdrawn' && kind !== 'withdrawal_asked') return [];
    const { by, received, late } = JSON.parse(facts) as { by?: string; received?: string; late?: boolean };
    return [
      {
        result: kind === 'withdrawn' ? ('withdrawn' as const) : ('paid_out' as const),
        by: by === 'operator' ? ('operator' as const) : ('applicant' as const),
        received: received ?? null,
        isLate: late ?? false,
      },
    ];
  });
}
