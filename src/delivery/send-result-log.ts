/**
 * Records the results of sends, many in one statement: a result that comes while one is under way goes with the next.
 * Then it notes what the same answers tell of the channel.
 */

import type { ApplicationId } from '../domain/application/ids.ts';
import { againAfterConflict } from '../storage/conflicts.ts';
import { type Database, inTransaction } from '../storage/database.ts';
import { hearWishes } from '../storage/suppressions.ts';
import { PatientStore } from './patient-store.ts';
import type { ChannelSign } from './rules/after-send.ts';
import { takeEarly } from './sql/early-events.ts';
import { holdForEvents, recordSendResults, type SendResultRow } from './sql/send-results.ts';
import { type HealthChange, noteAnswers } from './sql/sender-health.ts';
import { settleStatuses } from './status-events.ts';

interface Answered {
  readonly record: SendResultRow;
  /** What the answer tells of the channel. */
  readonly sign: ChannelSign;
}

export class SendResultLog {
  readonly #database: Database;
  readonly #onHealth: (change: HealthChange, reason: string | null) => void;
  readonly #store: PatientStore<Answered>;

  /**
   * A record that cannot be written, or not within `keepTryingMs`, is dropped: its message becomes uncertain by
   * itself. `onDrop` hears of it, and `onHealth` of a channel that broke or works again.
   */
  constructor(
    database: Database,
    keepTryingMs: number,
    onDrop: (applicationIds: readonly ApplicationId[], error: unknown) => void,
    onHealth: (change: HealthChange, reason: string | null) => void,
  ) {
    this.#database = database;
    this.#onHealth = onHealth;
    this.#store = new PatientStore(keepTryingMs, {
      store: (answered) =>
        recordAll(
          database,
          answered.map(({ record }) => record),
        ),
      onLost: (answered, error) =>
        onDrop(
          answered.map(({ record }) => record.applicationId),
          error,
        ),
      conclude: (answered) => this.#note(answered),
    });
  }

  /** Resolves when the result is recorded, or dropped. */
  record(answered: Answered): Promise<void> {
    return this.#store.keep(answered);
  }

  /** What cannot be noted is lost: the next answers tell the same. */
  async #note(answered: readonly Answered[]): Promise<void> {
    const lastAlive = answered.findLastIndex(({ sign }) => sign === 'alive');
    const failing = answered.slice(lastAlive + 1).filter(({ sign }) => sign === 'failing');
    const reason = failing.at(-1)?.record.reason ?? null;
    const alive = answered.filter(({ sign }) => sign === 'alive').length;
    const change = await noteAnswers(this.#database, { alive, failing: failing.length, reason }).catch(
      () => null,
    );
    if (change !== null) this.#onHealth(change, reason);
  }
}

/** Events that came before their record are applied with it. */
async function recordAll(database: Database, records: readonly SendResultRow[]): Promise<void> {
  const early = await againAfterConflict(() => recordSendResults(database, records));
  if (early.size > 0) {
    const left = records.filter(({ applicationId }) => early.has(applicationId));
    await againAfterConflict(() => recordWithEvents(database, left));
  }
}

function recordWithEvents(database: Database, records: readonly SendResultRow[]): Promise<void> {
  return inTransaction(database, async (session) => {
    const events = await takeEarly(session, records);
    await holdForEvents(session, records);
    await recordSendResults(session, records);
    const { optedOut } = await settleStatuses(session, events);
    await hearWishes(session, optedOut);
  });
}
