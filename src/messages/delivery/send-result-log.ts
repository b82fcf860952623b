/**
 * Records the results of sends, many in one statement: a result that comes during a statement goes with the next one.
 * Then notes what the same answers say about the channel.
 */

import { type ApplicationId, applicationOfMessage } from '../../applications/rules/ids.ts';
import { againAfterConflict } from '../../postgres/conflicts.ts';
import type { Database } from '../../postgres/database.ts';
import { RetryingWriter } from '../../postgres/retrying-writer.ts';
import { applyEarly } from '../intake/status-events.ts';
import type { MessageReason } from '../rules/reasons.ts';
import { hasEarly, takeEarly } from '../sql/early-events.ts';
import { recordSendResults, type SendResultRow } from '../sql/send-results.ts';
import { type HealthChange, noteAnswers } from '../sql/sender-health.ts';

export class SendResultLog {
  readonly #database: Database;
  readonly #onHealth: (change: HealthChange, reason: MessageReason | null) => void;
  readonly #writer: RetryingWriter<SendResultRow>;

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
      store: (records) => recordAll(database, records),
      onLost: (records, error) =>
        onDrop(
          records.map(({ messageId }) => applicationOfMessage(messageId)),
          error,
        ),
      conclude: (records) => this.#note(records),
    });
  }

  /** Resolves when the result is recorded, or dropped. */
  record(record: SendResultRow): Promise<void> {
    return this.#writer.write(record);
  }

  /** A failure here is ignored: the next answers say the same. */
  async #note(records: readonly SendResultRow[]): Promise<void> {
    const lastAlive = records.findLastIndex(({ signal }) => signal === 'alive');
    const failing = records.slice(lastAlive + 1).filter(({ signal }) => signal === 'failing');
    const reason = failing.at(-1)?.reason ?? null;
    const alive = records.filter(({ signal }) => signal === 'alive').length;
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
