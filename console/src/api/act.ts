/** What operators do. Where the service wants a sign-in first, the act waits for it, and is then sent as it was. */
import { useSyncExternalStore } from 'react';
import { AnswerError, ask, type Reply, type Request, shownOperator } from './ask.ts';

/** `session`: it ended. `proof`: its sign-in is too old for the act. */
export type SignInNeed = 'session' | 'proof';

/** The sign-in that an act waited for did not come. */
export class NotSignedIn extends Error {}

interface Waiting {
  readonly need: SignInNeed;
  readonly goOn: () => void;
  readonly giveUp: () => void;
}

/** A service that refuses an act after so many sign-ins refuses the act. */
const MOST_WAITS = 3;

let waiting: readonly Waiting[] = [];
const listeners = new Set<() => void>();

/**
 * As `ask`. With an idempotency key the act counts once, because each sending has the same one. Throws a `NotSignedIn`
 * where the page shows another operator by now: an act is never sent as somebody else.
 */
export async function act<Body>(...request: Request): Promise<Reply<Body>> {
  const operator = shownOperator();
  for (let waits = 0; ; waits += 1) {
    if (shownOperator() !== operator) throw new NotSignedIn();
    try {
      return await ask<Body>(...request);
    } catch (error) {
      const need = signInNeed(error);
      if (need === null || waits === MOST_WAITS) throw error;
      if (shownOperator() !== operator) throw new NotSignedIn();
      await new Promise<void>((goOn, giveUp) => {
        setWaiting([...waiting, { need, goOn, giveUp: () => giveUp(new NotSignedIn()) }]);
      });
    }
  }
}

/** Which sign-in a refusal wants; null: it is no such refusal. */
function signInNeed(error: unknown): SignInNeed | null {
  if (!(error instanceof AnswerError)) return null;
  if (error.status === 401) return 'session';
  return error.status === 403 && error.body?.needs === 'sign-in' ? 'proof' : null;
}

/** The operator has signed in again: what waits is sent. */
export function goOn(): void {
  for (const one of setWaiting([])) one.goOn();
}

/** Nobody signs in again: what waits fails with a `NotSignedIn`. */
export function giveUp(): void {
  for (const one of setWaiting([])) one.giveUp();
}

/** Whether an act waits for a sign-in of this kind. */
export function useWaits(need: SignInNeed): boolean {
  return useSyncExternalStore(subscribe, () => waiting.some((one) => one.need === need));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns what waited before. */
function setWaiting(now: readonly Waiting[]): readonly Waiting[] {
  const before = waiting;
  waiting = now;
  for (const listener of listeners) listener();
  return before;
}
