/** Operators of the desk, who meet at the newest applications, and the look at how their proposals ended (D48). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReviewAction } from '../../../src/domain/application/lifecycle.ts';
import type { ProposalState } from '../../../src/subjects/desk/rules/proposal.ts';
import type { Random } from '../../../test/support/random.ts';
import type { DeskOperator } from '../../history/history.ts';
import { UNDO_SECONDS } from '../../history/rules/undone.ts';
import type { Stage } from '../stage.ts';
import { lookUnderWay } from '../under-way.ts';
import { DeskActs, type Proposed } from './desk-acts.ts';
import type { World } from './world.ts';

const PAUSE_MS = 100;
const LOOK_MS = 200;
const NEWEST = 60;
const ANSWERED_SHARE = 0.5;
const DECLINED_SHARE = 0.2;
/** For each claim that the operator has. */
const RELEASED_SHARE = 0.05;
const CLAIMED_SHARE = 0.4;
const ONWARDS_SHARE = 0.7;
const UNDONE_SHARE = 0.3;
/** In milliseconds. Some come too late. */
const LATEST_UNDO = UNDO_SECONDS * 1_300;
/** After its time to undo a proposal is applied within a second; the rest is for a busy machine. */
const APPLIED_WITHIN_MS = 2 * 60_000;
const STATES = 'SELECT p.id, p.state FROM proposals p WHERE p.id = ANY ($1::bigint[])';

/** A proposal whose end was not seen yet. */
interface Open extends Proposed {
  /** When its maker takes it back; Infinity: never, or it was tried. */
  undoAtMs: number;
  isConfirmed: boolean;
}

export class Desk {
  readonly acts: DeskActs;
  readonly #world: World;
  readonly #store: Stage['store'];
  readonly #random: Random;
  readonly #operators: readonly number[];
  readonly #loops: Promise<unknown>;
  #open: Open[] = [];
  readonly #claims = new Map<number, number[]>();
  /** Nobody claims again what was given back: a release whose connection died may come late, and end the claim. */
  readonly #released = new Set<string>();
  #isOver = false;

  constructor(world: World, { store, operator }: Stage, operators: readonly DeskOperator[], random: Random) {
    this.#world = world;
    this.#store = store;
    this.#random = random;
    this.#operators = operators.map(({ id }) => id);
    this.acts = new DeskActs(world.recorder, operator);
    this.#loops = Promise.all([
      ...this.#operators.map((id) => this.#every(PAUSE_MS, () => this.#work(id))),
      this.#every(LOOK_MS, () => this.#look()),
    ]);
  }

  /** Resolves when each proposal has its end; what waits is declined. Needs healthy programs, and gives up at last. */
  async stop(): Promise<void> {
    const { recorder, promises } = this.#world;
    this.#isOver = true;
    await this.#loops;
    const giveUpAtMs = recorder.nowMs() + APPLIED_WITHIN_MS;
    for (;;) {
      for (const one of this.#waiting()) await this.acts.decline(this.#otherThan(one.makerId), one);
      await this.#look();
      if (this.#open.length === 0 || recorder.nowMs() > giveUpAtMs) break;
      await sleep(LOOK_MS);
    }
    promises.hold('ends', this.#open.length === 0, () => `${this.#open.length} proposals are open for ever`);
  }

  /** Proposes, looks after the proposal until its end, and undoes it after a time, if one is given; null: refused. */
  async propose(
    makerId: number,
    id: number,
    action: ReviewAction,
    undoAfterMs = Number.POSITIVE_INFINITY,
    undoSeconds?: number,
  ): Promise<Proposed | null> {
    const made = await this.acts.propose(makerId, id, action, undoSeconds);
    if (made !== null) this.#open.push({ ...made, undoAtMs: made.fromMs + undoAfterMs, isConfirmed: false });
    return made;
  }

  async #every(ms: number, work: () => Promise<unknown>): Promise<void> {
    while (!this.#isOver) {
      await this.#world.gate.through(work);
      await sleep(this.#random.between(0, ms));
    }
  }

  async #work(operatorId: number): Promise<void> {
    const nowMs = this.#world.recorder.nowMs();
    const regretted = this.#open.find((one) => one.makerId === operatorId && one.undoAtMs <= nowMs);
    const waiting = this.#waiting();
    const claims = this.#claims.get(operatorId) ?? [];
    if (regretted !== undefined) {
      regretted.undoAtMs = Number.POSITIVE_INFINITY;
      await this.acts.undo(regretted);
    } else if (waiting.length > 0 && this.#random.isLucky(ANSWERED_SHARE)) {
      await this.#answer(operatorId, waiting[this.#random.between(0, waiting.length - 1)]!);
    } else if (this.#random.isLucky(RELEASED_SHARE * claims.length)) {
      const id = claims.shift()!;
      this.#released.add(`${operatorId} ${id}`);
      await this.acts.release(operatorId, id);
    } else await this.#begin(operatorId);
  }

  async #answer(operatorId: number, one: Open): Promise<void> {
    if (this.#random.isLucky(DECLINED_SHARE)) await this.acts.decline(operatorId, one);
    else if ((await this.acts.confirm(operatorId, one)) === 'done') one.isConfirmed = true;
  }

  /** Claims an application, or proposes a decision on it. */
  async #begin(operatorId: number): Promise<void> {
    const random = this.#random;
    const newest = this.#world.recorder.reviewable.slice(-NEWEST);
    if (newest.length === 0) return;
    const { id, status } = newest[random.between(0, newest.length - 1)]!;
    if (random.isLucky(CLAIMED_SHARE)) {
      if (this.#released.has(`${operatorId} ${id}`)) return;
      const isDone = (await this.acts.claim(operatorId, id)) === 'done';
      if (isDone) this.#claims.set(operatorId, [...(this.#claims.get(operatorId) ?? []), id]);
      return;
    }
    const onwards = status === 'in_review' ? 'approve' : 'disburse';
    const action = random.isLucky(ONWARDS_SHARE) ? onwards : 'reject';
    const undoAfterMs = random.isLucky(UNDONE_SHARE) ? random.between(0, LATEST_UNDO) : undefined;
    await this.propose(operatorId, id, action, undoAfterMs);
  }

  /** What was applied is a review from then on that it was seen. */
  async #look(): Promise<void> {
    const { recorder } = this.#world;
    const ids = this.#open.map(({ id }) => id);
    const found = await this.#store.database
      .query<{ id: string; state: ProposalState }>(STATES, [ids])
      .catch(() => null);
    const states = new Map(found?.rows.map(({ id, state }) => [Number(id), state]));
    const toMs = recorder.nowMs();
    const hasEnded = ({ id }: Open) => (states.get(id) ?? 'proposed') !== 'proposed';
    const ended = this.#open.filter(hasEnded);
    this.#open = this.#open.filter((one) => !hasEnded(one));
    for (const { id, applicationId, action, makerId: operatorId, fromMs } of ended) {
      if (states.get(id) !== 'applied') continue;
      const seen = await lookUnderWay(this.#store, recorder, { applicationId });
      recorder.reviews.push({ operatorId, applicationId, action, fromMs, toMs, end: 'done', seen });
    }
  }

  #waiting(): Open[] {
    return this.#open.filter(({ needsSecond, isConfirmed }) => needsSecond && !isConfirmed);
  }

  #otherThan(makerId: number): number {
    return this.#operators.find((id) => id !== makerId)!;
  }
}
