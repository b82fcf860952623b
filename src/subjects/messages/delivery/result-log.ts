/**
 * Records results, many in one statement: a result that comes during a statement goes with the next one. Then notes
 * what the same answers say about the channel.
 */

import type { MessageReason } from '../../../domain/message/reasons.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { RetryingWriter } from '../../../ground/postgres/retrying-writer.ts';
import type { HealthSignal } from '../rules/after-send.ts';
import { type HealthChange, noteAnswers } from '../sql/sender-health.ts';

/** What a result says about the channel. */
interface Answer {
  readonly signal: HealthSignal;
  readonly reason: MessageReason | null;
}

/** The log of results of one kind; `store` says how they are recorded. */
export class ResultLog<Result extends Answer> {
  readonly #database: Database;
  readonly #onHealth: (change: HealthChange, reason: MessageReason | null) => void;
  readonly #writer: RetryingWriter<Result>;

  /**
   * `store` records results; a second run with the same results must be harmless. A result that cannot be recorded
   * within `keepTryingMs` is dropped: its message becomes uncertain by itself. `onDrop` is called with dropped results,
   * `onHealth` when the channel breaks or works again.
   */
  constructor(
    database: Database,
    clock: Clock,
    keepTryingMs: number,
    {
      store,
      onDrop,
      onHealth,
    }: {
      readonly store: (database: Database, results: readonly Result[]) => Promise<void>;
      readonly onDrop: (results: readonly Result[], error: unknown) => void;
      readonly onHealth: (change: HealthChange, reason: MessageReason | null) => void;
    },
  ) {
    this.#database = database;
    this.#onHealth = onHealth;
    this.#writer = new RetryingWriter(keepTryingMs, {
      clock,
      store: (results) => store(database, results),
      onLost: onDrop,
      conclude: (results) => this.#note(results),
    });
  }

  /** Resolves when the result is recorded, or dropped. */
  record(result: Result): Promise<void> {
    return this.#writer.write(result);
  }

  /** A failure here is ignored: the next answers say the same. */
  async #note(results: readonly Result[]): Promise<void> {
    const lastAlive = results.findLastIndex(({ signal }) => signal === 'alive');
    const failing = results.slice(lastAlive + 1).filter(({ signal }) => signal === 'failing');
    const reason = failing.at(-1)?.reason ?? null;
    const alive = results.filter(({ signal }) => signal === 'alive').length;
    const change = await noteAnswers(this.#database, { alive, failing: failing.length, reason }).catch(
      () => null,
    );
    if (change !== null) this.#onHealth(change, reason);
  }
}
