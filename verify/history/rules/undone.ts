/** A proposal that was undone is never applied, and none is applied while its maker may still undo it (D48). */
import type { ClockStep, DeskAct, Found, History } from '../history.ts';
import type { Lookup } from '../lookup.ts';

/** How long the makers of a run may undo what they proposed. */
export const UNDO_SECONDS = 3;

export function checkUndone({ deskActs, clockSteps, store }: History, lookup: Lookup): Found[] {
  const states = new Map(store.proposals.map(({ id, state }) => [id, state]));
  return deskActs
    .filter(({ act }) => act === 'undo')
    .flatMap((undo) => {
      const { proposalId, applicationId, end } = undo;
      const partnerId = lookup.stored(applicationId)?.partnerId ?? null;
      const state = states.get(proposalId!);
      const wasUndone = end === 'done' && state !== 'undone';
      if (wasUndone) return [{ partnerId, text: `proposal ${proposalId} was undone, and is ${state}` }];
      const made = lookup.actsOn(proposalId!).find(({ act }) => act === 'propose');
      if (made === undefined || end !== 'late') return [];
      const wasEarly = undo.toMs < made.fromMs + UNDO_SECONDS * 1_000;
      if (!wasEarly || clockSteps.some((step) => isBetween(step, made, undo))) return [];
      return [{ partnerId, text: `proposal ${proposalId} was applied while it could be undone` }];
    });
}

/** A step of the clock may take the time to undo away from what was proposed just before it (D39). */
function isBetween(step: ClockStep, made: DeskAct, undo: DeskAct): boolean {
  return step.toMs >= made.fromMs && step.fromMs <= undo.toMs;
}
