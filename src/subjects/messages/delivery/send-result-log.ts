/** Records the results of messages and of replies, and then applies the events that came before their records. */

import { type ApplicationId, applicationOfMessage } from '../../../domain/application/ids.ts';
import { formatCallback } from '../../../domain/message/outgoing-message.ts';
import type { MessageReason } from '../../../domain/message/reasons.ts';
import { formatReplyCallback, type ReplyId } from '../../../domain/message/reply.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { againAfterConflict } from '../../../ground/postgres/conflicts.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { applyEarly } from '../intake/status-events.ts';
import { hasEarly, type Recorded, takeEarly } from '../sql/early-events.ts';
import { type ReplyResult, recordReplyResults } from '../sql/replies/delivery.ts';
import { recordSendResults, type SendResultRow } from '../sql/send-results.ts';
import type { HealthChange } from '../sql/sender-health.ts';
import { ResultLog } from './result-log.ts';

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
