/**
 * Records the results of sends, many in one statement: a result that comes during a statement goes with the next one.
 * Then notes what the same answers say about the channel.
 */

import { type ApplicationId, applicationOfMessage } from '../../applications/rules/ids.ts';
import { againAfterConflict } from '../../postgres/conflicts.ts';
import type { Database } from '../../postgres/database.ts';
import { RetryingWriter } from '../../postgres/retrying-writer.ts';
import { applyEarly } from '../intake/status-events.ts';
import type { HealthSignal } from '../rules/after-send.ts';
import type { MessageReason } from '../rules/reasons.ts';
import { hasEarly, takeEarly } from '../sql/early-events.ts';
import { recordSendResults, type SendResultRow } from '../sql/send-results.ts';
import { type HealthChange, noteAnswers } from '../sql/sender-health.ts';

interface AnsweredSend {
  readonly record: SendResultRow;
  /** What the answer says about the channel. */
  readonly signal: HealthSignal;
}

export class SendResultLog {
  readonly #database: Database;
  readonly #onHealth: (change: HealthChange, reason: MessageReason | null) => void;
  readonly #writer: RetryingWriter<AnsweredSend>;

  /**
   * A result that cannot be recorded within `keepTryingMs` is dropped: its message becomes uncertain by itself.
   * `onDrop` is called with dropped results, `onHealth` when the channel breaks or works again.
   */
  constructor(
    database: Database,
    keepTryingMs: number,
    onDrop: (applicationIds: readonly ApplicationId[], error: unknown) => void,
    onHealth: (change: HealthChange, reason: MessageReason | null) => void,
  ) {
    this.#database = database;
    this.#onHealth = onHealth;
    this.#writer = new RetryingWriter(keepTryingMs, {
      store: (answered) =>
        recordAll(
          database,
          answered.map(({ record }) => record),
        ),
      onLost: (answered, error) =>
        onDrop(
          answered.map(({ record }) => applicationOfMessage(record.messageId)),
          error,
        ),
      conclude: (answered) => this.#note(answered),
    });
  }

  /** Resolves when the result is recorded, or dropped. */
  record(answered: AnsweredSend): Promise<void> {
    return this.#writer.write(answered);
  }

  /** A failure here is ignored: the next answers say the same. */
  async #note(answered: readonly AnsweredSend[]): Promise<void> {
    const lastAlive = answered.findLastIndex(({ signal }) => signal === 'alive');
    const failing = answered.slice(lastAlive + 1).filter(({ signal }) => signal === 'failing');
    const reason = failing.at(-1)?.record.reason ?? null;
    const alive = answered.filter(({ signal }) => signal === 'alive').length;
    const change = await noteAnswers(this.#database, { alive, failing: failing.length, reason }).catch(
      () => null,
    );
    if (change !== null) this.#onHealth(change, reason);
  }
}

/** Records results, and then applies the events that came before their records. */
async function recordAll(database: Database, records: readonly SendResultRow[]): Promise<void> {
  await againAfterConflict(() => recordSendResults(database, records));
  const sent = records.flatMap(({ channelIndex }) => channelIndex ?? []);
  if (sent.length > 0 && (await hasEarly(database, sent))) {
    await applyEarly(database, (session) => takeEarly(session, records));
  }
}
