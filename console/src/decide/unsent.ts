/** What the operator did and the service may not have yet: who signs out or closes the tab would lose it. */
import { useSyncExternalStore } from 'react';
import { runningActs, subscribeToActs } from '../api/act.ts';
import { shownOperator } from '../api/ask.ts';
import type { PageClock } from '../clock.ts';
import { type Acts, mayRetry } from './acts.ts';

/** The decisions of the operator who signed in last. */
let decisions: Pick<Acts, 'list' | 'subscribe'> | null = null;

/** Looks at these decisions from now on. */
export function watchDecisions(acts: Pick<Acts, 'list' | 'subscribe'>): void {
  decisions = acts;
}

/** Whether something is being sent or undone, or is tried again by itself. */
export function isOnItsWay(): boolean {
  if (shownOperator() === null) return false;
  const open = decisions?.list() ?? [];
  return runningActs() > 0 || open.some(({ state }) => state === 'sending' || state === 'undoing');
}

/** The same, or something failed that the operator may send again. */
export function isUnsent(): boolean {
  if (shownOperator() === null) return false;
  const open = decisions?.list() ?? [];
  return isOnItsWay() || open.some(({ state, error }) => state === 'failed' && mayRetry(error));
}

function subscribe(listener: () => void): () => void {
  const ends = [subscribeToActs(listener), decisions?.subscribe(listener)];
  return () => {
    for (const end of ends) end?.();
  };
}

export function useIsOnItsWay(): boolean {
  return useSyncExternalStore(subscribe, isOnItsWay);
}

/** Resolves when nothing is on its way any more, or after `mostMs`. */
export async function whenSent(clock: PageClock, mostMs: number): Promise<void> {
  if (!isOnItsWay()) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      stop();
      timer.cancel();
      resolve();
    };
    const stop = subscribe(() => {
      if (!isOnItsWay()) end();
    });
    const timer = clock.after(mostMs, end);
  });
}

/** The browser asks whether to leave the page while something is unsent. Returns what ends it. */
export function guardLeaving(target: EventTarget): () => void {
  const stay = (event: Event) => {
    if (isUnsent()) event.preventDefault();
  };
  target.addEventListener('beforeunload', stay);
  return () => target.removeEventListener('beforeunload', stay);
}
