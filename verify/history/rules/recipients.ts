/** A phone gets at most 3 messages in 24 hours, and one rejection among them. */
import type { Found, History, Send } from '../history.ts';
import { applicationOf, type Lookup } from '../lookup.ts';

const MOST_MESSAGES = 3;
const MOST_REJECTIONS = 1;
const DAY_MS = 24 * 3_600_000;
/** A send that began before a step of the clock comes to the channel within this time. */
const UNDER_WAY_MS = 60_000;

/** A time in which the database's clock ran evenly. */
interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

export function checkRecipients(history: History, lookup: Lookup): Found[] {
  const types = new Map(history.store.messages.map(({ messageId, type }) => [messageId, type]));
  const stretches = stretchesOf(history);
  return [...Map.groupBy(history.sends, ({ phone }) => phone)].flatMap(([phone, sends]) =>
    stretches.flatMap(({ fromMs, toMs }) => {
      const within = firstOfEach(sends.filter(({ atMs }) => atMs >= fromMs && atMs < toMs));
      const rejections = within.filter(({ messageId }) => types.get(messageId) === 'rejected');
      return [
        ...tooMany(within, MOST_MESSAGES).map((send) => ({
          send,
          text: `more than ${MOST_MESSAGES} messages`,
        })),
        ...tooMany(rejections, MOST_REJECTIONS).map((send) => ({
          send,
          text: `more than ${MOST_REJECTIONS} rejection`,
        })),
      ].map(({ send, text }) => ({
        partnerId: lookup.stored(applicationOf(send.messageId))?.partnerId ?? null,
        text: `message ${send.messageId} to ${phone}: ${text} in 24 hours`,
      }));
    }),
  );
}

function stretchesOf({ clockSteps }: History): Stretch[] {
  const begins = [Number.NEGATIVE_INFINITY, ...clockSteps.map(({ toMs }) => toMs + UNDER_WAY_MS)];
  const ends = [...clockSteps.map(({ fromMs }) => fromMs), Number.POSITIVE_INFINITY];
  return begins.map((fromMs, index) => ({ fromMs, toMs: ends[index]! }));
}

/** All attempts of a message count as one message. */
function firstOfEach(sends: readonly Send[]): Send[] {
  const first = new Map<string, Send>();
  for (const send of sends.toSorted((one, other) => one.atMs - other.atMs)) {
    if (!first.has(send.messageId)) first.set(send.messageId, send);
  }
  return [...first.values()];
}

/** The sends that have `most` others in the 24 hours before them. */
function tooMany(sends: readonly Send[], most: number): Send[] {
  return sends.filter((send, index) => {
    const earliest = sends[index - most];
    return earliest !== undefined && send.atMs - earliest.atMs < DAY_MS;
  });
}
