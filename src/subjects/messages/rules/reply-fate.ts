/** What results and events make of replies. Pure. */
import type { SendResult } from '../../../domain/message/channel.ts';
import type { MessageStatus } from '../../../domain/message/notify.ts';
import type { MessageReason } from '../../../domain/message/reasons.ts';
import { moveAfter, type ResultMove } from './after-send.ts';

/** The channel's code for a reply after the end of its 24 hours. */
const WINDOW_CLOSED = '131047';

/** As `ResultMove`; a reply may also be cancelled by an answer. */
export interface ReplyFate extends Omit<ResultMove, 'status'> {
  readonly status: MessageStatus;
}

/**
 * What a send result makes of its reply after the given attempt (from 1). No template is named in a reply, so an answer
 * about a template is one about this reply. `random` as in `backoffMs`.
 */
export function replyAfter(result: SendResult, attempt: number, random: number): ReplyFate {
  const own: SendResult = result.kind === 'pause_template' ? { ...result, kind: 'give_up' } : result;
  return replyFate(moveAfter(own, attempt, random));
}

/** A refusal because of the closed window ends a reply as the service's own look at the window does. */
export function replyFate<
  Move extends { readonly status: MessageStatus; readonly reason: MessageReason | null },
>(move: Move): Move {
  return move.status === 'failed' && move.reason === WINDOW_CLOSED
    ? { ...move, status: 'cancelled', reason: 'window_closed' }
    : move;
}
