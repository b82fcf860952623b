/**
 * What `serve` and `worker` run for messages: the loops of delivery, for messages and for replies, and the upkeep jobs
 * (docs/messages.md; docs/upkeep.md has the jobs).
 */
import { type ApplicationId, applicationOfMessage } from '../../domain/application/ids.ts';
import type { MessageReason } from '../../domain/message/reasons.ts';
import type { ReplyId } from '../../domain/message/reply.ts';
import { errorFields } from '../../ground/base/describe-error.ts';
import { failureLog } from '../../program/operations/failure-log.ts';
import type { Loop, LoopContext, Service } from '../../program/subject/subject.ts';
import { following } from '../applications/uses/followers.ts';
import { channelNotices, messageResults, replyResults } from './delivery/records.ts';
import { deliverReplies, type ReplyObstacle } from './delivery/reply-turn.ts';
import { ANSWER_WITHIN_MS, startSending } from './delivery/sending.ts';
import { deliverDue, type MessageFault } from './delivery/turn.ts';
import { applyEarly } from './intake/status-events.ts';
import { openContactWindows } from './open.ts';
import { SETTLE_AFTER_MS } from './rules/after-send.ts';
import {
  MESSAGES_PER_PHONE,
  MESSAGES_PER_SECOND,
  RECIPIENTS_PER_DAY,
  REJECTIONS_PER_PHONE,
} from './settings.ts';
import type { ChannelNotice } from './sql/channel-notices.ts';
import { takeKnownEarly } from './sql/early-events.ts';
import { findLostReplies, mendReplies } from './sql/replies/delivery.ts';
import { forgetReplies } from './sql/replies/retention.ts';
import { REPLY_BELL } from './sql/replies.ts';
import type { HealthChange } from './sql/sender-health.ts';
import { findLost, forgetRecipients, forgetRejections, mendLeap } from './sql/upkeep.ts';

/** The channel allows one message to a phone in this time. */
const PAIR_MS = 6_000;
/** The most ids in one log line. */
const MAX_IDS = 20;
const PAUSED = 'the channel refused a message: paused until an operator runs "message resume"';

/** The loops and jobs of one process. One job remembers where it goes on. */
export const messagesService = (): Service => ({
  upkeep: [
    { name: 'mend times', run: ({ database }) => mendLeap(database) },
    { name: 'find lost sends', run: ({ database }) => findLost(database, SETTLE_AFTER_MS) },
    { name: 'mend times of replies', run: ({ database }) => mendReplies(database) },
    { name: 'find lost replies', run: ({ database }) => findLostReplies(database) },
    { name: 'forget recipients', seldom: true, run: ({ database }) => forgetRecipients(database) },
    { name: 'forget rejections', seldom: true, run: ({ database }) => forgetRejections(database) },
    {
      // These events were left behind by a service that died between the event and the record of its message.
      name: 'apply early events',
      seldom: true,
      run: ({ database }) => applyEarly(database, (session) => takeKnownEarly(session, null)),
    },
    { name: 'forget replies', seldom: true, run: following([{ table: 'replies', forget: forgetReplies }]) },
  ],
  loops: [startDelivery, startReplies],
});

/** Starts the delivery of messages. Throws if the contact windows are refused. */
async function startDelivery(given: LoopContext): Promise<Loop> {
  const { database, vault, clock, channel, log, failed, setting } = given;
  const windows = await openContactWindows(given);
  const tellWaiting = failureLog(log, clock);
  const context = {
    database,
    vault,
    clock,
    channel,
    windows,
    ...(channel.released && { released: channel.released }),
    limits: {
      messagesPerSecond: setting(MESSAGES_PER_SECOND),
      pairMs: PAIR_MS,
      recipientsPerDay: setting(RECIPIENTS_PER_DAY),
      messagesPerPhone: setting(MESSAGES_PER_PHONE),
      rejectionsPerPhone: setting(REJECTIONS_PER_PHONE),
    },
    results: messageResults({
      ...keepingOf(given),
      onLost: (results, error) => {
        const ids = results.map(({ messageId }) => applicationOfMessage(messageId));
        log.error({ ...idsOf(ids), error: errorFields(error) }, 'send results could not be recorded');
      },
    }),
    notices: noticesOf(given),
    onFault: ({ reason, applicationIds, batchId, error }: MessageFault) => {
      const facts = {
        reason,
        batch_id: batchId,
        ...idsOf(applicationIds),
        error: error && errorFields(error),
      };
      // These messages are claimed again and again, so the log does not repeat them each time.
      if (reason === 'unknown_key') tellWaiting(FAULTS[reason], facts);
      else log.error(facts, FAULTS[reason]);
    },
  };
  return startSending({
    clock,
    turn: (cut, stopping) => deliverDue(context, cut, stopping),
    onError: (error) => failed('a turn of the delivery', error),
  });
}

/** Starts the delivery of replies. Persons wait for them, so a ring of the bell wakes it. */
function startReplies(given: LoopContext): Loop {
  const { database, vault, clock, channel, log, failed, setting } = given;
  const tellWaiting = failureLog(log, clock);
  const context = {
    database,
    vault,
    clock,
    channel,
    messagesPerSecond: setting(MESSAGES_PER_SECOND),
    results: replyResults({
      ...keepingOf(given),
      onLost: (results, error) => {
        const replies = results.map(({ replyId }) => replyId);
        log.error({ replies, error: errorFields(error) }, 'results of replies could not be recorded');
      },
    }),
    notices: noticesOf(given),
    onFault: (reason: ReplyObstacle, replies: readonly { readonly replyId: ReplyId }[]) => {
      const facts = { reason, replies: replies.map(({ replyId }) => replyId) };
      if (reason === 'unknown_key') tellWaiting('replies wait: see the reason', facts);
      else log.error(facts, 'replies are not sent: see the reason');
    },
  };
  return startSending({
    clock,
    turn: (cut, stopping) => deliverReplies(context, cut, stopping),
    onError: (error) => failed('a turn of the replies', error),
    bell: REPLY_BELL,
  });
}

function keepingOf({ database, clock, log }: LoopContext) {
  const onHealth = (change: HealthChange, reason: MessageReason | null) => {
    if (change === 'mended') log.info('the channel works again: messages go out');
    else log.warn({ reason }, 'the channel fails: messages wait, and single messages go out as probes');
  };
  return { database, clock, keepTryingMs: ANSWER_WITHIN_MS, onHealth };
}

function noticesOf(given: LoopContext) {
  const { log } = given;
  return channelNotices({
    ...keepingOf(given),
    onPause: (pause) => log.warn({ ...pause }, PAUSED),
    onLost: (notices, error) =>
      log.error({ ...lostNotices(notices), error: errorFields(error) }, LOST_NOTICES),
  });
}

const FAULTS: Readonly<Record<MessageFault['reason'], string>> = {
  unreadable: 'messages are not sent: the envelope of their batch does not open',
  mismatch:
    'ALARM: messages are not sent: the envelope has the personal data of other applications. Somebody changed rows',
  unknown_key: 'messages wait: their data has a data key that this process does not have in DATA_KEYS',
  unsendable: 'messages are not sent: the values in their rows make the delivery fail',
};

const LOST_NOTICES =
  'pauses or opt-outs could not be stored: suppress the phones of these opt-outs; the channel repeats pauses';

/** The log names each lost opt-out, because the channel repeats only pauses (with the next message). */
function lostNotices(notices: readonly ChannelNotice[]) {
  const optedOut = notices.filter(({ kind }) => kind === 'opted_out');
  return {
    pauses: notices.length - optedOut.length,
    opt_outs: optedOut.length,
    application_ids: optedOut.map(({ applicationId }) => applicationId),
  };
}

function idsOf(applicationIds: readonly ApplicationId[]) {
  return { applications: applicationIds.length, application_ids: applicationIds.slice(0, MAX_IDS) };
}
