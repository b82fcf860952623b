/**
 * Delivers due replies: claims, checks, sends and records them, as `turn.ts` does with the other messages
 * (docs/messages.md, "Replies"). Uses `replies`, the vault and the channel.
 */
import type { ReplyChannel } from '../../../domain/message/channel.ts';
import { formatReplyCallback, type OutgoingReply, type ReplyContent } from '../../../domain/message/reply.ts';
import { UnknownDataKeyError } from '../../../ground/base/registration-failure.ts';
import type { Database, Transaction } from '../../../ground/postgres/database.ts';
import type { RetryingWriter } from '../../../program/queue/retrying-writer.ts';
import { takeUp } from '../../../program/queue/take-up.ts';
import { phoneIndexOf } from '../../../seal/blind-indexes.ts';
import type { Vault } from '../../../seal/vault.ts';
import { replyAfter } from '../rules/reply-fate.ts';
import type { ChannelNotice } from '../sql/channel-notices.ts';
import { type ClaimedReply, claimReplies, readReplies } from '../sql/replies/claim.ts';
import {
  beginReplies,
  holdReplies,
  type ReplyMove,
  type ReplyResult,
  setReplyAside,
} from '../sql/replies/delivery.ts';
import { replyIdentity } from '../sql/replies.ts';
import { ANSWER_WITHIN_MS, answerOf, noticeOf, sendOnce, type Turn } from './sending.ts';

/**
 * Why replies cannot be sent as they are stored: their content or their person is damaged (`unreadable`), the person
 * has another phone (`mismatch`), or other stored data makes the turn fail (`unsendable`). With `unknown_key` this
 * process lacks the data key, and the replies wait.
 */
export type ReplyObstacle = 'unknown_key' | 'unreadable' | 'mismatch' | 'unsendable';

export interface ReplyContext {
  readonly database: Database;
  readonly vault: Vault;
  readonly channel: ReplyChannel;
  readonly messagesPerSecond: number | null;
  readonly results: RetryingWriter<ReplyResult>;
  readonly notices: RetryingWriter<ChannelNotice>;
  /** Called with replies that cannot be sent as they are stored, and the reason. */
  readonly onFault: (reason: ReplyObstacle, replies: readonly Pick<ClaimedReply, 'replyId'>[]) => void;
}

/** The most replies of one turn. Their sends start together. */
const CLAIM_LIMIT = 100;
/** How long a reply waits after its data made the turn fail, or until a process has its data key. */
const SET_ASIDE_MS = 60_000;

interface ReadyReply {
  readonly reply: OutgoingReply;
  readonly readMessageId: string | null;
}

/**
 * Claims replies, decides about each one, and sends those that go out now, without waiting for the answers. When `cut`
 * aborts, the sends are given up. If `stopping` aborts before the turn is committed, the turn is undone and throws.
 */
export async function deliverReplies(
  context: ReplyContext,
  cut: AbortSignal,
  stopping?: AbortSignal,
): Promise<Turn> {
  const { database, vault, messagesPerSecond, onFault } = context;
  const { claimed, taken } = await takeUp(
    database,
    {
      most: CLAIM_LIMIT,
      claim: (claim, limit) => claimReplies(claim, limit, messagesPerSecond),
      decide: async (claim, rows) => beginClaimed(context, claim, await readReplies(claim, vault, rows)),
      setAside: async ({ replyId }) => {
        await setReplyAside(database, replyId, 'unsendable', SET_ASIDE_MS);
        onFault('unsendable', [{ replyId }]);
      },
    },
    stopping,
  );
  const sends = taken?.map((ready) => sendReady(context, ready, cut)) ?? [];
  return { claimed, concluded: Promise.all(sends).then(() => {}) };
}

async function beginClaimed(
  { vault, messagesPerSecond, onFault }: ReplyContext,
  claim: Transaction,
  replies: readonly ClaimedReply[],
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

/** Sends a reply after its read mark. A mark that fails does not delay the reply. */
async function sendReady(
  { channel, vault, results, notices }: ReplyContext,
  { reply, readMessageId }: ReadyReply,
  cut: AbortSignal,
): Promise<void> {
  const { replyId, applicationId, attempt } = reply;
  const send = async () => {
    if (readMessageId !== null) await channel.markRead(readMessageId, cut).catch(() => {});
    return channel.sendReply(reply, cut);
  };
  const result = await sendOnce('send reply', applicationId, { 'ventanilla.attempt': attempt }, send);
  const notice = noticeOf(result, applicationId, null);
  if (notice !== null) await notices.write(notice);
  const move = replyAfter(result, attempt, Math.random());
  await results.write({ replyId, attempt, ...answerOf(vault, result), ...move });
}
