/** The claims that this page holds: renewed while it is open and shown, and given back when it goes. */
import { AnswerError } from '../api/ask.ts';
import { forPage, isPageBefore } from '../api/page-id.ts';
import { claim, leave, release } from '../api/queue.ts';
import type { PageClock } from '../clock.ts';

/** Well below the lease, so that one lost request loses no claim. */
const RENEW_MS = 15_000;
/** A claim that is not renewed ends (docs/operators.md, "The review queue"). */
const LEASE_MS = 120_000;

/**
 * `asked`: the answer is on its way. `held`: by this operator; `wasRefused`: this page did not get it before. Else
 * another one holds it, or it is not in the queue.
 */
export type ClaimState =
  | { readonly is: 'asked' | 'none' }
  | { readonly is: 'held'; readonly wasRefused: boolean }
  | { readonly is: 'other'; readonly login: string; readonly until: string };

export const NOT_CLAIMED: ClaimState = { is: 'none' };

/** The claims of the operator whom the page shows; null: nobody is signed in. */
let shown: Claims | null = null;

/** Gives all claims back while the session that gives them back still goes on. */
export async function giveClaimsBack(): Promise<void> {
  await shown?.end();
}

export class Claims {
  readonly #operator: number;
  readonly #clock: PageClock;
  readonly #states = new Map<number, ClaimState>();
  /** When what is held was asked for last, on `#clock`. */
  readonly #heldSince = new Map<number, number>();
  readonly #listeners = new Set<() => void>();

  /** `operator`: the id of the one who claims. */
  constructor(operator: number, clock: PageClock) {
    this.#operator = operator;
    this.#clock = clock;
  }

  /** Renews from now on. Returns what ends it, which gives everything back. */
  start(): () => void {
    const renew = () => {
      this.#endLeases();
      if (document.visibilityState !== 'visible') return;
      // Also what another operator holds: the application is on the page, and may be free by now.
      for (const [id, { is }] of this.#states) if (is !== 'none') void this.#ask(id);
    };
    const end = () => void this.end();
    shown = this;
    const timer = this.#clock.every(RENEW_MS, renew);
    document.addEventListener('visibilitychange', renew);
    window.addEventListener('pagehide', end);
    return () => {
      timer.cancel();
      document.removeEventListener('visibilitychange', renew);
      window.removeEventListener('pagehide', end);
      if (shown === this) shown = null;
      end();
      this.#states.clear();
      this.#heldSince.clear();
    };
  }

  /** Gives everything back. What is still on the page then is claimed again with the next renewal. */
  async end(): Promise<void> {
    const left = leave(this.#clock, this.#operator);
    // The browser may show the page again as it was.
    for (const id of this.#mine()) this.#set(id, { is: 'asked' });
    await left;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  stateOf(id: number): ClaimState {
    return this.#states.get(id) ?? NOT_CLAIMED;
  }

  /** Takes note of a claim that `claim-next` made. */
  note(id: number): void {
    this.#hold(id, this.#clock.monotonicMs());
  }

  /** Claims the application, unless this page holds it. */
  keep(id: number): void {
    if (this.stateOf(id).is === 'held') return;
    this.#set(id, { is: 'asked' });
    void this.#ask(id);
  }

  /** Claims the application, which was read as free, where the page did not get it before. */
  tryAgain(id: number): void {
    const is = this.#states.get(id)?.is;
    if (is === 'other' || is === 'none') void this.#ask(id);
  }

  /** Gives the application back. */
  give(id: number): void {
    if (this.#mine().includes(id)) void release(this.#clock, id, this.#operator);
    this.forget(id);
  }

  /** Renews it no more: it was decided, or skipped, and its lease ends by itself. */
  forget(id: number): void {
    this.#states.delete(id);
    this.#heldSince.delete(id);
    this.#tell();
  }

  #mine(): number[] {
    return [...this.#states].filter(([, { is }]) => is === 'held' || is === 'asked').map(([id]) => id);
  }

  async #ask(id: number): Promise<void> {
    const askedAt = this.#clock.monotonicMs();
    const page = forPage();
    try {
      await claim(id, page);
      if (isPageBefore(page)) return;
      // Given back meanwhile: the answer came too late.
      if (!this.#states.has(id)) await release(this.#clock, id, this.#operator);
      else this.#hold(id, askedAt);
    } catch (error) {
      if (isPageBefore(page) || !this.#states.has(id)) return;
      if (error instanceof AnswerError) this.#refused(id, error);
    }
  }

  #refused(id: number, { status, body }: AnswerError): void {
    const by = body?.by as { login: string } | undefined;
    const until = body?.until;
    // Without an end it is no claim: a decision is proposed, and the application tells of it.
    if (status === 409 && by && typeof until === 'string')
      this.#set(id, { is: 'other', login: by.login, until });
    else if (status >= 400 && status < 500 && status !== 429) this.#set(id, NOT_CLAIMED);
  }

  #hold(id: number, since: number): void {
    this.#heldSince.set(id, since);
    const before = this.#states.get(id);
    const wasRefused =
      before?.is === 'held' ? before.wasRefused : before?.is === 'other' || before?.is === 'none';
    this.#set(id, { is: 'held', wasRefused });
  }

  /** Where no answer renewed a claim for the time of its lease, another operator may have it. */
  #endLeases(): void {
    const now = this.#clock.monotonicMs();
    for (const [id, { is }] of this.#states)
      if (is === 'held' && now - this.#heldSince.get(id)! >= LEASE_MS) this.#set(id, { is: 'asked' });
  }

  #set(id: number, state: ClaimState): void {
    this.#states.set(id, state);
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
