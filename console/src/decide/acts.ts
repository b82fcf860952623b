/** The decisions that were made on this page and are not over: on their way, to be undone, or failed. */
import type { QueryClient } from '@tanstack/react-query';
import type {
  MadeProposalReply,
  NewProposalBody,
  ProposalReply,
} from '../../../src/subjects/desk/routes/proposal-forms.ts';
import { NotSignedIn } from '../api/act.ts';
import { showProposal } from '../api/application.ts';
import { AnswerError } from '../api/ask.ts';
import { propose, undo, undoByKey } from '../api/proposals.ts';
import type { PageClock } from '../clock.ts';

/** What was decided, and on which state of the application. */
export interface SentDecision {
  readonly applicationId: number;
  readonly body: NewProposalBody;
  /** The entity tag of the application as it was shown. */
  readonly etag: string;
}

export interface DecisionAct extends SentDecision {
  /** The key that makes the act count once. */
  readonly key: string;
  /** `over`: the proposal came too late to be undone, as its own state says. */
  readonly state: 'sending' | 'proposed' | 'undoing' | 'undone' | 'over' | 'failed';
  readonly proposal: ProposalReply | null;
  /** Undone before it was sent: its undo follows the answer. */
  readonly isUnwanted: boolean;
  /** Until then it can be undone, on the clock of the `Acts`. */
  readonly undoUntil: number;
  /** Why it failed, or why it could not be undone. */
  readonly error: unknown;
}

const TRIES = 4;
const FIRST_WAIT_MS = 1_000;
/** How long the page says what became of an act. */
const SAID_MS = 8_000;

export class Acts {
  readonly #queries: QueryClient;
  readonly #clock: PageClock;
  readonly #listeners = new Set<() => void>();
  #acts: readonly DecisionAct[] = [];
  #isOpen = false;

  constructor(queries: QueryClient, clock: PageClock) {
    this.#queries = queries;
    this.#clock = clock;
  }

  /** Sends again by itself from now on. Returns what ends it: the next try might go out as another operator. */
  start(): () => void {
    this.#isOpen = true;
    return () => {
      this.#isOpen = false;
    };
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Oldest first. */
  list = (): readonly DecisionAct[] => this.#acts;

  decide(decision: SentDecision): void {
    void this.#send(this.#open(decision, crypto.randomUUID()));
  }

  /**
   * As `decide`, for a dialog that stays until the answer: what was refused rejects, and is nowhere else. With the same
   * `key` the act counts once.
   */
  async decideNow(decision: SentDecision, key: string): Promise<void> {
    const { applicationId, body, etag } = decision;
    const { body: proposal, sentAt } = await propose(applicationId, body, { etag, key });
    void this.#proposed(this.#open(decision, key), proposal, sentAt);
  }

  /** A newer act says more than the failure of an older one on the same application. */
  #open(decision: SentDecision, key: string): DecisionAct {
    const open = { state: 'sending', proposal: null, isUnwanted: false, undoUntil: 0, error: null } as const;
    const act: DecisionAct = { ...decision, ...open, key };
    const isOlder = ({ state, applicationId }: DecisionAct) =>
      state === 'failed' && applicationId === decision.applicationId;
    this.#put([...this.#acts.filter((known) => !isOlder(known)), act]);
    return act;
  }

  /** Sends a failed act, or its failed undo, again: with the same key, so that it counts once. */
  retry(key: string): void {
    const act = this.#acts.find((known) => known.key === key);
    if (act === undefined) return;
    if (act.proposal !== null) {
      void this.#undo(act, act.proposal);
      return;
    }
    this.#change(key, { state: 'sending', error: null });
    void this.#send(act);
  }

  /** Undoes the act with the key; without one the newest that can be undone, also while it is still being sent. */
  undo(key?: string): void {
    const act = this.#acts.findLast((known) => mayUndo(known) && (key === undefined || known.key === key));
    if (act === undefined) return;
    if (act.proposal !== null) {
      void this.#undo(act, act.proposal);
      return;
    }
    this.#change(act.key, { isUnwanted: true });
    // At once: the tab may be closed before the answer. Where this fails, the undo after the answer does it.
    void undoByKey(act.key).catch(() => undefined);
  }

  dismiss(key: string): void {
    this.#put(this.#acts.filter((act) => act.key !== key));
  }

  async #send(act: DecisionAct): Promise<void> {
    const { key, applicationId, body, etag } = act;
    for (let tries = 1; ; tries += 1) {
      try {
        const { body: proposal, sentAt } = await propose(applicationId, body, { etag, key });
        return await this.#proposed(act, proposal, sentAt);
      } catch (error) {
        const isOver = tries === TRIES || !mayPass(error);
        if (!isOver) await this.#wait(FIRST_WAIT_MS * 2 ** (tries - 1));
        if (isOver || !this.#isOpen) {
          // What was refused for good is not there to be undone.
          if (this.#isUnwanted(key) && !mayRetry(error)) return await this.#sayUndone(key);
          this.#change(key, { state: 'failed', error });
          return;
        }
      }
    }
  }

  async #proposed(act: DecisionAct, { now, ...proposal }: MadeProposalReply, sentAt: number): Promise<void> {
    const { key } = act;
    // The answer may be that of a repetition: its proposal was made earlier, and may have ended.
    const undoUntil = sentAt + Date.parse(proposal.apply_at) - Date.parse(now);
    showProposal(this.#queries, proposal);
    this.#change(key, { proposal, undoUntil });
    if (proposal.state === 'undone') return this.#sayUndone(key);
    if (this.#isUnwanted(key)) return this.#undo(act, proposal);
    if (proposal.state !== 'proposed' || undoUntil <= this.#clock.monotonicMs()) return this.#sayOver(key);
    this.#change(key, { state: 'proposed' });
    await this.#wait(undoUntil - this.#clock.monotonicMs());
    if (this.#acts.find((known) => known.key === key)?.state === 'proposed') this.dismiss(key);
  }

  async #sayOver(key: string): Promise<void> {
    this.#change(key, { state: 'over' });
    // What came back is told beside it.
    void this.#queries.invalidateQueries({ queryKey: ['proposals'] });
    await this.#wait(SAID_MS);
    this.dismiss(key);
  }

  async #undo({ key }: DecisionAct, { id }: ProposalReply): Promise<void> {
    this.#change(key, { state: 'undoing', error: null });
    try {
      showProposal(this.#queries, await undo(id));
      await this.#sayUndone(key);
    } catch (error) {
      this.#change(key, { state: 'failed', error });
    }
  }

  async #sayUndone(key: string): Promise<void> {
    this.#change(key, { state: 'undone' });
    await this.#wait(SAID_MS);
    this.dismiss(key);
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }

  #isUnwanted(key: string): boolean {
    return this.#acts.some((act) => act.key === key && act.isUnwanted);
  }

  #change(key: string, change: Partial<DecisionAct>): void {
    this.#put(this.#acts.map((act) => (act.key === key ? { ...act, ...change } : act)));
  }

  #put(acts: readonly DecisionAct[]): void {
    this.#acts = acts;
    for (const listener of this.#listeners) listener();
  }
}

/** Whether an undo takes an act back. */
export function mayUndo({ state, isUnwanted }: DecisionAct): boolean {
  return state === 'proposed' || (state === 'sending' && !isUnwanted);
}

/** Whether an operator may send a failed act again. */
export function mayRetry(error: unknown): boolean {
  return mayPass(error) || error instanceof NotSignedIn;
}

/** Whether a failure may pass. The act counts once, so an unknown end is tried again too. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof AnswerError)) return false;
  return error.status === 0 || error.status === 429 || error.status >= 500;
}
