/** While one operator holds an application, no other one claims it or proposes its approval (docs/operators.md). */
import { CLAIM_SECONDS } from '../../../src/subjects/desk/sql/claims.ts';
import type { DeskAct, Found, History } from '../history.ts';
import type { Lookup } from '../lookup.ts';

/** A time in which an operator certainly held an application. */
interface Hold {
  readonly operatorId: number;
  readonly fromMs: number;
  readonly toMs: number;
}

export function checkClaims(history: History, lookup: Lookup): Found[] {
  const byApplication = Map.groupBy(history.deskActs, ({ applicationId }) => applicationId);
  return [...byApplication].flatMap(([id, acts]) => {
    const holds = holdsOf(acts, history);
    return acts
      .filter(({ act, action, end }) => (act === 'claim' || action === 'approve') && end === 'done')
      .flatMap((taking) => {
        const hold = holds.find((one) => isBroken(one, taking));
        if (hold === undefined) return [];
        const text = `${id}: operator ${taking.operatorId} did ${taking.act} while ${hold.operatorId} held it`;
        return [{ partnerId: lookup.stored(id)?.partnerId ?? null, text }];
      });
  });
}

/** What is not whole within the hold may have come before or after it. */
function isBroken({ operatorId, fromMs, toMs }: Hold, taking: DeskAct): boolean {
  return operatorId !== taking.operatorId && fromMs <= taking.fromMs && taking.toMs <= toMs;
}

/** A claim holds until its operator does something else with the application, its time is over, or the clock steps. */
function holdsOf(acts: readonly DeskAct[], { clockSteps }: History): Hold[] {
  return acts
    .filter(({ act, end }) => act === 'claim' && end === 'done')
    .map(({ operatorId, fromMs, toMs }) => {
      const isLater = (one: { readonly toMs: number }) => one.toMs > fromMs;
      const next = acts.filter((one) => one.operatorId === operatorId && one.fromMs >= toMs);
      const ends = [...next, ...clockSteps.filter(isLater)].map((one) => one.fromMs);
      return { operatorId, fromMs: toMs, toMs: Math.min(fromMs + CLAIM_SECONDS * 1_000, ...ends) };
    });
}
