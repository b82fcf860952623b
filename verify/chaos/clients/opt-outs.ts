/** Applicants who ask for no more messages, by the channel's webhook, and whom the partner sends again later. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Phone } from '../../../src/domain/phone/phone.ts';
import { phoneIndexOf, toBigint } from '../../../src/seal/blind-indexes.ts';
import type { Random } from '../../../test/support/random.ts';
import { textWebhook } from '../../../test/support/whatsapp-api.ts';
import type { Stage } from '../stage.ts';
import { lookUnderWay } from '../under-way.ts';
import type { ApplicantMaker } from './applicants.ts';
import type { World } from './world.ts';

const PAUSE_MS = 1_000;
const AGAIN_MS = 200;
const WORDS = ['BAJA', 'no me escriban más', 'quiero darme de baja del servicio'];

export class OptOuts {
  readonly #world: World;
  readonly #stage: Stage;
  readonly #makers: readonly ApplicantMaker[];
  readonly #random: Random;
  readonly #loop: Promise<void>;
  #serial = 0;
  #isOver = false;

  constructor(world: World, stage: Stage, makers: readonly ApplicantMaker[], random: Random) {
    this.#world = world;
    this.#stage = stage;
    this.#makers = makers;
    this.#random = random;
    this.#loop = this.#run();
  }

  /** Resolves when the last opt-out is taken; needs a healthy service. */
  stop(): Promise<void> {
    this.#isOver = true;
    return this.#loop;
  }

  async #run(): Promise<void> {
    for (let round = 0; !this.#isOver; round += 1) {
      const maker = this.#makers[round % this.#makers.length]!;
      await this.#world.gate.through(() => this.#optOut(maker));
      await sleep(this.#random.between(0, PAUSE_MS / this.#makers.length));
    }
  }

  async #optOut(maker: ApplicantMaker): Promise<void> {
    const { recorder, urls } = this.#world;
    const { api, store, vault } = this.#stage;
    const phone = maker.somebody(this.#random);
    if (phone === null) return;
    this.#serial += 1;
    const text = WORDS[this.#serial % WORDS.length]!;
    const webhook = textWebhook({ from: phone.slice(1), id: `wamid.stop.${this.#serial}`, text });
    for (;;) {
      const url = urls[this.#random.between(0, urls.length - 1)]!;
      const [status] = await api.deliver(`${url}/webhooks/whatsapp`, [webhook]).catch(() => [null]);
      if (status === 200) break;
      await sleep(AGAIN_MS);
    }
    const phoneIndex = toBigint(phoneIndexOf(vault, phone as Phone));
    recorder.optOuts.push({ phone, seen: await lookUnderWay(store, recorder, { phoneIndex }) });
    maker.optedOut.push(phone);
  }
}
