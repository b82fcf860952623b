/** A partner at work: sends batches of all sizes, repeats each until its end is known, and notes the answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../../test/support/random.ts';
import type { Call } from '../../history/history.ts';
import type { ApplicantMaker, Applicants } from './applicants.ts';
import { call } from './call.ts';
import { ANSWER_WITHIN_MS, type PartnerKey, type World } from './world.ts';

const MOST = 60;
/** Batches without an Idempotency-Key, sent once; of partners without a cap, whose batches register whole or not. */
const ONCE_SHARE = 0.15;
/** Batches that two services get at the same moment. */
const TWICE_SHARE = 0.1;
/** Requests whose client leaves before the answer. */
const IMPATIENT_SHARE = 0.03;
/**
 * Of the answers that registered nothing the service remembers about the newest 1,000 of a key (D36); the rest is for
 * batches that were sent at the same time.
 */
const SURELY_REMEMBERED = 900;
/** Answered batches that are sent again at the end. */
const SAMPLE_SHARE = 0.05;
const MOST_SAMPLES = 500;
/** The longest faults take a minute or two. */
const END_WITHIN_MS = 10 * 60_000;

interface Job {
  readonly applicants: Applicants;
  readonly body: string;
  readonly key: string | null;
  /** Grows with each answer. */
  readonly calls: Call[];
}

export class PartnerClient {
  readonly #world: World;
  readonly #partner: PartnerKey;
  readonly #maker: ApplicantMaker;
  readonly #random: Random;
  readonly #name: string;
  readonly #samples: Job[] = [];
  readonly #loop: Promise<void>;
  #serial = 0;
  #isOver = false;
  /** Batches that were answered with 200. */
  answered = 0;

  /** Sends until `stop`, one batch after the other. `name` occurs once in a run. */
  constructor(world: World, partner: PartnerKey, name: string, maker: ApplicantMaker, random: Random) {
    this.#world = world;
    this.#partner = partner;
    this.#name = name;
    this.#maker = maker;
    this.#random = random;
    this.#loop = this.#run();
  }

  /** Resolves when the end of the last batch is known; needs a healthy service. */
  stop(): Promise<void> {
    this.#isOver = true;
    return this.#loop;
  }

  /** Sends a sample of the batches that are remembered once more; needs a healthy service. */
  async replay(): Promise<void> {
    const remembered = this.#surelyRemembered();
    for (const job of this.#samples) {
      const isRemembered = hasRegistered(job.calls) || remembered.has(job.calls);
      if (isRemembered) await this.#untilKnown(job, job.calls.length);
    }
  }

  /** The calls of the partner's newest batches that registered nothing. */
  #surelyRemembered(): Set<readonly Call[]> {
    const refused = this.#world.recorder.batches
      .filter(({ partnerId, hasKey }) => partnerId === this.#partner.id && hasKey)
      .map(({ calls }) => calls)
      .filter((calls) => !hasRegistered(calls));
    return new Set(refused.slice(-SURELY_REMEMBERED));
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      await this.#world.gate.through(() => this.#sendOne());
      await sleep(this.#random.between(0, this.#world.pauseMs));
    }
  }

  async #sendOne(): Promise<void> {
    // A part of a capped partner's batch may be over quota; without an answer nothing says which part.
    const isOnce = this.#partner.cap === null && this.#random.isLucky(ONCE_SHARE);
    const applicants = this.#maker.make(this.#random.between(1, MOST), isOnce, this.#random);
    const body = JSON.stringify({ applications: applicants.elements });
    const key = isOnce ? null : `${this.#name}-${++this.#serial}`;
    const job = { applicants, body, key, calls: [] };
    this.#world.recorder.batches.push({
      partnerId: this.#partner.id,
      hasKey: key !== null,
      applications: applicants.sent,
      isAllNew: isOnce,
      calls: job.calls,
    });
    if (isOnce) return void (await this.#post(job));
    if (this.#random.isLucky(TWICE_SHARE)) await Promise.all([this.#post(job, 0), this.#post(job, 1)]);
    await this.#untilKnown(job);
    if (this.#samples.length < MOST_SAMPLES && this.#random.isLucky(SAMPLE_SHARE)) this.#samples.push(job);
  }

  /** The same key until the answer is 200; calls before `from` do not count. Gives up after a while. */
  async #untilKnown(job: Job, from = 0): Promise<void> {
    const { recorder, promises } = this.#world;
    const giveUpAtMs = recorder.nowMs() + END_WITHIN_MS;
    while (!job.calls.slice(from).some(({ answer }) => answer?.status === 200)) {
      const { answer } = await this.#post(job);
      // Another status is a broken promise, and would come again.
      if (answer !== null && answer.status !== 200 && answer.status !== 500) return;
      if (recorder.nowMs() > giveUpAtMs) {
        const { length } = job.calls;
        promises.hold(
          'recovery',
          false,
          () => `a batch of ${this.#partner.name} has no end after ${length} requests`,
        );
        return;
      }
      if (answer?.status !== 200) await sleep(this.#random.between(50, 300));
    }
  }

  async #post(job: Job, service = this.#random.between(0, this.#world.urls.length - 1)): Promise<Call> {
    const isImpatient = this.#random.isLucky(IMPATIENT_SHARE);
    const made = await call(this.#world, {
      url: this.#world.urls[service % this.#world.urls.length]!,
      partner: this.#partner,
      ...{ key: job.key, body: job.body, sent: job.applicants.sent },
      leaveAfterMs: isImpatient ? this.#random.between(1, 100) : ANSWER_WITHIN_MS,
    });
    job.calls.push(made);
    if (made.answer?.status === 200) this.answered += 1;
    return made;
  }
}

function hasRegistered(calls: readonly Call[]): boolean {
  return calls.some(({ answer }) => answer?.outcomes?.some(({ kind }) => kind === 'registered') ?? false);
}
