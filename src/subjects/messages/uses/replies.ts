/**
 * What operators do with replies of unknown fate: list, send again, cancel (docs/messages.md, "Replies"). Reads and
 * writes `replies`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { inTransaction } from '../../../ground/postgres/database.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import {
  cancelUncertain,
  lockRepliesOf,
  queueAgain,
  readUnsettled,
  type UnsettledReply,
} from '../sql/replies/unsettled.ts';
import { REPLY_BELL } from '../sql/replies.ts';

/** The replies that wait, are on their way or may not have arrived, the oldest first. */
export function listReplies({ database }: OperatorContext): AsyncGenerator<UnsettledReply, void, undefined> {
  return readUnsettled(database);
}

/**
 * Sends the newest reply of an application once more, if its fate is unknown; the person may read it twice. It takes
 * the place of earlier uncertain replies, which are cancelled. Throws `OperatorError` if it is not uncertain, or if the
 * channel's window is closed.
 */
export async function retryReply(context: OperatorContext, id: ApplicationId): Promise<UnsettledReply> {
  const queued = await inTransaction(context.database, async (session) => {
    const newest = newestOf(await lockRepliesOf(session, id), id);
    if (!(await queueAgain(session, id, newest.turn))) {
      const why =
        newest.status === 'uncertain'
          ? 'the channel takes it no more'
          : `it is ${newest.status}, not uncertain`;
      throw new OperatorError(`the newest reply of application ${id} cannot be sent again: ${why}`);
    }
    await cancelUncertain(session, id, newest.turn);
    return { ...newest, status: 'queued', reason: null } as const;
  });
  REPLY_BELL.ring();
  return queued;
}

/**
 * Settles the uncertain replies of an application: none of them is sent again. Returns how many there were. Throws
 * `OperatorError` if there is none.
 */
export async function cancelReplies(context: OperatorContext, id: ApplicationId): Promise<number> {
  return inTransaction(context.database, async (session) => {
    const newest = newestOf(await lockRepliesOf(session, id), id);
    const cancelled = await cancelUncertain(session, id, newest.turn + 1);
    if (cancelled === 0) throw new OperatorError(`application ${id} has no uncertain reply`);
    return cancelled;
  });
}

function newestOf(replies: readonly UnsettledReply[], id: ApplicationId): UnsettledReply {
  const newest = replies.at(-1);
  if (newest === undefined) throw new OperatorError(`application ${id} has no reply`);
  return newest;
}
