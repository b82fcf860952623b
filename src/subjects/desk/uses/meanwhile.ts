/**
 * Refusals that say what another operator does or did: reviews the application, has proposed a decision (409), or has
 * changed it since it was looked at (412; D48; docs/operators.md, "The review queue" and "Proposals"). Reads
 * `proposals`, `application_events` and `operators`; the claim is given to it.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { withOffset } from '../../../ground/base/clock.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { accountOf } from '../../../program/operations/acting.ts';
import { readLogin } from '../../../program/operations/sql/logins.ts';
import { type LastChange, lastChangeOf } from '../../applications/sql/desk/last-event.ts';
import type { StoredClaim, Taking } from '../sql/claims.ts';
import { newestProposalOf } from '../sql/proposals.ts';
import { conflict, Refusal } from './refusal.ts';

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

/** The refusal (412) of an act that is based on an older event. It tells who did what, and when. */
export async function changedSince(session: Session, id: ApplicationId): Promise<Refusal> {
  const change = await lastChangeOf(session, id);
  if (change === null) return new Refusal(412, 'If-Match names an event that the application does not have');
  const { act, at } = change;
  const by = await actorOf(session, change);
  return new Refusal(412, `${by.login} did ${act} meanwhile: look at it again`, {
    facts: { by, act, at: withOffset(at) },
  });
}

/** Who did something; the id is null if it was no operator with an account. */
export async function actorOf(
  session: Session,
  { actor }: Pick<LastChange, 'actor'>,
): Promise<{ readonly id: number | null; readonly login: string }> {
  const id = accountOf(actor);
  return { id, login: id === null ? actor : await readLogin(session, id) };
}
