/**
 * Notes what partners ask, for whoever looks for a request by its X-Request-Id (docs/operators.md, "Requests"). A
 * request only adds to a list in memory; a second later the list is written in one statement. So no answer waits for
 * it. A process that is killed loses its last second.
 */
import type { KeyId, PartnerId } from '../../../domain/partner/credential.ts';
import type { Clock, Timer } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { type NotedRequest, noteRequests } from '../sql/requests.ts';

export type { NotedRequest };

const WRITE_AFTER_MS = 1_000;
/** Most requests of a write, and most of one partner: a flood of one leaves room for the others. */
const MOST = 2_000;
const MOST_OF_PARTNER = 500;

export class RequestLog {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #onLeftOut: (requests: number) => void;
  readonly #onError: (error: unknown) => void;
  #waiting: [request: NotedRequest, atMs: number][] = [];
  #ofPartner = new Map<PartnerId, number>();
  #usedKeys = new Set<KeyId>();
  #leftOut = 0;
  #timer: Timer | null = null;
  #writing: Promise<void> | null = null;

  /**
   * `onLeftOut` hears how many requests are noted nowhere, because there were too many or a write failed. `onError` is
   * called when a write fails.
   */
  constructor(
    database: Database,
    {
      clock,
      onLeftOut,
      onError,
    }: {
      readonly clock: Clock;
      readonly onLeftOut: (requests: number) => void;
      readonly onError: (error: unknown) => void;
    },
  ) {
    this.#database = database;
    this.#clock = clock;
    this.#onLeftOut = onLeftOut;
    this.#onError = onError;
  }

  /** Whether a request of this partner can be noted now; where it cannot, it is left out and counted. */
  hasRoom(partnerId: PartnerId, keyId: KeyId): boolean {
    this.#usedKeys.add(keyId);
    this.#begin();
    const own = this.#ofPartner.get(partnerId) ?? 0;
    if (own < MOST_OF_PARTNER && this.#waiting.length < MOST) return true;
    this.#leftOut += 1;
    return false;
  }

  /** Notes a request that has room. */
  add(request: NotedRequest): void {
    const { partnerId } = request;
    this.#ofPartner.set(partnerId, (this.#ofPartner.get(partnerId) ?? 0) + 1);
    this.#waiting.push([request, this.#clock.monotonicMs()]);
  }

  /** Writes what waits. Resolves when the last write has ended. Never rejects. */
  async stop(): Promise<void> {
    await this.#writing;
    this.#timer?.cancel();
    this.#timer = null;
    if (this.#usedKeys.size > 0) await this.#write();
  }

  /** The next write begins when the one before has ended, so a slow database gets larger ones and no more. */
  #begin(): void {
    if (this.#timer !== null || this.#writing !== null) return;
    this.#timer = this.#clock.after(WRITE_AFTER_MS, () => {
      this.#timer = null;
      this.#writing = this.#write().finally(() => {
        this.#writing = null;
        if (this.#usedKeys.size > 0) this.#begin();
      });
    });
  }

  async #write(): Promise<void> {
    const [waiting, usedKeys] = [this.#waiting, this.#usedKeys];
    let leftOut = this.#leftOut;
    this.#waiting = [];
    this.#ofPartner = new Map();
    this.#usedKeys = new Set();
    this.#leftOut = 0;
    const now = this.#clock.monotonicMs();
    try {
      await noteRequests(
        this.#database,
        waiting.map(([request, atMs]) => [request, now - atMs]),
        usedKeys,
      );
    } catch (error) {
      leftOut += waiting.length;
      this.#onError(error);
    }
    if (leftOut > 0) this.#onLeftOut(leftOut);
  }
}
