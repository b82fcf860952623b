/** Replies for tests: a context that delivers them, and a queue for one application. */
import assert from 'node:assert/strict';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import type { ReplyChannel } from '../../src/domain/message/channel.ts';
import type { ReplyContent } from '../../src/domain/message/reply.ts';
import { toPartnerId } from '../../src/domain/partner/credential.ts';
import type { Phone } from '../../src/domain/phone/phone.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { phoneIndexOf } from '../../src/seal/blind-indexes.ts';
import type { Vault } from '../../src/seal/vault.ts';
import { channelNotices, replyResults } from '../../src/subjects/messages/delivery/records.ts';
import type { ReplyContext } from '../../src/subjects/messages/delivery/reply-turn.ts';
import { queueReplies, sealReply } from '../../src/subjects/messages/sql/replies.ts';
import { sessionsOf, type TestStore } from './database.ts';
import { keeping } from './delivery-context.ts';

/** No rate. A dropped record, a lost notice and a reply with a fault fail the test. */
export function replyContext(
  { vault, clock, ...store }: TestStore,
  channel: ReplyChannel,
  changes: Partial<ReplyContext> = {},
): ReplyContext {
  const database = sessionsOf(store);
  return {
    database,
    vault,
    channel,
    messagesPerSecond: null,
    results: replyResults(keeping({ database, clock })),
    notices: channelNotices(keeping({ database, clock })),
    onFault: (reason) => assert.fail(`a reply has the fault ${reason}`),
    ...changes,
  };
}

/** A short text without anything else. */
export function textContent(text: string, changes: Partial<ReplyContent> = {}): ReplyContent {
  return { text, buttons: [], readMessageId: null, ...changes };
}

/** The addressee of replies. */
export interface Addressee {
  readonly id: number;
  readonly phone: Phone;
}

/** Queues one reply, whose window is open for an hour. */
export function queueReply(
  { vault, ...store }: TestStore & { readonly vault: Vault },
  { id, phone }: Addressee,
  turn: number,
  content = textContent(`turn ${turn}`),
  windowUntil = new Date(Date.now() + 3_600_000),
): Promise<void> {
  const applicationId = toApplicationId(id);
  const reply = {
    ...{
      applicationId,
      turn,
      partnerId: toPartnerId(1),
      phoneIndex: phoneIndexOf(vault, phone),
      windowUntil,
    },
    content: sealReply(vault, { applicationId, turn }, content),
  };
  return inTransaction(sessionsOf(store), (session) => queueReplies(session, [reply]));
}
