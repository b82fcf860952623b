/**
 * Reads what a second operator has to see about a proposal before confirming it (D48; docs/operators.md, "Proposals").
 * Reads accounts, partners, documents, incomes and the facts of applications; the vault checks accounts alone.
 */
import { createHash } from 'node:crypto';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { PaidLine, PaymentObjection } from '../../../domain/loan/disbursement.ts';
import type { Terms } from '../../../domain/loan/terms.ts';
import type { Decision } from '../../../domain/scorecard/scorecard.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { heldByContract } from '../../applications/sql/desk/decision-facts.ts';
import { lookAtPayment } from '../../signing/uses/proposed-lines.ts';
import { type Against, type Evidence, speaksAgainst } from '../rules/against.ts';
import type { HeldBy } from '../rules/conflict.ts';
import { haveAuthority, heldBy } from '../rules/proposal.ts';
import { readDeciders } from '../sql/deciders.ts';
import { type PartnerName, partnersOf } from '../sql/names.ts';
import type { StoredProposal } from '../sql/proposals.ts';
import { decidedFactsOf, readEvidence } from './decided-facts.ts';

/** What a proposal is about. A value is null if it cannot be read, or if the application is deleted. */
export interface ProposalFacts {
  readonly partner: PartnerName | null;
  readonly currency: string | null;
  readonly debtAmount: number | null;
  readonly score: number | null;
  readonly decision: Decision | null;
  /** What the file contains. */
  readonly evidence: Evidence;
  readonly against: readonly Against[];
  /** What a payment pays to whom; null: the lines do not open. */
  readonly lines: readonly PaidLine[] | null;
  /** What the contract, its time to withdraw and the law of the day have against a payment. */
  readonly objections: readonly (HeldBy | PaymentObjection)[];
  /** Neither the maker nor the asking operator has the authority for the amount. */
  readonly lacksAuthority: boolean;
  /** Stands for the proposal and all these facts. Whoever confirms sends back the one that was shown. */
  readonly seen: string;
}

/** Whether a proposal waits for a second operator. */
export function waitsForSecond({ state, needsSecond, confirmedAt }: StoredProposal): boolean {
  return state === 'proposed' && needsSecond !== null && confirmedAt === null;
}

interface Reading {
  readonly session: Session;
  readonly vault: Vault;
  /** The terms of the day; null: none are set. */
  readonly terms: Terms | null;
}

/** What these proposals are about, by their ids, for the asking operator. */
export async function proposalFactsOf(
  { session, vault, terms }: Reading,
  operatorId: number,
  proposals: readonly StoredProposal[],
): Promise<ReadonlyMap<number, ProposalFacts>> {
  if (proposals.length === 0) return new Map();
  const ids: ApplicationId[] = proposals.map(({ applicationId }) => applicationId);
  const facts = await decidedFactsOf(session, ids);
  const partners = await partnersOf(session, [...new Set([...facts.values()].map((one) => one.partnerId))]);
  const evidenceOf = await readEvidence(session, ids);
  const makers = proposals.map(({ maker }) => maker.id);
  const deciders = await readDeciders(session, vault, [...new Set([operatorId, ...makers])]);
  const payments = await lookAtPayments({ session, vault, terms }, proposals);
  return new Map(
    proposals.map((proposal) => {
      const { id, applicationId, act, isOverride, maker } = proposal;
      const one = facts.get(applicationId);
      const { currency = null, debtAmount = null, score = null, decision = null } = one ?? {};
      const evidence = evidenceOf(applicationId);
      const both = [operatorId, maker.id].map((operator) => deciders.get(operator) ?? null);
      const shown = {
        partner: (one && partners.get(one.partnerId)) ?? null,
        currency,
        debtAmount,
        score,
        decision,
        evidence,
        against: speaksAgainst(proposal, score, evidence),
        ...(payments.get(id) ?? { lines: [], objections: [] }),
        lacksAuthority: !haveAuthority({ act, isOverride, currency, debtAmount }, both),
      };
      return [id, { ...shown, seen: digestOf(proposal, shown) }];
    }),
  );
}

/** The lines of proposed payments and what stands against them, by the ids of the proposals. */
async function lookAtPayments(
  { session, vault, terms }: Reading,
  proposals: readonly StoredProposal[],
): Promise<ReadonlyMap<number, Pick<ProposalFacts, 'lines' | 'objections'>>> {
  const payments = new Map<number, Pick<ProposalFacts, 'lines' | 'objections'>>();
  for (const { id, applicationId, act, lines: sealed } of proposals) {
    if (act !== 'disburse') continue;
    const held = await heldByContract(session, applicationId);
    const context = { session, vault, terms: async () => terms };
    const { lines, objections } = await lookAtPayment(context, applicationId, id, sealed);
    payments.set(id, { lines, objections: [...(held === null ? [] : [heldBy(held.until)]), ...objections] });
  }
  return payments;
}

/** The digest of what a confirmation shows. Only equal contents have equal digests. */
function digestOf(proposal: StoredProposal, shown: Omit<ProposalFacts, 'seen'>): string {
  const { id, act, reasonCode, reason, isOverride, maker, createdAt, needsSecond } = proposal;
  const proposed = [id, act, reasonCode, reason, isOverride, maker, createdAt, needsSecond];
  return createHash('sha256')
    .update(JSON.stringify([proposed, shown]))
    .digest('base64url')
    .slice(0, 22);
}
