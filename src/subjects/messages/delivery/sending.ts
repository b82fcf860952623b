/**
 * What the turns of messages and of replies share: the loop, one send, and what its answer says about other messages.
 * Uses the channel over the network; src/subjects/messages/README.md has the rule.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { SendResult } from '../../../domain/message/channel.ts';
import type { Bell } from '../../../ground/base/bell.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { startQueue } from '../../../program/queue/queue.ts';
import type { Loop } from '../../../program/subject/subject.ts';
import { type Facts, tracing } from '../../../program/tracing/tracing.ts';
import { channelIndexOf } from '../../../seal/blind-indexes.ts';
import type { Vault } from '../../../seal/vault.ts';
import { healthSignal } from '../rules/after-send.ts';
import type { ChannelNotice } from '../sql/channel-notices.ts';

/** How long a send and its record may take. The channel gives up after a sixth of this time. */
export const ANSWER_WITHIN_MS = 60_000;
/** The most turns that wait for answers, so that a slow answer of the channel does not hold up the next turns. */
const MOST_TURNS = 8;

/** What one turn took up. */
export interface Turn {
  /** How many messages; 0 if none may go out. */
  readonly claimed: number;
  /** Resolves when every sent message is answered and recorded. */
  readonly concluded: Promise<void>;
}

interface Sending {
  readonly clock: Clock;
  /**
   * Sends what is due. When `stopping` aborts, it undoes what it has not committed. When `cut` aborts, it cuts its
   * sends off, and a send without an answer is then uncertain.
   */
  readonly turn: (cut: AbortSignal, stopping: AbortSignal) => Promise<Turn>;
  /** Called when a turn fails. */
  readonly onError: (error: unknown) => void;
  /** A ring ends the rest that follows a turn without work. */
  readonly bell?: Bell;
}

/** Starts the loop of turns. */
export function startSending({ turn, ...rules }: Sending): Loop {
  return startQueue({
    ...rules,
    most: MOST_TURNS,
    begin: async ({ cut, stopping }) => {
      const { claimed, concluded } = await turn(cut, stopping);
      return claimed > 0 ? [{ ended: concluded }] : [];
    },
  });
}

/** Sends once, with a trace. If the channel throws, it has said nothing about the message. */
export async function sendOnce(
  name: string,
  applicationId: ApplicationId,
  facts: Facts,
  send: () => Promise<SendResult>,
): Promise<SendResult> {
  const span = tracing()?.beginLater(name, applicationId, facts);
  let result: SendResult = { kind: 'uncertain', reason: 'unknown' };
  try {
    result = await send();
  } catch {
    // The error is ignored, as said above.
  }
  span?.add({ 'ventanilla.result': result.kind });
  span?.end();
  return result;
}

/**
 * The notice in a result; null: there is none. `template`: the one that the message names; null for a reply. A notice
 * is stored before its result, so that no later message goes out despite it.
 */
export function noticeOf(
  result: SendResult,
  applicationId: ApplicationId,
  template: string | null,
): ChannelNotice | null {
  if (result.kind === 'opted_out') return { kind: 'opted_out', applicationId };
  if (result.kind === 'pause_sender') return { kind: 'pause_sender', applicationId, reason: result.reason };
  if (result.kind === 'pause_template' && template !== null)
    return { kind: 'pause_template', applicationId, template, reason: result.reason };
  return null;
}

/** What the record of a result keeps from the channel's answer. */
export function answerOf(vault: Vault, result: SendResult) {
  return {
    channelIndex: result.kind === 'accepted' ? channelIndexOf(vault, result.channelMessageId) : null,
    signal: healthSignal(result),
  };
}
