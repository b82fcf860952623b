/** Every proposal ends once, as it was made, and the desk applies nothing that nobody proposed (D34, D48). */
import { operatorName } from '../../../src/domain/operator/operator-name.ts';
import { accountOf } from '../../../src/program/operations/acting.ts';
import type { DeskAct, Found, History, StoredApplication, StoredProposal } from '../history.ts';
import type { Lookup } from '../lookup.ts';

export function checkProposals({ deskActs, store }: History, lookup: Lookup): Found[] {
  const proposed = deskActs.filter(({ act, end }) => act === 'propose' && end === 'done');
  const byId = new Map(store.proposals.map((one) => [one.id, one]));
  const madeOf = Map.groupBy(proposed, ({ proposalId }) => proposalId);
  const ofApplication = Map.groupBy(store.proposals, ({ applicationId }) => applicationId);
  const found = (applicationId: number, text: string): Found => ({
    partnerId: lookup.stored(applicationId)?.partnerId ?? null,
    text: `${applicationId}: ${text}`,
  });
  return [
    ...proposed.flatMap((act) => {
      const isKept = isLike(act, byId.get(act.proposalId!));
      return isKept
        ? []
        : [found(act.applicationId, `proposal ${act.proposalId} is not stored as it was made`)];
    }),
    ...store.proposals.flatMap((one) => {
      const texts = madeOf.has(one.id) ? [] : [`proposal ${one.id} came from nobody`];
      texts.push(...endFaults(one, lookup));
      return texts.map((text) => found(one.applicationId, text));
    }),
    ...store.applications.flatMap((one) =>
      moveFaults(one, ofApplication.get(one.id) ?? []).map((text) => found(one.id, text)),
    ),
  ];
}

function isLike({ applicationId, action, operatorId }: DeskAct, stored: StoredProposal | undefined): boolean {
  return stored?.applicationId === applicationId && stored.action === action && stored.makerId === operatorId;
}

/** Whether it has ended as somebody wanted it or had to be, and is recorded so. */
function endFaults(
  { id, applicationId, action, state, returnedFor, recorded }: StoredProposal,
  lookup: Lookup,
) {
  const isAsked = (act: DeskAct['act']) =>
    lookup.actsOn(id).some((one) => one.act === act && one.end === 'done');
  const records = {
    proposed: [],
    undone: [],
    applied: [`application ${action}`],
    declined: ['proposal decline'],
    returned: ['proposal return'],
  }[state];
  const texts: string[] = [];
  if (state === 'proposed') texts.push(`proposal ${id} is open for ever`);
  if (state === 'undone' && !isAsked('undo')) texts.push(`proposal ${id} was undone by nobody`);
  if (state === 'declined' && !isAsked('decline')) texts.push(`proposal ${id} was declined by nobody`);
  if (recorded.join() !== records.join())
    texts.push(`proposal ${id} is ${state}, and the record has [${recorded}]`);
  // The accounts of a run stay as they are; so only another move of the application sends a proposal back.
  const isOvertaken = returnedFor === 'changed' || returnedFor === 'illegal';
  const hasMoved = (lookup.stored(applicationId)?.moves.length ?? 0) > 0;
  if (state === 'returned' && !(isOvertaken && hasMoved))
    texts.push(`proposal ${id} was returned for ${returnedFor}`);
  return texts;
}

/** Each applied proposal is one move by its maker, and each move of an operator is one applied proposal. */
function moveFaults({ moves }: StoredApplication, proposals: readonly StoredProposal[]): string[] {
  const applied = proposals
    .filter(({ state }) => state === 'applied')
    .map(({ action, makerId }) => `${action} by ${operatorName(makerId)}`);
  const told = moves
    .filter(({ actor }) => accountOf(actor) !== null)
    .map(({ action, actor }) => `${action} by ${actor}`);
  const [were, are] = [applied.toSorted().join(), told.toSorted().join()];
  return were === are ? [] : [`applied was [${were}], and the history has [${are}]`];
}
