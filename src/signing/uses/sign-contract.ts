/** Signs a contract, and takes a signature back (D46). */
import type { ApplicationId } from '../../applications/rules/ids.ts';
import { TRANSITIONS } from '../../applications/rules/lifecycle.ts';
import { lockState, writeSignature } from '../../applications/sql/application-marks.ts';
import { moveApplication } from '../../applications/sql/applications.ts';
import { loadPublicHolidays } from '../../messages/uses/public-holidays.ts';
import type { Session, Transaction } from '../../postgres/database.ts';
import { fromBigint } from '../../seal/blind-indexes.ts';
import type { Vault } from '../../seal/vault.ts';
import { withdrawalEnd } from '../rules/withdrawal.ts';
import { readProof } from '../sql/codes.ts';
import { type ContractTerms, lockContract, markContract } from '../sql/contracts.ts';
import { addEvidence, type NewEvidence } from '../sql/evidence.ts';

/** What the applicant accepted. */
export interface Acceptance {
  /** The SHA-256 of the contract that was shown, in hex. */
  readonly contract: string;
  /** The input that accepts it. */
  readonly acceptedInput: string;
  /** The turn whose reply showed it. */
  readonly shownTurn: number;
}

const PHONE = 'SELECT phone_index FROM applications_of(ARRAY[$1::bigint])';

/**
 * Signs, in the transaction of the turn: the application waits for its signature, the contract is the one that was
 * shown and accepted, its time is not over, and both proofs are right and less than ten minutes old. There is one
 * signature for ever. `not_signable` otherwise, and nothing is changed.
 */
export async function signContract(
  session: Transaction,
  vault: Vault,
  id: ApplicationId,
  { contract: accepted, acceptedInput, shownTurn }: Acceptance,
): Promise<'signed' | 'not_signable'> {
  const phoneIndex = await phoneIndexOf(session, id);
  const state = await lockState(session, id);
  if (state === null || state.status !== 'pending_signature' || state.signedAt !== null)
    return 'not_signable';
  const contract = await lockContract(session, id);
  if (contract === null || contract.state !== 'open' || contract.isExpired) return 'not_signable';
  if (contract.sha256?.toString('hex') !== accepted) return 'not_signable';
  const proof = await readProof(session, id, contract.id);
  if (proof === null) return 'not_signable';
  const { now } = contract;
  const until = await withdrawableUntil(contract.terms, now);
  if (!(await writeSignature(session, id, now, until))) return 'not_signable';
  await markContract(session, contract.id, 'signed', now);
  const facts = {
    contract: contract.id,
    sha256: accepted,
    accepted_input: acceptedInput,
    shown_turn: shownTurn,
    phone_index: phoneIndex,
    way: proof.way,
    second_way: proof.way !== 'channel',
    code_sent_at: proof.sent_at?.toISOString() ?? null,
    id_checked_at: proof.id_checked_at.toISOString(),
    code_checked_at: proof.used_at.toISOString(),
    signed_at: now.toISOString(),
    withdrawable_until: until?.toISOString() ?? null,
  };
  await addEvidence(session, vault, [{ applicationId: id, entries: [{ kind: 'signed', at: null, facts }] }]);
  return 'signed';
}

async function phoneIndexOf(session: Session, id: ApplicationId): Promise<string | null> {
  const { rows } = await session.query<{ phone_index: string | null }>(PHONE, [id]);
  const stored = rows[0]?.phone_index ?? null;
  return stored === null ? null : fromBigint<'phone'>(stored);
}

let holidays: ReturnType<typeof loadPublicHolidays> | null = null;

async function withdrawableUntil({ withdrawal, country, zone }: ContractTerms, signedAt: Date) {
  if (withdrawal === 'none') return null;
  holidays ??= loadPublicHolidays();
  return withdrawalEnd(withdrawal, signedAt, { country, zone }, await holidays);
}

/**
 * Takes a signature back while the country's period lasts: the application is rejected with a code of its own, and its
 * phone is free (D46). `too_late` also where the money was paid out, where the application is rejected already, and
 * where the country has no such period.
 */
export async function withdraw(
  session: Transaction,
  vault: Vault,
  id: ApplicationId,
): Promise<'withdrawn' | 'too_late' | 'not_signed'> {
  const state = await lockState(session, id);
  if (state === null || state.signedAt === null) return 'not_signed';
  const { status, withdrawableUntil: until, now } = state;
  if (status !== 'pending_signature' || until === null || now >= until) return 'too_late';
  const contract = await lockContract(session, id);
  if (contract === null || contract.state !== 'signed') return 'too_late';
  await markContract(session, contract.id, 'withdrawn', now);
  const facts = { contract: contract.id, withdrawn_at: now.toISOString() };
  await addEvidence(session, vault, [
    { applicationId: id, entries: [{ kind: 'withdrawn', at: null, facts }] },
  ]);
  const { from, to } = TRANSITIONS.reject;
  // The event of the partner comes last: its lock is that of all the partner's applications.
  await moveApplication(session, id, {
    ...{ from, to, actor: 'applicant', action: 'reject', reasonCode: 'contract_withdrawn' },
    reason: 'the applicant withdrew from the signed contract in time',
  });
  return 'withdrawn';
}

/**
 * Records what conversations have seen, in the transaction of their turns: one call a transaction. Throws a
 * `RangeError` for texts of the person.
 */
export function recordEvidence(
  session: Transaction,
  vault: Vault,
  some: readonly NewEvidence[],
): Promise<void> {
  return addEvidence(session, vault, some);
}
