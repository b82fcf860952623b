/** Records the results of messages and of replies, and then applies the events that came before their records. */
import { type ApplicationId, applicationOfMessage } from '../../../domain/application/ids.ts';
import { formatCallback } from '../../../domain/message/outgoing-message.ts';
import type { MessageReason } from '../../../domain/message/reasons.ts';
import { formatReplyCallback, type ReplyId } from '../../../domain/message/reply.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { againAfterConflict } from '../../../ground/postgres/conflicts.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { RetryingWriter } from '../../../program/queue/retrying-writer.ts';
import { applyEarly } from '../intake/status-events.ts';
import type { HealthSignal } from '../rules/after-send.ts';
import { hasEarly, type Recorded, takeEarly } from '../sql/early-events.ts';
import { type ReplyResult, recordReplyResults } from '../sql/replies/delivery.ts';
import { recordSendResults, type SendResultRow } from '../sql/send-results.ts';
import { type HealthChange, noteAnswers } from '../sql/sender-health.ts';

// Records results, many in one statement: a result that comes during a statement goes with the next one. Then notes
// what the same answers say about the channel.

/** What a result says about the channel. */
interface Answer {
  readonly signal: HealthSignal;
  readonly reason: MessageReason | null;
}

/** The log of results of one kind; `store` says how they are recorded. */
class ResultLog<Result extends Answer> {
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

type OnHealth = (change: HealthChange, reason: MessageReason | null) => void;

export class SendResultLog extends ResultLog<SendResultRow> {
  /** As `ResultLog`; `onDrop` is called with the applications of dropped results. */
  constructor(
    database: Database,
    clock: Clock,
    keepTryingMs: number,
    onDrop: (applicationIds: readonly ApplicationId[], error: unknown) => void,
    onHealth: OnHealth,
  ) {
    super(database, clock, keepTryingMs, {
      store: storeResults,
      onDrop: (results, error) =>
        onDrop(
          results.map(({ messageId }) => applicationOfMessage(messageId)),
          error,
        ),
      onHealth,
    });
  }
}

export class ReplyResultLog extends ResultLog<ReplyResult> {
  /** As `ResultLog`; `onDrop` is called with the replies of dropped results. */
  constructor(
    database: Database,
    clock: Clock,
    keepTryingMs: number,
    onDrop: (replyIds: readonly ReplyId[], error: unknown) => void,
    onHealth: OnHealth,
  ) {
    super(database, clock, keepTryingMs, {
      store: storeReplyResults,
      onDrop: (results, error) =>
        onDrop(
          results.map(({ replyId }) => replyId),
          error,
        ),
      onHealth,
    });
  }
}

async function storeResults(database: Database, results: readonly SendResultRow[]): Promise<void> {
  await againAfterConflict(() => recordSendResults(database, results));
  const recorded = results.map(({ channelIndex, messageId, attempt }) => ({
    channelIndex,
    callback: formatCallback(messageId, attempt),
  }));
  await applyEarlyOf(database, recorded);
}

async function storeReplyResults(database: Database, results: readonly ReplyResult[]): Promise<void> {
  await againAfterConflict(() => recordReplyResults(database, results));
  const recorded = results.map(({ channelIndex, replyId, attempt }) => ({
    channelIndex,
    callback: formatReplyCallback(replyId, attempt),
  }));
  await applyEarlyOf(database, recorded);
}

async function applyEarlyOf(database: Database, recorded: readonly Recorded[]): Promise<void> {
  const sent = recorded.flatMap(({ channelIndex }) => channelIndex ?? []);
  if (sent.length > 0 && (await hasEarly(database, sent))) {
    await applyEarly(database, (session) => takeEarly(session, recorded));
  }
}
