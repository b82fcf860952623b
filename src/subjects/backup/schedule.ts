/**
 * The backups that a service makes by itself: a new base each day, and the log all the time (README.md;
 * docs/backup.md). Touches the server, its files, the place and the clock.
 */
import { type Clock, DAY_MS } from '../../ground/base/clock.ts';
import type { Administration } from '../../ground/embedded/administer.ts';
import { administer } from '../../ground/embedded/administer.ts';
import type { Place } from '../../ground/places/place.ts';
import { createBackup } from './create.ts';
import { archiveLog } from './log/archive.ts';
import { keptSlot, LOCKS, withLock } from './log/slot.ts';
import { readManifest } from './manifest.ts';
import { removeOld } from './retention.ts';
import type { BackupKey } from './sealed.ts';

interface ScheduleOptions {
  readonly clock: Clock;
  readonly dataDir: string;
  readonly place: Place;
  readonly key: BackupKey;
  /** How many finished backups stay. */
  readonly keep: number;
  /** Called with each new backup, and with those that were removed after it. */
  readonly onCreated: (created: { name: string; bytes: number; seconds: number; removed: number }) => void;
  /**
   * Called if a base backup fails, whose next try comes after a quarter of an hour; and if the log cannot be archived
   * and `turn` has already returned.
   */
  readonly onError: (error: unknown) => void;
}

const BASE_EVERY_MS = DAY_MS;
/** How long the upkeep waits for a slow place. */
const WAIT_MS = 3_000;
const AGAIN_AFTER_MS = 15 * 60_000;
/** A base backup takes a seventeenth of one core, so that requests go on (docs/backup.md has the figures). */
const REST = 16;

export class BackupSchedule {
  readonly #options: ScheduleOptions;
  readonly #stopping = new AbortController();
  #working: Promise<void> | null = null;
  #base: Promise<void> = Promise.resolve();
  #isMaking = false;
  #notBeforeMs = 0;

  constructor(options: ScheduleOptions) {
    this.#options = options;
  }

  /**
   * Archives the log that was written since the last turn, and begins a base backup if one is due. Any number of
   * processes may do this at once: one of them does the work. If the place is slow, the work continues after this
   * returns. Throws if the work fails soon.
   */
  async turn(): Promise<void> {
    if (this.#working !== null) return;
    let isLate = false;
    const work = this.#turn().finally(() => {
      this.#working = null;
    });
    this.#working = work.catch((error: unknown) => {
      if (isLate) this.#options.onError(error);
    });
    await Promise.race([work, this.#options.clock.sleep(WAIT_MS, { ref: false })]);
    isLate = true;
  }

  /** Ends a base backup under way, and resolves when nothing runs any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#working, this.#base]);
  }

  #turn(): Promise<void> {
    const { dataDir, clock } = this.#options;
    return administer(dataDir, clock, async (server) => {
      const isDue = await withLock(server.client, LOCKS.archive, () => this.#archive(server));
      const isTime = !this.#stopping.signal.aborted && clock.monotonicMs() >= this.#notBeforeMs;
      if (isDue === true && isTime && !this.#isMaking) this.#begin();
    });
  }

  /** Resolves to whether a base backup is due. */
  async #archive({ client, directory }: Administration): Promise<boolean> {
    const { place, key } = this.#options;
    const slot = await keptSlot(client);
    // Read each time: the place may be lost, emptied or exchanged meanwhile, and a log without a base is of no use.
    const base = slot && (await readManifest(place, key, slot.backup));
    if (slot === undefined || base === null || base === undefined) return true;
    await archiveLog({ client, directory, place, key }, slot);
    const { rows } = await client.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    // A base that seems to come from the future was made while the clock was ahead.
    return Math.abs(rows[0]!.now.getTime() - new Date(base.at).getTime()) >= BASE_EVERY_MS;
  }

  #begin(): void {
    this.#isMaking = true;
    this.#base = this.#make()
      .catch((error: unknown) => {
        this.#notBeforeMs = this.#options.clock.monotonicMs() + AGAIN_AFTER_MS;
        if (!this.#stopping.signal.aborted) this.#options.onError(error);
      })
      .finally(() => {
        this.#isMaking = false;
      });
  }

  async #make(): Promise<void> {
    const { clock, dataDir, place, key, keep, onCreated } = this.#options;
    const sinceMs = clock.monotonicMs();
    const signal = this.#stopping.signal;
    const { name, bytes } = await administer(dataDir, clock, (server) =>
      createBackup(server, { place, key, keepLog: true, rest: REST, signal }),
    );
    const removed = (await removeOld(place, key, keep)).length;
    onCreated({ name, bytes, seconds: Math.round((clock.monotonicMs() - sinceMs) / 1_000), removed });
  }
}
