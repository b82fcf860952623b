/** What a second operator has to see of a proposal before confirming it (D48). */
import type { ApplicationId } from '../../applications/rules/ids.ts';
import type { Decision } from '../../applications/rules/scorecard.ts';
import type { Session } from '../../postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import { type Against, speaksAgainst } from '../rules/against.ts';
import { haveAuthority } from '../rules/proposal.ts';
import { readDeciders } from '../sql/deciders.ts';
import { type PartnerName, partnersOf } from '../sql/partner-names.ts';
import type { StoredProposal } from '../sql/proposals.ts';
import { decidedFactsOf, readEvidence } from './decided-facts.ts';

/** What a proposal is about. What is null cannot be read, or the application is deleted. */
export interface ProposalFacts {
  readonly partner: PartnerName | null;
  readonly currency: string | null;
  readonly debtAmount: number | null;
  readonly score: number | null;
  readonly decision: Decision | null;
  readonly against: readonly Against[];
  /** Neither its maker nor the asking operator has the authority for the amount. */
  readonly lacksAuthority: boolean;
}

/** Whether a proposal waits for a second operator. */
export function waitsForSecond({ state, needsSecond, confirmedAt }: StoredProposal): boolean {
  return state === 'proposed' && needsSecond !== null && confirmedAt === null;
}

/** What these proposals are about, by their ids, for the operator who asks. */
export async function proposalFactsOf(
  session: Session,
  vault: Vault,
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
  return new Map(
    proposals.map((proposal) => {
      const { id, applicationId, act, isOverride, maker } = proposal;
      const one = facts.get(applicationId);
      const { currency = null, debtAmount = null, score = null, decision = null } = one ?? {};
      const both = [operatorId, maker.id].map((operator) => deciders.get(operator) ?? null);
      return [
        id,
        {
          ...{ partner: (one && partners.get(one.partnerId)) ?? null, currency, debtAmount, score, decision },
          against: speaksAgainst(proposal, score, evidenceOf(applicationId)),
          lacksAuthority: !haveAuthority({ act, isOverride, currency, debtAmount }, both),
        },
      ];
    }),
  );
}
