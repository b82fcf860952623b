/** What the result of a send or a status event makes of a reply (docs/messages.md, "Replies"). Pure. */
import type { SendResult } from '../../../domain/message/channel.ts';
import type { MessageStatus } from '../../../domain/message/notify.ts';
import type { MessageReason } from '../../../domain/message/reasons.ts';
import { moveAfter, type ResultMove } from './after-send.ts';

/** The channel's code for a reply after the end of its 24 hours. */
const WINDOW_CLOSED = '131047';

/** As `ResultMove`, but an answer may also cancel a reply. */
export interface ReplyFate extends Omit<ResultMove, 'status'> {
  readonly status: MessageStatus;
}

/**
 * What a send result makes of its reply after the given attempt (from 1). A reply names no template, so an answer about
 * a template is one about this reply. `random` as in `backoffMs`.
 */
export function replyAfter(result: SendResult, attempt: number, random: number): ReplyFate {
  const own: SendResult = result.kind === 'pause_template' ? { ...result, kind: 'give_up' } : result;
  return replyFate(moveAfter(own, attempt, random));
}

/** A refusal because of the closed window cancels a reply, as the service's own check of the window does. */
export function replyFate<
  Move extends { readonly status: MessageStatus; readonly reason: MessageReason | null },
>(move: Move): Move {
  return move.status === 'failed' && move.reason === WINDOW_CLOSED
    ? { ...move, status: 'cancelled', reason: 'window_closed' }
    : move;
}
