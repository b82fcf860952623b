/** The decisions that were made on this page and are not over: on their way, to be undone, or failed. */
import type { QueryClient } from '@tanstack/react-query';
import type { NewProposalBody, ProposalReply } from '../../../src/desk/routes/proposal-forms.ts';
import { NotSignedIn } from '../api/act.ts';
import { showProposal } from '../api/application.ts';
import { AnswerError } from '../api/ask.ts';
import { propose, undo } from '../api/proposals.ts';

/** What was decided, and on which state of the application. */
export interface Decision {
  readonly applicationId: number;
  readonly body: NewProposalBody;
  /** The entity tag of the application as it was shown. */
  readonly etag: string;
}

export interface Act extends Decision {
  /** The key that makes the act count once. */
  readonly key: string;
  readonly state: 'sending' | 'proposed' | 'undoing' | 'undone' | 'failed';
  readonly proposal: ProposalReply | null;
  /** Until then it can be undone, by `performance.now()`. */
  readonly undoUntil: number;
  /** Why it failed, or why it could not be undone. */
  readonly error: unknown;
}

const TRIES = 4;
const FIRST_WAIT_MS = 1_000;
/** How long the page says that an act is undone. */
const SAID_MS = 8_000;

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export class Acts {
  readonly #queries: QueryClient;
  readonly #listeners = new Set<() => void>();
  #acts: readonly Act[] = [];
  #isOpen = false;

  constructor(queries: QueryClient) {
    this.#queries = queries;
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
  list = (): readonly Act[] => this.#acts;

  decide(decision: Decision): void {
    const key = crypto.randomUUID();
    const act: Act = { ...decision, key, state: 'sending', proposal: null, undoUntil: 0, error: null };
    this.#put([...this.#acts, act]);
    void this.#send(act);
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

  /** Undoes the act with the key; without one the newest that can be undone. */
  undo(key?: string): void {
    const act = this.#acts.findLast(
      (known) => known.state === 'proposed' && (key === undefined || known.key === key),
    );
    if (act?.proposal != null) void this.#undo(act, act.proposal);
  }

  dismiss(key: string): void {
    this.#put(this.#acts.filter((act) => act.key !== key));
  }

  async #send(act: Act): Promise<void> {
    const { key, applicationId, body, etag } = act;
    for (let tries = 1; ; tries += 1) {
      try {
        const { body: proposal, sentAt } = await propose(applicationId, body, { etag, key });
        const undoUntil = sentAt + Date.parse(proposal.apply_at) - Date.parse(proposal.at);
        showProposal(this.#queries, proposal);
        this.#change(key, { state: 'proposed', proposal, undoUntil });
        await wait(Math.max(0, undoUntil - performance.now()));
        if (this.#acts.find((known) => known.key === key)?.state === 'proposed') this.dismiss(key);
        return;
      } catch (error) {
        const isOver = tries === TRIES || !mayPass(error);
        if (!isOver) await wait(FIRST_WAIT_MS * 2 ** (tries - 1));
        if (isOver || !this.#isOpen) {
          this.#change(key, { state: 'failed', error });
          return;
        }
      }
    }
  }

  async #undo({ key }: Act, { id }: ProposalReply): Promise<void> {
    this.#change(key, { state: 'undoing', error: null });
    try {
      showProposal(this.#queries, await undo(id));
      this.#change(key, { state: 'undone' });
      await wait(SAID_MS);
      this.dismiss(key);
    } catch (error) {
      this.#change(key, { state: 'failed', error });
    }
  }

  #change(key: string, change: Partial<Act>): void {
    this.#put(this.#acts.map((act) => (act.key === key ? { ...act, ...change } : act)));
  }

  #put(acts: readonly Act[]): void {
    this.#acts = acts;
    for (const listener of this.#listeners) listener();
  }
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
