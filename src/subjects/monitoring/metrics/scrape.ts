/**
 * Makes the text of a scrape from the process's numbers and the store's (docs/monitoring.md, "/metrics"). Scrapes
 * within two seconds share it, so that many scrapers cost as much as one. Reads the store through `read`.
 */
import type { Clock } from '../../../ground/base/clock.ts';
import { inTime } from '../../../wire/gate/in-time.ts';
import type { StoreFacts } from '../rules/store-facts.ts';
import type { Meters } from './meters.ts';
import type { StoreSeries } from './store-series.ts';

/** How long a text is served again. Scrapes of one Prometheus are further apart. */
const SHARED_MS = 2_000;
/** A store that takes longer counts as down for this scrape. Prometheus gives up after 10 s. */
const STORE_WITHIN_MS = 1_000;

export class Scrape {
  readonly contentType: string;
  readonly #meters: Meters;
  readonly #series: StoreSeries;
  readonly #read: () => Promise<StoreFacts>;
  readonly #clock: Clock;
  #text: Promise<string> | null = null;
  #madeAtMs = 0;
  /** Kept, so that no second read begins while one hangs. */
  #reading: Promise<StoreFacts> | null = null;

  /** `read` reads the store. */
  constructor(meters: Meters, series: StoreSeries, read: () => Promise<StoreFacts>, clock: Clock) {
    this.#clock = clock;
    this.#meters = meters;
    this.#series = series;
    this.#read = read;
    this.contentType = meters.registry.contentType;
  }

  /** The text for Prometheus, in little more than a second. If the store does not answer, its series are absent. */
  text(): Promise<string> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#text === null || nowMs - this.#madeAtMs > SHARED_MS) {
      this.#madeAtMs = nowMs;
      this.#text = this.#make();
    }
    return this.#text;
  }

  async #make(): Promise<string> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    const untilMs = this.#clock.monotonicMs() + STORE_WITHIN_MS;
    const facts = await inTime(this.#clock, untilMs, this.#reading).catch(() => null);
    this.#series.show(facts);
    return this.#meters.registry.metrics();
  }
}
