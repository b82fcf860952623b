/**
 * Pays out an application: compares the lines with the contract's list, the rate with the maximum of the day, and
 * records lines, evidence and status in one transaction (D34, D45, D46; docs/signing.md, "The payment"). Locks the
 * application and its contract; writes `disbursements`, `loan_contracts` and the evidence.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { TRANSITIONS } from '../../../domain/application/lifecycle.ts';
import type { ReasonCode } from '../../../domain/application/reason-codes.ts';
import type { EvidenceEntry } from '../../../domain/evidence/evidence.ts';
import type { PaidLine, PaymentObjection } from '../../../domain/loan/disbursement.ts';
import { localDate } from '../../../domain/loan/local-day.ts';
import { maximumFault } from '../../../domain/loan/offer.ts';
import { rateOfPercent } from '../../../domain/loan/rates.ts';
import type { Terms } from '../../../domain/loan/terms.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { lockState } from '../../applications/sql/application-marks.ts';
import { type Moved, moveApplication } from '../../applications/sql/applications.ts';
import { balancesOf, checkLines, differenceOf, LineError, wantedOf } from '../rules/disbursement-lines.ts';
import { openSecret } from '../sql/contract-secrets.ts';
import { type ContractTerms, lockContract, readContract, type StoredContract } from '../sql/contracts.ts';
import { addLines, factsOfLine, type NewLine, noteDisbursedOn, type Proof } from '../sql/disbursements.ts';
import { addEvidence } from '../sql/evidence.ts';
import { payeesOfContract } from './contract-payees.ts';

/** What paying out needs, in the transaction of the act. */
export interface PaymentContext {
  readonly session: Transaction;
  readonly vault: Vault;
  /** The terms of the day; null: there are none. */
  readonly terms: () => Promise<Terms | null>;
}

/** A line with its currency, where it was told, and its proof in the store. */
export type GivenLine = PaidLine & { readonly currency?: string | null; readonly proof?: Proof | null };

/** What an operator states about a payment. */
export interface Payment {
  readonly lines: readonly GivenLine[];
  readonly actor: string;
  readonly reason: string;
  readonly reasonCode: ReasonCode;
  /** The second operator. */
  readonly second?: string;
  /** Two operators pay in spite of what the contract asks for. */
  readonly isOverride: boolean;
}

/** The result. `refused`: nothing is changed, and the override of two operators would lift it. */
export type PaymentResult =
  | { readonly kind: 'moved'; readonly moved: Moved | null; readonly isScheduled: boolean }
  | { readonly kind: 'refused'; readonly objections: readonly PaymentObjection[]; readonly text: string };

/**
 * Pays out an application, if it may be paid out now. One with a signed contract needs lines that equal the contract's
 * list, and a rate that the law of the day allows; any other one is moved without lines. Throws `LineError` for
 * lines that no override lifts: a wrong form, a wrong day, twice the same, or lines without a signed contract.
 */
export async function disburse(
  context: PaymentContext,
  id: ApplicationId,
  payment: Payment,
): Promise<PaymentResult> {
  const { session } = context;
  const found = await readContract(session, id);
  if (found?.state !== 'signed') {
    if (payment.lines.length > 0)
      throw new LineError(`application ${id} has no signed contract: it is paid out without lines`);
    return { kind: 'moved', moved: await move(context, id, payment), isScheduled: false };
  }
  const state = await lockState(session, id);
  const contract = await lockContract(session, id);
  const until = state?.withdrawableUntil ?? null;
  const isHeld = state !== null && until !== null && until > state.now && !payment.isOverride;
  // The move says why nothing is paid out.
  if (state?.status !== 'pending_signature' || contract?.state !== 'signed' || isHeld)
    return { kind: 'moved', moved: await move(context, id, payment), isScheduled: false };
  const judged = await judge(context, contract, payment.lines);
  if (judged.objections.length > 0 && !payment.isOverride) return { kind: 'refused', ...judged };
  const isScheduled = await record(context, contract, judged, payment);
  const moved = await move(context, id, payment);
  // It is locked, so the move cannot fail by now. Nothing of the transaction may stay if it does.
  if (moved?.moved !== true) throw new Error(`application ${id} was not moved`);
  return { kind: 'moved', moved, isScheduled };
}

/** What the contract and the law of the day say about a payment. */
export interface Judged {
  readonly lines: readonly (PaidLine & Pick<GivenLine, 'proof'>)[];
  /** The latest value date, or today where there are no lines. */
  readonly day: string;
  readonly objections: readonly PaymentObjection[];
  /** The objections in one line. */
  readonly text: string;
}

/** Judges the lines of a payment. Throws `LineError` as `disburse` does for lines that no override lifts. */
export async function judge(
  { session, vault, terms }: Omit<PaymentContext, 'session'> & { readonly session: Session },
  contract: StoredContract,
  given: readonly GivenLine[],
): Promise<Judged> {
  const { offer, zone } = contract.terms;
  const { currency } = offer;
  const [signedOn, today] = [localDate(contract.signedAt!, zone), localDate(contract.now, zone)];
  const checked = checkLines(given, { currency, signedOn, today });
  const lines = checked.map((line, index) => ({ ...line, proof: given[index]!.proof ?? null }));
  const day =
    lines
      .map(({ valueDate }) => valueDate)
      .toSorted()
      .at(-1) ?? today;
  const paid = lines.map((line) => ({ ...line, kind: 'paid' as const }));
  const wanted = wantedOf(await payeesOfContract(session, vault, contract), currency);
  const difference = differenceOf(balancesOf(paid, currency), wanted);
  const fault = rateFault(await terms(), contract.terms, day);
  const texts = [
    ...(difference === null ? [] : [lines.length === 0 ? NO_LINES : difference]),
    ...(fault === null ? [] : [RATE_TEXTS[fault]]),
  ];
  const objections: PaymentObjection[] = [
    ...(difference === null ? [] : (['lines_differ'] as const)),
    ...(fault === null ? [] : [fault]),
  ];
  return { lines, day, objections, text: texts.join('; ') };
}

const NO_LINES = 'its contract is signed: say with --line what was paid to whom, by the list of the contract';
const RATE_TEXTS = {
  no_terms: 'the terms have nothing for its country, so no legal maximum is known',
  no_maximum: 'the terms have no legal maximum for the month of the payment',
  above_maximum: 'its rate is above the legal maximum on the day of the payment',
} as const;

/** Why the rate of a contract is not allowed on a day by the terms of today; null: it is allowed. */
export function rateFault(
  terms: Terms | null,
  { country, limitedRate, offer }: ContractTerms,
  day: string,
): 'no_terms' | 'no_maximum' | 'above_maximum' | null {
  const ofCountry = terms?.countries[country];
  if (ofCountry === undefined) return 'no_terms';
  // A contract of version 1.0 tells its rate with all charges alone, which is no smaller.
  const rate = limitedRate === undefined ? rateOfPercent(offer.annualRate) : BigInt(limitedRate);
  return maximumFault(ofCountry, day, rate);
}

/** Records the lines with their evidence. True: the installments count from now on. */
async function record(
  { session, vault }: PaymentContext,
  contract: StoredContract,
  { lines, day, objections }: Judged,
  { actor, second, isOverride }: Payment,
): Promise<boolean> {
  const { applicationId, id } = contract;
  const facts = { contract: id, lines: lines.length, override: isOverride, objections: objections.join(',') };
  const entries: EvidenceEntry[] = [
    { kind: 'disbursed', at: null, facts: { ...facts, disbursed_on: lines.length === 0 ? null : day } },
  ];
  if (lines.length > 0) {
    const by = { kind: 'paid', returned: null, recordedBy: actor, second: second ?? null } as const;
    const rows = lines.map((line): NewLine => ({ ...line, proof: line.proof ?? null, ...by }));
    entries.push(...(await addWithEvidence(session, vault, contract, 0, rows)));
  }
  const isScheduled = lines.length > 0 && (await noteDisbursedOn(session, id, day));
  await addEvidence(session, vault, [{ applicationId, entries }]);
  return isScheduled;
}

/** Adds lines behind the `before` ones of a locked contract, and returns their evidence. */
export async function addWithEvidence(
  session: Transaction,
  vault: Vault,
  contract: StoredContract,
  before: number,
  lines: readonly NewLine[],
): Promise<EvidenceEntry[]> {
  const hashes = await addLines(session, contract, openSecret(vault, contract), before, lines);
  return lines.map((line, index) => ({
    kind: 'disbursement_line',
    at: null,
    facts: factsOfLine(contract.id, { ...line, number: before + index + 1, sha256: hashes[index]! }),
  }));
}

function move({ session }: PaymentContext, id: ApplicationId, payment: Payment): Promise<Moved | null> {
  const { actor, reason, reasonCode, second, isOverride } = payment;
  return moveApplication(session, id, {
    ...TRANSITIONS.disburse,
    ...{ actor, action: 'disburse', reason, reasonCode, isOverride },
    ...(second !== undefined && { second }),
  });
}
