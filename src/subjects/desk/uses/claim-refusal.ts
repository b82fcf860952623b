/**
 * Says who stands in the way of an operator: another one reviews the application, or has proposed a decision
 * (docs/operators.md, "The review queue"). Reads claims and proposals.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { withOffset } from '../../../ground/base/clock.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import type { StoredClaim, Taking } from '../sql/claims.ts';
import { newestProposalOf } from '../sql/proposals.ts';
import { conflict, type Refusal } from './refusal.ts';

/** Why an operator did not get the claim. The 409 tells whose claim it is, or who has proposed what. */
export async function claimRefusal(
  session: Session,
  id: ApplicationId,
  taking: Exclude<Taking, { is: 'held' }>,
): Promise<Refusal> {
  return taking.is === 'proposed' ? proposedRefusal(session, id) : claimedRefusal(taking.claim);
}

/** Another operator holds it. */
export function claimedRefusal({ by, until }: StoredClaim): Refusal {
  return conflict('claimed', `${by.login} reviews it now`, { by, until: withOffset(until) });
}

/** A decision on it is proposed. */
export async function proposedRefusal(session: Session, id: ApplicationId): Promise<Refusal> {
  const proposal = await newestProposalOf(session, id);
  if (proposal?.state !== 'proposed')
    return conflict('busy', 'another decision on it is under way: look again');
  const { act, maker } = proposal;
  return conflict('proposed', `${maker.login} has proposed the act ${act} already`, {
    by: maker,
    act,
    proposal: proposal.id,
  });
}
