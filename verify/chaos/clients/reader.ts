/** A partner that reads its feed and its quota all the time (D22, D41). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadEvent } from '../../history/history.ts';
import { ANSWER_WITHIN_MS, type PartnerKey, type World } from './world.ts';

const PAGE = 100;
const EVERY_MS = 300;
const TO_END_WITHIN_MS = 60_000;

interface Page {
  readonly events: readonly {
    readonly id: string;
    readonly type: ReadEvent['type'];
    readonly data: { readonly id: number; readonly id_number: string | null };
  }[];
  readonly next: string;
  readonly has_more: boolean;
}

export class Reader {
  readonly #world: World;
  readonly #partner: PartnerKey;
  readonly #events: ReadEvent[] = [];
  readonly #loop: Promise<void>;
  #cursor: string | null = null;
  #turn = 0;
  #isOver = false;

  constructor(world: World, partner: PartnerKey) {
    this.#world = world;
    this.#partner = partner;
    world.recorder.feeds.set(partner.id, this.#events);
    this.#loop = this.#run();
  }

  stop(): Promise<void> {
    this.#isOver = true;
    return this.#loop;
  }

  /** Reads on until nothing is left; needs a healthy service. Gives up after a while: then events are missing. */
  async readToEnd(): Promise<void> {
    const giveUpAtMs = performance.now() + TO_END_WITHIN_MS;
    for (;;) {
      const page = await this.#readPage();
      if (page?.has_more === false || performance.now() > giveUpAtMs) return;
      if (page === null) await sleep(EVERY_MS);
    }
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      await this.#world.gate.through(async () => {
        await this.#readPage();
        if (this.#partner.cap !== null) await this.#readQuota();
      });
      await sleep(EVERY_MS);
    }
  }

  /** null where the page did not come; then the same page is asked for again. */
  async #readPage(): Promise<Page | null> {
    const after = this.#cursor === null ? '' : `&after=${encodeURIComponent(this.#cursor)}`;
    const page = await this.#get<Page>(`/PRO/events?limit=${PAGE}${after}`);
    if (page === null) return null;
    for (const { id, type, data } of page.events) {
      this.#events.push({ id, type, applicationId: data.id, idNumber: data.id_number });
    }
    this.#cursor = page.next;
    return page;
  }

  async #readQuota(): Promise<void> {
    const quota = await this.#get<{ partner: { used_24h: number } }>('/PRO');
    if (quota === null) return;
    const { recorder } = this.#world;
    recorder.quota.push({
      partnerId: this.#partner.id,
      used: quota.partner.used_24h,
      toMs: recorder.nowMs(),
    });
  }

  async #get<T>(path: string): Promise<T | null> {
    const { urls, promises } = this.#world;
    const url = urls[this.#turn++ % urls.length]!;
    const response = await fetch(url + path, {
      headers: { 'X-API-Key': this.#partner.apiKey },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    }).catch(() => null);
    if (response === null) return null;
    const { status } = response;
    promises.hold(
      'statuses',
      status === 200 || status === 500,
      () => `${status} to GET ${path.split('?')[0]}`,
    );
    const body = (await response.json().catch(() => null)) as T | null;
    return status === 200 ? body : null;
  }
}
