/** Delivers due replies: claims, checks, sends and records them, as `turn.ts` does with the other messages. */

import type { ReplyChannel, SendResult } from '../../../domain/message/channel.ts';
import { formatReplyCallback, type OutgoingReply, type ReplyContent } from '../../../domain/message/reply.ts';
import { UnknownDataKeyError } from '../../../ground/base/unknown-data-key.ts';
import { againAfterConflict } from '../../../ground/postgres/conflicts.ts';
import type { Database, Transaction } from '../../../ground/postgres/database.ts';
import { tracing } from '../../../program/tracing/tracing.ts';
import { channelIndexOf, phoneIndexOf } from '../../../seal/blind-indexes.ts';
import type { Vault } from '../../../seal/vault.ts';
import { healthSignal } from '../rules/after-send.ts';
import { replyAfter } from '../rules/reply-fate.ts';
import { type ClaimedReply, claimReplies, ReplyFault } from '../sql/replies/claim.ts';
import { beginReplies, holdReplies, type ReplyMove, setReplyAside } from '../sql/replies/delivery.ts';
import { replyIdentity } from '../sql/replies.ts';
import type { ChannelNotices } from './channel-notices.ts';
import type { ReplyResultLog } from './send-result-log.ts';
import { ANSWER_WITHIN_MS } from './take-up.ts';
import type { Turn } from './turn.ts';

/**
 * Why replies cannot be sent as they are stored: their content or their person is damaged (`unreadable`), the person
 * has another phone (`mismatch`), or other stored data makes the turn fail (`unsendable`). Of `unknown_key` this
 * process does not have the data key: these replies wait.
 */
export type ReplyObstacle = 'unknown_key' | 'unreadable' | 'mismatch' | 'unsendable';

export interface ReplyContext {
  readonly database: Database;
  readonly vault: Vault;
  readonly channel: ReplyChannel;
  readonly messagesPerSecond: number | null;
  readonly results: ReplyResultLog;
  readonly notices: ChannelNotices;
  /** Called with replies that cannot be sent as they are stored, and the reason. */
  readonly onFault: (reason: ReplyObstacle, replies: readonly Pick<ClaimedReply, 'replyId'>[]) => void;
}

/** Most replies of one turn. Their sends start together. */
const CLAIM_LIMIT = 100;
/** How long a reply waits after its data made the turn fail, or for a process that has its data key. */
const SET_ASIDE_MS = 60_000;

interface ReadyReply {
  readonly reply: OutgoingReply;
  readonly readMessageId: string | null;
}

/**
 * Claims replies, decides on each one, and sends those that go out now, without waiting for the answers. `cut` gives up
 * the sends. If `stopping` aborts before the turn is committed, the turn is undone and throws.
 */
export async function deliverReplies(
  context: ReplyContext,
  cut: AbortSignal,
  stopping?: AbortSignal,
): Promise<Turn> {
  const { claimed, outgoing } = await takeUp(context, stopping);
  const sends = outgoing.map(async (ready) => conclude(context, ready, await send(context, ready, cut)));
  return { claimed, concluded: Promise.all(sends).then(() => {}) };
}

/**
 * If the data of one reply makes the claim fail, the next claim takes half as many. A reply that fails alone waits, and
 * the others go on.
 */
async function takeUp(context: ReplyContext, stopping: AbortSignal | undefined) {
  const { database, vault, messagesPerSecond, onFault } = context;
  for (let limit = CLAIM_LIMIT; ; ) {
    try {
      const taken = await againAfterConflict(() =>
        claimReplies(database, vault, limit, messagesPerSecond, async (replies, claim) => {
          const outgoing = await beginClaimed(context, replies, claim);
          stopping?.throwIfAborted();
          return { claimed: replies.length, outgoing };
        }),
      );
      return taken ?? { claimed: 0, outgoing: [] };
    } catch (error) {
      if (stopping?.aborted || !(error instanceof ReplyFault)) throw error;
      const { replyIds } = error;
      limit = Math.ceil(replyIds.length / 2);
      if (replyIds.length > 1) continue;
      for (const replyId of replyIds) {
        await setReplyAside(database, replyId, 'unsendable', SET_ASIDE_MS);
        onFault('unsendable', [{ replyId }]);
      }
      return { claimed: replyIds.length, outgoing: [] };
    }
  }
}

async function beginClaimed(
  { vault, messagesPerSecond, onFault }: ReplyContext,
  replies: readonly ClaimedReply[],
  claim: Transaction,
): Promise<ReadyReply[]> {
  const ready: ReadyReply[] = [];
  const held: ReplyMove[] = [];
  for (const claimed of replies) {
    const found = readyOf(vault, claimed);
    if (typeof found !== 'string') ready.push(found);
    else {
      held.push(moveOf(claimed, found));
      if (found !== 'erased') onFault(found, [claimed]);
    }
  }
  await holdReplies(claim, held);
  const ids = ready.map(({ reply }) => reply.replyId);
  const sending = await beginReplies(claim, ids, messagesPerSecond, ANSWER_WITHIN_MS);
  return ready.filter(({ reply }) => sending.has(reply.replyId));
}

/** The reply, or why it cannot be sent. */
function readyOf(vault: Vault, claimed: ClaimedReply): ReadyReply | ReplyObstacle | 'erased' {
  const { replyId, applicationId, turn, attempt, person } = claimed;
  if (person.fault !== null) return person.fault;
  const phone = person.record?.phone ?? null;
  if (phone === null) return 'erased';
  if (phoneIndexOf(vault, phone) !== claimed.phoneIndex) return 'mismatch';
  const content = open(vault, claimed.content, replyIdentity(applicationId, turn));
  if (typeof content === 'string') return content;
  const { readMessageId, ...body } = content;
  const callback = formatReplyCallback(replyId, attempt);
  return { reply: { ...body, replyId, applicationId, attempt, phone, callback }, readMessageId };
}

function open(vault: Vault, sealed: Buffer, identity: string): ReplyContent | 'unknown_key' | 'unreadable' {
  try {
    return JSON.parse(vault.open(sealed, identity).toString('utf8'));
  } catch (error) {
    return error instanceof UnknownDataKeyError ? 'unknown_key' : 'unreadable';
  }
}

function moveOf({ replyId, attempt }: ClaimedReply, reason: ReplyObstacle | 'erased'): ReplyMove {
  const held = { replyId, attempt: attempt - 1, channelIndex: null, reason };
  if (reason === 'unknown_key') return { ...held, status: 'queued', afterMs: SET_ASIDE_MS };
  return { ...held, status: reason === 'erased' ? 'cancelled' : 'failed', afterMs: 0 };
}

/** A channel that throws has said nothing about the reply. A read mark that fails does not hold up the reply. */
async function send(
  { channel }: ReplyContext,
  { reply, readMessageId }: ReadyReply,
  signal: AbortSignal,
): Promise<SendResult> {
  const span = tracing()?.beginLater('send reply', reply.applicationId, {
    'ventanilla.attempt': reply.attempt,
  });
  let result: SendResult = { kind: 'uncertain', reason: 'unknown' };
  try {
    if (readMessageId !== null) await channel.markRead(readMessageId, signal).catch(() => {});
    result = await channel.sendReply(reply, signal);
  } catch {
    // As above.
  }
  span?.add({ 'ventanilla.result': result.kind });
  span?.end();
  return result;
}

/** Stores a notice before the result, so that nothing later goes out in spite of the notice. */
async function conclude(
  { vault, notices, results }: ReplyContext,
  { reply }: ReadyReply,
  result: SendResult,
): Promise<void> {
  const { replyId, applicationId, attempt } = reply;
  if (result.kind === 'opted_out') await notices.store({ kind: 'opted_out', applicationId });
  if (result.kind === 'pause_sender') {
    await notices.store({ kind: 'pause_sender', applicationId, reason: result.reason });
  }
  const channelIndex = result.kind === 'accepted' ? channelIndexOf(vault, result.channelMessageId) : null;
  const move = replyAfter(result, attempt, Math.random());
  await results.record({ replyId, attempt, channelIndex, signal: healthSignal(result), ...move });
}
