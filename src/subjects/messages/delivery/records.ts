/**
 * Stores what the channel answered, many answers in one statement: results of messages and replies, then early events
 * for them, then what the answers say about the channel's health; and notices, which the channel may give only once
 * (src/subjects/messages/README.md). Tries again while the store fails.
 */
import { formatCallback } from '../../../domain/message/outgoing-message.ts';
import type { MessageReason } from '../../../domain/message/reasons.ts';
import { formatReplyCallback } from '../../../domain/message/reply.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { againAfterConflict } from '../../../ground/postgres/database.ts';
import { RetryingWriter } from '../../../program/queue/retrying-writer.ts';
import { applyEarly } from '../intake/status-events.ts';
import type { HealthSignal } from '../rules/after-send.ts';
import { type ChannelNotice, type NewPause, storeNotices } from '../sql/channel-notices.ts';
import { hasEarly, type Recorded, takeEarly } from '../sql/early-events.ts';
import { type ReplyResult, recordReplyResults } from '../sql/replies/delivery.ts';
import { recordSendResults, type SendResultRow } from '../sql/send-results.ts';
import { type HealthChange, noteAnswers } from '../sql/sender-health.ts';

/** For how long storing is tried again, and who hears of a loss. */
interface Keeping<Item> {
  readonly database: Database;
  readonly clock: Clock;
  readonly keepTryingMs: number;
  /** Called with what could not be stored within `keepTryingMs`. The message of a lost result becomes uncertain. */
  readonly onLost: (items: readonly Item[], error: unknown) => void;
}

interface KeepingResults<Result> extends Keeping<Result> {
  /** Called when the channel breaks or works again. */
  readonly onHealth: (change: HealthChange, reason: MessageReason | null) => void;
}

/** The writer of the results of messages. */
export function messageResults(keeping: KeepingResults<SendResultRow>): RetryingWriter<SendResultRow> {
  const callbackOf = ({ messageId, attempt }: SendResultRow) => formatCallback(messageId, attempt);
  return resultWriter(keeping, recordSendResults, callbackOf);
}

/** The writer of the results of replies. */
export function replyResults(keeping: KeepingResults<ReplyResult>): RetryingWriter<ReplyResult> {
  const callbackOf = ({ replyId, attempt }: ReplyResult) => formatReplyCallback(replyId, attempt);
  return resultWriter(keeping, recordReplyResults, callbackOf);
}

/** The writer of notices; `onPause` is called with each new pause. */
export function channelNotices({
  database,
  clock,
  keepTryingMs,
  onLost,
  onPause,
}: Keeping<ChannelNotice> & { readonly onPause: (pause: NewPause) => void }): RetryingWriter<ChannelNotice> {
  return new RetryingWriter(keepTryingMs, {
    clock,
    store: async (notices) => {
      for (const pause of await againAfterConflict(() => storeNotices(database, notices))) onPause(pause);
    },
    onLost,
  });
}

/** What a result says about the channel. */
interface Answer {
  readonly signal: HealthSignal;
  readonly reason: MessageReason | null;
}

/** A writer of results. `record` must be harmless if it is called again with the same results. */
function resultWriter<Result extends Answer & Pick<Recorded, 'channelIndex'>>(
  { database, clock, keepTryingMs, onLost, onHealth }: KeepingResults<Result>,
  record: (database: Database, results: readonly Result[]) => Promise<void>,
  callbackOf: (result: Result) => string,
): RetryingWriter<Result> {
  return new RetryingWriter<Result>(keepTryingMs, {
    clock,
    store: async (results) => {
      await againAfterConflict(() => record(database, results));
      await applyEarlyOf(
        database,
        results.map((result) => ({ channelIndex: result.channelIndex, callback: callbackOf(result) })),
      );
    },
    onLost,
    conclude: async (results) => {
      const { change, reason } = await noteHealth(database, results);
      if (change !== null) onHealth(change, reason);
    },
  });
}

async function applyEarlyOf(database: Database, recorded: readonly Recorded[]): Promise<void> {
  const sent = recorded.flatMap(({ channelIndex }) => channelIndex ?? []);
  if (sent.length > 0 && (await hasEarly(database, sent))) {
    await applyEarly(database, (session) => takeEarly(session, recorded));
  }
}

/** A failure here is ignored, because the next answers say the same. */
async function noteHealth(database: Database, results: readonly Answer[]) {
  const lastAlive = results.findLastIndex(({ signal }) => signal === 'alive');
  const failing = results.slice(lastAlive + 1).filter(({ signal }) => signal === 'failing');
  const reason = failing.at(-1)?.reason ?? null;
  const alive = results.filter(({ signal }) => signal === 'alive').length;
  const answers = { alive, failing: failing.length, reason };
  return { change: await noteAnswers(database, answers).catch(() => null), reason };
}
