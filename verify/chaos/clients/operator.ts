/** An operator who reviews applications of all partners by the command line all the time (D34). */
import { setTimeout as sleep } from 'node:timers/promises';
import { toApplicationId } from '../../../src/domain/application/ids.ts';
import { REVIEW_ACTIONS } from '../../../src/domain/application/lifecycle.ts';
import { type OperatorContext, OperatorError } from '../../../src/program/operations/operator-context.ts';
import { reviewApplication } from '../../../src/subjects/applications/uses/applications.ts';
import type { Random } from '../../../test/support/random.ts';
import type { Review } from '../../history/history.ts';
import type { Stage } from '../stage.ts';
import type { Store } from '../store/store.ts';
import { lookUnderWay } from '../under-way.ts';
import type { World } from './world.ts';

const PAUSE_MS = 100;

export class Operator {
  readonly #world: World;
  readonly #store: Store;
  readonly #context: OperatorContext;
  readonly #random: Random;
  readonly #loop: Promise<void>;
  #isOver = false;

  constructor(world: World, { store, operator }: Stage, random: Random) {
    this.#world = world;
    this.#store = store;
    this.#context = operator;
    this.#random = random;
    this.#loop = this.#run();
  }

  stop(): Promise<void> {
    this.#isOver = true;
    return this.#loop;
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      await this.#world.gate.through(() => this.#review());
      await sleep(this.#random.between(0, PAUSE_MS));
    }
  }

  async #review(): Promise<void> {
    const { reviewable } = this.#world.recorder;
    if (reviewable.length === 0) return;
    const { id, status } = reviewable[this.#random.between(0, reviewable.length - 1)]!;
    const isFirst = status === 'in_review' && this.#random.isLucky(0.5);
    const action = isFirst ? 'approve' : REVIEW_ACTIONS[this.#random.between(0, REVIEW_ACTIONS.length - 1)]!;
    await this.review(id, action);
  }

  /** Reviews the application, and notes how the review ended. */
  async review(id: number, action: Review['action']): Promise<Review['end']> {
    const { recorder } = this.#world;
    const fromMs = recorder.nowMs();
    const end: Review['end'] = await reviewApplication(
      this.#context,
      toApplicationId(String(id)),
      action,
      'the chaos run reviews',
    ).then(
      () => 'done' as const,
      (error: unknown) => (error instanceof OperatorError ? 'refused' : 'unknown'),
    );
    const toMs = recorder.nowMs();
    const seen = end === 'done' ? await lookUnderWay(this.#store, recorder, { applicationId: id }) : null;
    recorder.reviews.push({ operatorId: null, applicationId: id, action, fromMs, toMs, end, seen });
    return end;
  }
}
