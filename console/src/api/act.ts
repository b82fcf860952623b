/** What operators do. Where the service wants a sign-in first, the act waits for it, and is then sent as it was. */
import { useSyncExternalStore } from 'react';
import type { ReviewAction } from '../../../src/domain/application/lifecycle.ts';
import { AnswerError, ask, type Reply, type Request, shownOperator } from './ask.ts';

/** `session`: it ended. `proof`: its sign-in is too old for the act. */
export type SignInNeed = 'session' | 'proof';

/** What an operator does that may wait for a sign-in, as the dialog names it. */
export interface About {
  readonly step: 'propose' | 'confirm';
  readonly act: ReviewAction;
  readonly applicationId: number;
}

/** The sign-in that an act waited for did not come. */
export class NotSignedIn extends Error {}

interface Waiting {
  readonly need: SignInNeed;
  /** null: the act has no name of its own. */
  readonly about: About | null;
  readonly goOn: () => void;
  readonly giveUp: () => void;
}

/** A service that refuses an act after so many sign-ins refuses the act. */
const MOST_WAITS = 3;

let waiting: readonly Waiting[] = [];
/** How many are not answered yet, with those that wait. */
let running = 0;
const listeners = new Set<() => void>();

/**
 * As `ask`. With an idempotency key the act counts once, because each sending has the same one. Throws a `NotSignedIn`
 * where the page shows another operator by now: an act is never sent as somebody else.
 */
export function act<Body>(...request: Request): Promise<Reply<Body>> {
  return actAbout<Body>(null, ...request);
}

/** The same for an act that a dialog can name. */
export async function actAbout<Body>(about: About | null, ...request: Request): Promise<Reply<Body>> {
  setRunning(running + 1);
  try {
    return await send<Body>(about, request);
  } finally {
    setRunning(running - 1);
  }
}

async function send<Body>(about: About | null, request: Request): Promise<Reply<Body>> {
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
        setWaiting([...waiting, { need, about, goOn, giveUp: () => giveUp(new NotSignedIn()) }]);
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

/** What waits for a sign-in of this kind. */
export function useWaiting(need: SignInNeed): readonly Pick<Waiting, 'about'>[] {
  return useSyncExternalStore(subscribeToActs, () => waiting).filter((one) => one.need === need);
}

/** How many acts are not answered yet, or wait for a sign-in. */
export function runningActs(): number {
  return running;
}

/** Hears of each change of what runs and waits. Returns what ends it. */
export function subscribeToActs(listener: () => void): () => void {
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

function setRunning(now: number): void {
  running = now;
  for (const listener of listeners) listener();
}
