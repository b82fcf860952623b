/** The desk of the model: operators who claim, propose, undo, confirm and decline, and a loop that applies (D48). */
import { type ReviewAction, TRANSITIONS } from '../../src/domain/application/lifecycle.ts';
import { operatorName } from '../../src/domain/operator/operator-name.ts';
import type * as H from './history.ts';
import { UNDO_SECONDS } from './rules/undone.ts';

interface OneProposal extends Omit<H.StoredProposal, 'state' | 'returnedFor' | 'recorded'> {
  state: H.StoredProposal['state'];
  returnedFor: H.StoredProposal['returnedFor'];
  recorded: string[];
  secondId: number | null;
  /** The moves that the maker knew of. */
  readonly decidedOn: number;
  readonly time: Time;
  readonly application: H.StoredApplication;
}

interface Time {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What the desk needs of the model. */
export interface DeskWorld {
  /** An application of the store, as it is then and later. */
  readonly at: (which: number) => H.StoredApplication;
  readonly move: (application: H.StoredApplication, move: Omit<H.Move, 'from' | 'to'>) => void;
  /** Time passes: a call, or so many milliseconds. */
  readonly pass: (ms?: number) => Time;
  readonly reviews: H.Review[];
}

export class ModelDesk {
  /** The last one needs a second operator for everything. */
  readonly operators: readonly H.DeskOperator[] = [1, 2, 3].map((id) => ({ id, hasAuthority: id < 3 }));
  readonly acts: H.DeskAct[] = [];
  readonly #proposals: OneProposal[] = [];
  readonly #claims = new Map<number, number>();
  readonly #world: DeskWorld;

  constructor(world: DeskWorld) {
    this.#world = world;
  }

  claim(which: number, operatorId: number): void {
    const { id, status } = this.#world.at(which);
    const isOthers = this.#open(id).some(({ makerId }) => makerId !== operatorId);
    const isFree = (this.#claims.get(id) ?? operatorId) === operatorId && !isOthers && status === 'in_review';
    if (isFree) this.#claims.set(id, operatorId);
    this.#note('claim', operatorId, id, isFree);
  }

  release(which: number, operatorId: number): void {
    const { id } = this.#world.at(which);
    if (this.#claims.get(id) === operatorId) this.#claims.delete(id);
    this.#note('release', operatorId, id, true);
  }

  propose(which: number, operatorId: number, action: ReviewAction): void {
    const application = this.#world.at(which);
    const { id, status, moves } = application;
    const isFree = (this.#claims.get(id) ?? operatorId) === operatorId && this.#open(id).length === 0;
    const isDone = isFree && TRANSITIONS[action].from.includes(status);
    const proposalId = this.#proposals.length + 1;
    const time = this.#note('propose', operatorId, id, isDone, { proposalId, action });
    if (!isDone) return;
    this.#claims.delete(id);
    this.#proposals.push({
      ...{ id: proposalId, applicationId: id, action, makerId: operatorId, state: 'proposed' as const },
      ...{ returnedFor: null, recorded: [], secondId: null, decidedOn: moves.length, time, application },
    });
  }

  undo(which: number): void {
    const proposal = this.#proposals[which % Math.max(1, this.#proposals.length)];
    if (proposal === undefined) return;
    const { id: proposalId, makerId, applicationId, state } = proposal;
    const isDone = state === 'proposed' || state === 'undone';
    if (isDone) proposal.state = 'undone';
    const time = this.#note('undo', makerId, applicationId, isDone, { proposalId });
    if (state === 'applied') this.acts.push({ ...this.acts.pop()!, ...time, end: 'late' });
  }

  /** A second operator confirms or declines. */
  answer(which: number, operatorId: number, act: 'confirm' | 'decline'): void {
    const proposal = this.#proposals[which % Math.max(1, this.#proposals.length)];
    if (proposal === undefined) return;
    const { id: proposalId, applicationId, makerId } = proposal;
    const isRight = operatorId !== makerId && (act === 'decline' || this.#mayConfirm(proposal, operatorId));
    const isDone = this.#isWaiting(proposal) && isRight;
    if (isDone && act === 'confirm') proposal.secondId = operatorId;
    if (isDone && act === 'decline') {
      proposal.state = 'declined';
      proposal.recorded.push('proposal decline');
    }
    this.#note(act, operatorId, applicationId, isDone, { proposalId });
  }

  /** The time to undo passes, and the loop applies what is due. */
  wait(): void {
    this.#world.pass(UNDO_SECONDS * 1_000);
    for (const proposal of this.#proposals) if (!this.#isWaiting(proposal)) this.#apply(proposal);
  }

  /** What still waits is declined or applied; the proposals as they are then. */
  end(): H.StoredProposal[] {
    for (const [place, { makerId }] of this.#proposals.entries()) {
      this.answer(place, makerId === 1 ? 2 : 1, 'decline');
    }
    this.wait();
    return this.#proposals.map(({ id, applicationId, action, makerId, state, returnedFor, recorded }) => ({
      ...{ id, applicationId, action, makerId, state, returnedFor, recorded },
    }));
  }

  #apply(proposal: OneProposal): void {
    const { application, applicationId, action, makerId, secondId, decidedOn, time } = proposal;
    if (proposal.state !== 'proposed') return;
    if (application.moves.length !== decidedOn) {
      proposal.state = 'returned';
      proposal.returnedFor = 'changed';
      proposal.recorded.push('proposal return');
      return;
    }
    const second = secondId === null ? null : operatorName(secondId);
    this.#world.move(application, { action, actor: operatorName(makerId), second });
    proposal.state = 'applied';
    proposal.recorded.push(`application ${action}`);
    const { toMs } = this.#world.pass();
    const seen = { atMs: toMs, messageIds: [] };
    this.#world.reviews.push({
      ...{ operatorId: makerId, applicationId, action, fromMs: time.fromMs, toMs, end: 'done', seen },
    });
  }

  #open(id: number): OneProposal[] {
    return this.#proposals.filter(({ applicationId, state }) => applicationId === id && state === 'proposed');
  }

  #isWaiting({ state, action, makerId, secondId }: OneProposal): boolean {
    return (
      state === 'proposed' && secondId === null && (action === 'disburse' || !this.#hasAuthority(makerId))
    );
  }

  #mayConfirm({ action, makerId }: OneProposal, operatorId: number): boolean {
    return action === 'reject' || this.#hasAuthority(makerId) || this.#hasAuthority(operatorId);
  }

  #hasAuthority(operatorId: number): boolean {
    return this.operators.some(({ id, hasAuthority }) => id === operatorId && hasAuthority);
  }

  #note(
    act: H.DeskAct['act'],
    operatorId: number,
    applicationId: number,
    isDone: boolean,
    of: Partial<Pick<H.DeskAct, 'proposalId' | 'action'>> = {},
  ): Time {
    const time = this.#world.pass();
    const { proposalId = null, action = null } = of;
    const isNone = act === 'propose' && !isDone;
    this.acts.push({
      ...{ act, operatorId, applicationId, action, ...time, end: isDone ? 'done' : 'refused' },
      proposalId: isNone ? null : proposalId,
    });
    return time;
  }
}
