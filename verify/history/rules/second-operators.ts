/** Payments, and decisions of an operator without authority, have a second operator, whom the history names (D48). */
import { operatorName } from '../../../src/domain/operator/operator-name.ts';
import type { DeskAct, Found, History, StoredProposal } from '../history.ts';
import type { Lookup } from '../lookup.ts';

export function checkSecondOperators({ operators, deskActs, store }: History, lookup: Lookup): Found[] {
  const withAuthority = new Set(operators.filter((one) => one.hasAuthority).map(({ id }) => id));
  const found = (applicationId: number, text: string): Found => ({
    partnerId: lookup.stored(applicationId)?.partnerId ?? null,
    text: `${applicationId}: ${text}`,
  });
  return [
    ...store.proposals
      .filter(({ state }) => state === 'applied')
      .flatMap((one) => faultsOf(one, lookup, withAuthority).map((text) => found(one.applicationId, text))),
    ...deskActs
      .filter((one) => (one.act === 'confirm' || one.act === 'decline') && one.end === 'done')
      .filter(({ proposalId, operatorId }) => makerOf(lookup.actsOn(proposalId!)) === operatorId)
      .map((one) => found(one.applicationId, `${one.act} of proposal ${one.proposalId} by its maker`)),
  ];
}

function makerOf(acts: readonly DeskAct[]): number | undefined {
  return acts.find(({ act }) => act === 'propose')?.operatorId;
}

function faultsOf(
  { id, applicationId, action, makerId }: StoredProposal,
  lookup: Lookup,
  withAuthority: ReadonlySet<number>,
): string[] {
  const confirmed = lookup.actsOn(id).find(({ act, end }) => act === 'confirm' && end === 'done');
  const second = confirmed?.operatorId ?? null;
  const needsSecond = action === 'disburse' || !withAuthority.has(makerId);
  const isWithin = [makerId, second].some((one) => one !== null && withAuthority.has(one));
  const texts: string[] = [];
  if (needsSecond !== (second !== null))
    texts.push(`proposal ${id} was applied ${second === null ? 'without' : 'with'} a second operator`);
  if (action !== 'reject' && !isWithin) texts.push(`proposal ${id} was applied without authority`);
  const named = second === null ? null : operatorName(second);
  const move = lookup
    .stored(applicationId)
    ?.moves.find((one) => one.action === action && one.actor === operatorName(makerId));
  if (move !== undefined && move.second !== named)
    texts.push(`proposal ${id} was confirmed by ${named}, and the history names ${move.second}`);
  return texts;
}
