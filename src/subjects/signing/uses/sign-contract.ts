/**
 * Signs a contract, and records what conversations have shown and heard as evidence (D46; docs/signing.md, "The
 * signature"). Locks and writes `loan_contracts`, reads the proofs in `signing_codes`, and adds to `contract_evidence`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { EvidenceEntry, NewEvidence, ProvenSignature } from '../../../domain/evidence/evidence.ts';
import { localDate } from '../../../domain/loan/local-day.ts';
import { withdrawalEnd } from '../../../domain/loan/withdrawal.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import { readIndex } from '../../../seal/blind-indexes.ts';
import type { Vault } from '../../../seal/vault.ts';
import { lockState, writeSignature } from '../../applications/sql/application-marks.ts';
import { repliesOf } from '../../messages/sql/replies.ts';
import { loadPublicHolidays } from '../../messages/uses/public-holidays.ts';
import { readProof } from '../sql/codes.ts';
import { type ContractTerms, lockContract, markContract } from '../sql/contracts.ts';
import { bindDebts } from '../sql/debts.ts';
import { addEvidence, readEvidence } from '../sql/evidence.ts';

// When the channel took, delivered and showed the texts that the evidence names (D46).

/** The kinds of evidence about a text that went out in a reply. */
const SHOWN: readonly EvidenceEntry['kind'][] = ['data_consent_asked', 'offer_shown', 'contract_shown'];

/** When the channel took, delivered and showed each text of the evidence, as far as the channel has told. */
async function deliveriesOf(session: Session, vault: Vault, id: ApplicationId): Promise<EvidenceEntry[]> {
  const shown = (await readEvidence(session, vault, id)).rows.filter(({ kind }) => SHOWN.includes(kind));
  const turns = new Set(shown.map(({ facts }) => (JSON.parse(facts) as { turn?: number }).turn));
  return (await repliesOf(session, id))
    .filter(({ turn }) => turns.has(turn))
    .map(({ turn, status, channelIndex, sentAt, deliveredAt, readAt }) => ({
      kind: 'text_delivered',
      at: deliveredAt,
      facts: {
        turn,
        status,
        message_index: channelIndex,
        sent_at: sentAt?.toISOString() ?? null,
        delivered_at: deliveredAt?.toISOString() ?? null,
        read_at: readAt?.toISOString() ?? null,
      },
    }));
}

/** What the applicant accepted. */
export interface Acceptance {
  /** The SHA-256 of the contract that was shown, in hex. */
  readonly contract: string;
  /** The input that accepts it. */
  readonly acceptedInput: string;
  /** The turn whose reply showed it. */
  readonly shownTurn: number;
}

const NOT_SIGNABLE = { result: 'not_signable', evidence: [], withdrawal: null } as const;
const PHONE = `SELECT ${readIndex('phone_index')} AS index FROM applications_of(ARRAY[$1::bigint])`;

/**
 * Signs, in the transaction of the turn, if all this holds: the application waits for its signature, the contract is
 * the one that was shown and accepted, its time is not over, the code was right within the last ten minutes, and the
 * last four characters within the last hour. An application is signed at most once. Otherwise the result is
 * `not_signable`, and nothing changes.
 */
export async function signContract(
  session: Transaction,
  vault: Vault,
  id: ApplicationId,
  { contract: accepted, acceptedInput, shownTurn }: Acceptance,
): Promise<ProvenSignature> {
  const phoneIndex = await phoneIndexOf(session, id);
  const state = await lockState(session, id);
  if (state === null || state.status !== 'pending_signature' || state.signedAt !== null) return NOT_SIGNABLE;
  const contract = await lockContract(session, id);
  if (contract === null || contract.state !== 'open' || contract.isExpired) return NOT_SIGNABLE;
  if (contract.sha256?.toString('hex') !== accepted) return NOT_SIGNABLE;
  const proof = await readProof(session, id, contract.id);
  if (proof === null) return NOT_SIGNABLE;
  const { now } = contract;
  const until = await withdrawableUntil(contract.terms, now);
  if (!(await writeSignature(session, id, now, until))) return NOT_SIGNABLE;
  await markContract(session, contract.id, 'signed', now);
  await bindDebts(session, id, contract.id);
  const facts = {
    contract: contract.id,
    sha256: accepted,
    accepted_input: acceptedInput,
    shown_turn: shownTurn,
    phone_index: phoneIndex,
    way: proof.way,
    second_way: proof.way !== 'channel',
    code_sent_at: proof.sentAt?.toISOString() ?? null,
    id_checked_at: proof.idCheckedAt.toISOString(),
    code_checked_at: proof.usedAt.toISOString(),
    signed_at: now.toISOString(),
    withdrawable_until: until?.toISOString() ?? null,
  };
  const delivered = await deliveriesOf(session, vault, id);
  // The period ends with the first instant of the next day.
  const withdrawal = until && {
    until,
    lastDay: localDate(new Date(until.getTime() - 1), contract.terms.zone),
  };
  return { result: 'signed', evidence: [...delivered, { kind: 'signed', at: null, facts }], withdrawal };
}

async function phoneIndexOf(session: Session, id: ApplicationId): Promise<string | null> {
  return (await session.query<{ index: string | null }>(PHONE, [id])).rows[0]?.index ?? null;
}

async function withdrawableUntil({ withdrawal, country, zone }: ContractTerms, signedAt: Date) {
  if (withdrawal === 'none') return null;
  return withdrawalEnd(withdrawal, signedAt, { country, zone }, await loadPublicHolidays());
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
