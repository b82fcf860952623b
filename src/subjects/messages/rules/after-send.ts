/**
 * What happens to a message after a send, and when it is tried again. Pure. These are the moves from `sending` in the
 * state machine at the head of `settle.ts`:
 *
 *     accepted                       -> accepted
 *     retry, pause_recipient         -> queued, for a time; failed in try 16
 *     wait                           -> queued, for a time; failed in try 4
 *     pause_template, pause_sender   -> queued, until an operator resumes the template or the sender
 *     give_up, opted_out             -> failed
 *     uncertain                      -> uncertain: an event settles the message, or after an hour an operator
 */

import type { SendResult } from '../../../domain/message/channel.ts';
import type { MessageStatus } from '../../../domain/message/notify.ts';
import type { MessageReason } from '../../../domain/message/reasons.ts';
import { doublingMs, HOUR_MS } from '../../../ground/base/clock.ts';

/** What a send says about the channel itself. */
export type HealthSignal =
  /** The channel answered about this message, whatever the answer was. */
  | 'alive'
  /** The channel did not answer, or its answer says nothing about the message. The next message would meet the same. */
  | 'failing'
  /** This process cut the send off. */
  | 'none';

export function healthSignal(result: SendResult): HealthSignal {
  if (result.kind !== 'retry' && result.kind !== 'uncertain') return 'alive';
  return result.reason === 'aborted' ? 'none' : 'failing';
}

/** The tries after which a message fails that could only be retried: about two hours of tries. */
export const MAX_TRIES = 16;
/** The tries after which a message fails that the channel told to wait: about four days of tries. */
const MAX_WAITING_TRIES = 4;
const FIRST_BACKOFF_MS = 8_000;
const MAX_BACKOFF_MS = 15 * 60_000;

/**
 * How long to wait after the given try (from 1), in milliseconds. The time doubles up to a quarter of an hour.
 * `random` (0 to 1) takes away up to half, so that messages that failed together do not come back together.
 */
export function backoffMs(tries: number, random: number): number {
  const full = doublingMs(tries, FIRST_BACKOFF_MS, MAX_BACKOFF_MS);
  return Math.round(full * (1 - random / 2));
}

/**
 * How long an uncertain message waits before an operator may settle it. By then its channel events have come, or never
 * will.
 */
export const SETTLE_AFTER_MS = HOUR_MS;

/** What a send result makes of its message; after `afterMs` the message is due again, or an operator may settle it. */
export interface ResultMove {
  readonly status: Extract<MessageStatus, 'accepted' | 'queued' | 'failed' | 'uncertain'>;
  readonly reason: MessageReason | null;
  readonly afterMs: number;
}

/** What a send result makes of its message after the given try (from 1); `random` as in `backoffMs`. */
export function moveAfter(result: SendResult, tries: number, random: number): ResultMove {
  if (result.kind === 'accepted') return { status: 'accepted', reason: null, afterMs: 0 };
  const { reason } = result;
  const ended = (status: 'failed' | 'uncertain', afterMs: number) => ({ status, reason, afterMs }) as const;
  const again = (afterMs: number) => ({ status: 'queued', reason, afterMs }) as const;
  switch (result.kind) {
    case 'retry':
      return tries >= MAX_TRIES ? ended('failed', 0) : again(result.afterMs ?? backoffMs(tries, random));
    case 'pause_recipient':
      return tries >= MAX_TRIES ? ended('failed', 0) : again(result.afterMs);
    case 'wait':
      return tries >= MAX_WAITING_TRIES ? ended('failed', 0) : again(result.afterMs);
    // This wait has no time: an operator ends it.
    case 'pause_template':
    case 'pause_sender':
      return again(0);
    case 'give_up':
    case 'opted_out':
      return ended('failed', 0);
    case 'uncertain':
      return ended('uncertain', SETTLE_AFTER_MS);
  }
}
