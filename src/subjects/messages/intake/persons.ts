/**
 * Finds the phone of a person at the channel. The event itself tells the phone, or the message that the person answers,
 * or an earlier event with the channel's id of the person.
 */
import type { BlindIndex } from '../../../domain/application/ids.ts';
import type { ChannelEvent, StatusEvent } from '../../../domain/message/channel-event.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { channelIndexOf, channelUserIndexOf, phoneIndexOf } from '../../../seal/blind-indexes.ts';
import type { Vault } from '../../../seal/vault.ts';
import { phonesOfMessages, phonesOfOldMessages, phonesOfUsers } from '../sql/channel-users.ts';
import { replyOfChannelMessage } from '../sql/replies.ts';

export type PersonEvent = Exclude<ChannelEvent, StatusEvent>;

/** An event with the blind indexes of the person and of the message that the person answers. */
export interface KnownEvent {
  readonly event: PersonEvent;
  /** null: the phone is not known. */
  readonly phoneIndex: BlindIndex<'phone'> | null;
  readonly userIndex: BlindIndex<'channel_user'> | null;
  readonly contextIndex: BlindIndex<'channel_message_id'> | null;
}

/**
 * These events in their order, each with the phone of its person. Asks the store only where an event names no phone.
 * Where nothing else tells the phone of an event that must not be lost (`isVital`), looks for the message that the
 * person answers however old that message is.
 */
export async function findPhones(
  database: Database,
  vault: Vault,
  events: readonly PersonEvent[],
  isVital: (event: PersonEvent) => boolean,
): Promise<KnownEvent[]> {
  const told = events.map((event) => indexed(vault, event));
  const unknown = told.filter(({ phoneIndex }) => phoneIndex === null);
  const contexts = unknown.flatMap(({ contextIndex }) => contextIndex ?? []);
  const byReply = await replyOfChannelMessage(database, contexts);
  const byMessage = await phonesOfMessages(
    database,
    contexts.filter((index) => !byReply.has(index)),
  );
  const byUser = await phonesOfUsers(
    database,
    unknown.flatMap(({ userIndex }) => userIndex ?? []),
  );
  const known = told.map((one) => ({
    ...one,
    phoneIndex:
      one.phoneIndex ??
      (one.contextIndex && (byReply.get(one.contextIndex)?.phoneIndex ?? byMessage.get(one.contextIndex))) ??
      (one.userIndex && byUser.get(one.userIndex)) ??
      null,
  }));
  const lost = known.filter(({ event, phoneIndex }) => phoneIndex === null && isVital(event));
  const byOldMessage = await phonesOfOldMessages(
    database,
    lost.flatMap(({ contextIndex }) => contextIndex ?? []),
  );
  return known.map((one) => ({
    ...one,
    phoneIndex: one.phoneIndex ?? (one.contextIndex && byOldMessage.get(one.contextIndex)) ?? null,
  }));
}

function indexed(vault: Vault, event: PersonEvent): KnownEvent {
  const { from, userId = null } = event;
  const contextId = event.kind === 'preference' ? null : (event.contextMessageId ?? null);
  return {
    event,
    phoneIndex: from && phoneIndexOf(vault, from),
    userIndex: userId === null ? null : channelUserIndexOf(vault, userId),
    contextIndex: contextId === null ? null : channelIndexOf(vault, contextId),
  };
}
