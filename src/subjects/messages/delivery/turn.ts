/** Delivers due messages: claims, checks, sends and records them (README.md of this subject; D33). */

import type { SendResult, TemplateChannel } from '../../../domain/message/channel.ts';
import type { OutgoingMessage } from '../../../domain/message/outgoing-message.ts';
import { tracing } from '../../../program/tracing/tracing.ts';
import { channelIndexOf } from '../../../seal/blind-indexes.ts';
import { healthSignal, moveAfter } from '../rules/after-send.ts';
import type { Ready } from '../sql/begin.ts';
import type { ChannelNotice } from '../sql/channel-notices.ts';
import type { ChannelNotices } from './channel-notices.ts';
import type { SendResultLog } from './send-result-log.ts';
import { type MessageFault, type TakeUpContext, takeUp } from './take-up.ts';

export interface DeliveryContext extends TakeUpContext {
  readonly channel: TemplateChannel;
  readonly results: SendResultLog;
  readonly notices: ChannelNotices;
  /** Called with messages that cannot be sent as they are stored. */
  readonly onFault: (fault: MessageFault) => void;
}

/** What one turn took up. */
export interface Turn {
  /** Messages; 0 if none may go out. */
  readonly claimed: number;
  /** Resolves when every sent message is answered and recorded. */
  readonly concluded: Promise<void>;
}

/**
 * Claims messages, decides on each one, and sends those that go out now, without waiting for the answers. `cut` gives
 * up the sends. If `stopping` aborts before the turn is committed, the turn is undone and throws.
 */
export async function deliverDue(
  context: DeliveryContext,
  cut: AbortSignal,
  stopping?: AbortSignal,
): Promise<Turn> {
  const taken = await takeUp(context, stopping);
  for (const fault of taken.faults) context.onFault(fault);
  const sends = taken.outgoing.map(async (ready) =>
    conclude(context, ready, await send(context, ready.message, cut)),
  );
  return { claimed: taken.claimed, concluded: Promise.all(sends).then(() => {}) };
}

/** A channel that throws has said nothing about the message. */
async function send(
  { channel }: DeliveryContext,
  message: OutgoingMessage,
  signal: AbortSignal,
): Promise<SendResult> {
  const span = tracing()?.beginLater('send', message.applicationId, factsOf(message));
  let result: SendResult = { kind: 'uncertain', reason: 'unknown' };
  try {
    result = await channel.send(message, signal);
  } catch {
    // As above.
  }
  span?.add({ 'ventanilla.result': result.kind });
  span?.end();
  return result;
}

function factsOf({ messageId, type, attempt }: OutgoingMessage) {
  return {
    'ventanilla.message_id': messageId,
    'ventanilla.message_type': type,
    'ventanilla.attempt': attempt,
  };
}

/** Stores a notice before the result, so that no later message goes out in spite of the notice. */
async function conclude(
  context: DeliveryContext,
  { message, partnerId, tries }: Ready,
  result: SendResult,
): Promise<void> {
  const { messageId, type, attempt } = message;
  const notice = noticeOf(message, result);
  if (notice !== null) await context.notices.store(notice);
  const { vault, results } = context;
  const channelIndex = result.kind === 'accepted' ? channelIndexOf(vault, result.channelMessageId) : null;
  const signal = healthSignal(result);
  const move = moveAfter(result, tries, Math.random());
  await results.record({ messageId, type, partnerId, attempt, channelIndex, signal, ...move });
}

/** The notice in a send result; null if there is none. */
function noticeOf({ applicationId, template }: OutgoingMessage, result: SendResult): ChannelNotice | null {
  switch (result.kind) {
    case 'opted_out':
      return { kind: 'opted_out', applicationId };
    case 'pause_sender':
      return { kind: 'pause_sender', applicationId, reason: result.reason };
    case 'pause_template':
      return { kind: 'pause_template', applicationId, template: template.name, reason: result.reason };
    default:
      return null;
  }
}
