/**
 * Takes a signature back, and rejects the application (D46; docs/signing.md, "The signature"). Writes `loan_contracts`;
 * the review of the rejection frees the phone.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { APPLICANT, TRANSITIONS } from '../../../domain/application/lifecycle.ts';
import { type Proven, receivedFacts } from '../../../domain/evidence/evidence.ts';
import type { ReceivedWithdrawal, WithdrawalResult, Withdrawer } from '../../../domain/loan/withdrawal.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';
import { lockState } from '../../applications/sql/application-marks.ts';
import { moveApplication } from '../../applications/sql/applications.ts';
import { lockContract, markContract } from '../sql/contracts.ts';

/**
 * Takes a signature back while the country's period lasts. What the applicant sent before its end counts, even if the
 * service reads it later: `sentAt`, by the channel's clock unless that is ahead of the database's; null: now.
 * `received`: an operator has judged in this transaction that the withdrawal counts (`judgeReceived`). `paid_out`: the
 * money is paid out, so operators have to settle it. `rejected`: the application is rejected already, so nothing is
 * paid out. `too_late`: the period is over, or the country has none. The caller calls `rejectWithdrawn` in the same
 * transaction.
 */
export async function withdraw(
  session: Transaction,
  id: ApplicationId,
  sentAt: Date | null = null,
  received: ReceivedWithdrawal | null = null,
): Promise<Proven<WithdrawalResult>> {
  const state = await lockState(session, id);
  if (state === null || state.signedAt === null) return { result: 'not_signed', evidence: [] };
  const { status, withdrawableUntil: until, now } = state;
  const hasPassed = until === null || (sentAt !== null && sentAt < now ? sentAt : now) >= until;
  const isOver = received === null && hasPassed;
  if (status === 'disbursed' && !isOver) return { result: 'paid_out', evidence: [] };
  if (status === 'rejected' && !isOver) return { result: 'rejected', evidence: [] };
  const isLate = status !== 'pending_signature' || isOver;
  const contract = isLate ? null : await lockContract(session, id);
  if (contract === null || contract.state !== 'signed') return { result: 'too_late', evidence: [] };
  await markContract(session, contract.id, 'withdrawn', now);
  const facts = { contract: contract.id, withdrawn_at: now.toISOString(), ...receivedFacts(received) };
  return { result: 'withdrawn', evidence: [{ kind: 'withdrawn', at: sentAt, facts }] };
}

const IN_THE_CHAT: Withdrawer = {
  actor: APPLICANT,
  reason: 'the applicant withdrew from the signed contract in time',
};

/**
 * Rejects an application whose signature this transaction has taken back, with a code of its own, and frees its phone.
 * `by`: the operator who recorded the withdrawal; null: the applicant in the chat. The partner's event is added too, so
 * the transaction takes no other lock afterwards. For several applications the caller holds the locks of all their
 * partners.
 */
export async function rejectWithdrawn(
  session: Transaction,
  id: ApplicationId,
  by: Withdrawer | null = null,
): Promise<void> {
  const { from, to } = TRANSITIONS.reject;
  await moveApplication(session, id, {
    from,
    to,
    action: 'reject',
    reasonCode: 'contract_withdrawn',
    ...(by ?? IN_THE_CHAT),
  });
}
