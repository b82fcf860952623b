/** Delivers what is due: claims, checks, sends and records (ARCHITECTURE, "Delivery"; D33). */

import type { Channel } from '../channel/channel.ts';
import type { OutgoingMessage } from '../domain/message/outgoing-message.ts';
import type { SendResult } from '../domain/message/send-result.ts';
import { channelIndexOf } from '../storage/blind-indexes.ts';
import type { ChannelNotices } from './channel-notices.ts';
import { healthSignal, moveAfter } from './rules/after-send.ts';
import type { SendResultLog } from './send-result-log.ts';
import type { ChannelNotice } from './sql/channel-notices.ts';
import { type MessageFault, type TakeUpContext, takeUp } from './take-up.ts';

export interface DeliveryContext extends TakeUpContext {
  readonly channel: Channel;
  readonly results: SendResultLog;
  readonly notices: ChannelNotices;
  /** Hears of messages that cannot be sent as they are stored. */
  readonly onFault: (fault: MessageFault) => void;
}

/** What one turn took up. */
export interface Turn {
  /** Messages; 0 where none may go. */
  readonly claimed: number;
  /** Resolves when all that went out is answered and recorded. */
  readonly concluded: Promise<void>;
}

/**
 * One turn: claims messages, decides on each, and sends those that go out now, without waiting for the answers. When
 * `cut` aborts, sends are given up. When `stopping` does before the turn is committed, the turn is undone and throws.
 */
export async function deliverDue(
  context: DeliveryContext,
  cut: AbortSignal,
  stopping?: AbortSignal,
): Promise<Turn> {
  const taken = await takeUp(context, stopping);
  for (const fault of taken.faults) context.onFault(fault);
  const sends = taken.outgoing.map(async ({ message, tries }) =>
    conclude(context, message, tries, await send(context, message, cut)),
  );
  return { claimed: taken.claimed, concluded: Promise.all(sends).then(() => {}) };
}

/** A channel that throws has told nothing. */
async function send(
  { channel }: DeliveryContext,
  message: OutgoingMessage,
  signal: AbortSignal,
): Promise<SendResult> {
  try {
    return await channel.send(message, signal);
  } catch {
    return { kind: 'uncertain', reason: 'unknown' };
  }
}

/** What concerns more than this message comes first, so that no later message goes out in spite of it. */
async function conclude(
  context: DeliveryContext,
  message: OutgoingMessage,
  tries: number,
  result: SendResult,
): Promise<void> {
  const { applicationId, type, attempt } = message;
  const notice = noticeOf(message, result);
  if (notice !== null) await context.notices.store(notice);
  const { vault, results } = context;
  const channelIndex = result.kind === 'accepted' ? channelIndexOf(vault, result.channelMessageId) : null;
  const record = { applicationId, type, attempt, channelIndex, ...moveAfter(result, tries, Math.random()) };
  await results.record({ record, signal: healthSignal(result) });
}

/** What an answer says of more than its message; null where it says nothing of that. */
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
