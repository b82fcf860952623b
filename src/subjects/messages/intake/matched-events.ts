/** Finds the message of each status event. Pure. */
import type { BlindIndex } from '../../../domain/application/ids.ts';
import type { IndexedStatus } from '../rules/settle.ts';

/**
 * Pairs events with their messages: by the channel's id, or by the callback if no message has that id yet; null if
 * there is no message. An id stays with the message that had it first. Events with a callback come first, because
 * they may tell which message an id belongs to. `idOf` gives the id of a message, `named` the one that an event names.
 */
export function* matched<Held extends { readonly channelIndex: BlindIndex<'channel_message_id'> | null }, Id>(
  held: readonly Held[],
  events: readonly IndexedStatus[],
  idOf: (message: Held) => Id,
  named: (event: IndexedStatus) => Id | null,
): Generator<{ message: Held | null; event: IndexedStatus }> {
  const byId = new Map(held.map((message) => [idOf(message), message]));
  const byChannelId = new Map(held.map((message) => [message.channelIndex, message]));
  const withCallback = events.filter(({ callback }) => callback !== null);
  const without = events.filter(({ callback }) => callback === null);
  for (const event of [...withCallback, ...without]) {
    const id = named(event);
    const message = byChannelId.get(event.channelIndex) ?? (id === null ? null : byId.get(id)) ?? null;
    if (message !== null) byChannelId.set(event.channelIndex, message);
    yield { message, event };
  }
}
