/** Applies what a channel tells: the one way for the webhook and for the simulator. */

import type { BlindIndex } from '../domain/application/ids.ts';
import { errorFields } from '../domain/error-fields.ts';
import type { ChannelEvent, PreferenceEvent, TapEvent, TextEvent } from '../domain/message/channel-event.ts';
import { asksToStop } from '../domain/message/opt-out-words.ts';
import { parseInterestPayload } from '../domain/message/outgoing-message.ts';
import { channelIndexOf, phoneIndexOf } from '../storage/blind-indexes.ts';
import { againAfterConflict } from '../storage/conflicts.ts';
import { type Database, inTransaction } from '../storage/database.ts';
import { eachApart } from '../storage/row-fault.ts';
import { hearWishes, type Wish } from '../storage/suppressions.ts';
import type { Vault } from '../storage/vault.ts';
import type { IndexedStatus } from './rules/settle.ts';
import { type InterestTap, recordInterest } from './sql/channel-events.ts';
import { type EventEffects, settleStatuses } from './status-events.ts';

interface ChannelEventContext {
  readonly database: Database;
  readonly vault: Vault;
}

/** For a log line: how many events of each kind came, and what they changed. */
interface ChannelEventCounts {
  readonly statuses: number;
  readonly taps: number;
  readonly texts: number;
  readonly preferences: number;
  /** Messages that moved. */
  readonly moved: number;
  /** Sender and templates that are paused by it and were not before. */
  readonly paused: number;
  /** Applications with a first interest. */
  readonly interested: number;
  /** Phones that were not suppressed before, and are now; and the other way round. */
  readonly suppressed: number;
  readonly resumed: number;
  /** One for each event that cannot be applied, for what it holds or for what it concerns: why. */
  readonly unapplied: readonly Record<string, unknown>[];
}

const INTEREST_REASON = 'tapped "I am interested"';

type Applied = Omit<ChannelEventCounts, 'unapplied'>;

const NOTHING: Applied = {
  ...{ statuses: 0, taps: 0, texts: 0, preferences: 0 },
  ...{ moved: 0, paused: 0, interested: 0, suppressed: 0, resumed: 0 },
};

/**
 * Applies events in a few statements, however many there are; resolves when all is committed. Any order and
 * any repetition of events, over any number of calls, leaves the same messages and the same interest. Events of
 * nothing that is known are passed over, and one that cannot be applied keeps none of the others from it. After an
 * error some may be applied: apply all of them again.
 */
export async function applyChannelEvents(
  context: ChannelEventContext,
  events: readonly ChannelEvent[],
): Promise<ChannelEventCounts> {
  let counts = NOTHING;
  const unapplied: Record<string, unknown>[] = [];
  await eachApart(
    events,
    async (some) => {
      counts = addCounts(counts, await againAfterConflict(() => applyTogether(context, some)));
    },
    ({ kind }, error) => unapplied.push({ event: kind, ...errorFields(error) }),
  );
  return { ...counts, unapplied };
}

function addCounts(left: Applied, right: Applied): Applied {
  const names = Object.keys(NOTHING) as (keyof Applied)[];
  return Object.fromEntries(names.map((name) => [name, left[name] + right[name]])) as unknown as Applied;
}

async function applyTogether(
  { database, vault }: ChannelEventContext,
  events: readonly ChannelEvent[],
): Promise<Applied> {
  const indexOf = (id: string) => channelIndexOf(vault, id);
  const statuses = events
    .filter((event) => event.kind === 'status')
    .map(({ channelMessageId, ...event }) => ({ ...event, channelIndex: indexOf(channelMessageId) }));
  const taps = events
    .filter((event) => event.kind === 'tap')
    .map(({ contextMessageId: id, ...event }) => ({
      ...event,
      contextIndex: id === null ? null : indexOf(id),
    }));
  const texts = events.filter((event) => event.kind === 'text');
  const preferences = events.filter((event) => event.kind === 'preference');
  const { moved, paused, optedOut } = await applyStatuses(database, statuses);
  const interested = await recordInterest(database, interestOf(vault, taps), INTEREST_REASON);
  const { suppressed, resumed } = await hearWishes(database, [
    ...optedOut,
    ...wishesOf(vault, taps, texts, preferences),
  ]);
  return {
    statuses: statuses.length,
    taps: taps.length,
    texts: texts.length,
    preferences: preferences.length,
    moved,
    paused,
    interested,
    suppressed,
    resumed,
  };
}

const NONE: EventEffects = { moved: 0, paused: 0, optedOut: [] };

async function applyStatuses(database: Database, events: readonly IndexedStatus[]): Promise<EventEffects> {
  if (events.length === 0) return NONE;
  return inTransaction(database, (session) => settleStatuses(session, events));
}

/** A tap that has the blind index of the channel's id of its message instead of the id. */
interface IndexedTap extends Omit<TapEvent, 'contextMessageId'> {
  readonly contextIndex: BlindIndex<'channel_message_id'> | null;
}

function interestOf(vault: Vault, taps: readonly IndexedTap[]): InterestTap[] {
  return taps.flatMap(({ payload, contextIndex, from, at }) => {
    const applicationId = parseInterestPayload(payload);
    if (applicationId === null) return [];
    return [{ applicationId, phoneIndex: phoneIndexOf(vault, from), contextIndex, at }];
  });
}

/** The word may be written or stand on a button. */
function wishesOf(
  vault: Vault,
  taps: readonly IndexedTap[],
  texts: readonly TextEvent[],
  preferences: readonly PreferenceEvent[],
): Wish[] {
  const words = [
    ...taps.filter(({ payload, title }) => asksToStop(payload) || asksToStop(title ?? '')),
    ...texts.filter(({ body }) => asksToStop(body)),
  ].map(({ from, at }) => ({ phone: from, at, stops: true, source: 'keyword' as const }));
  const settings = preferences.map(({ phone, wants, at }) => ({
    phone,
    at,
    stops: wants === 'stop',
    source: 'channel' as const,
  }));
  return [...words, ...settings].map(({ phone, ...wish }) => ({
    phoneIndex: phoneIndexOf(vault, phone),
    ...wish,
  }));
}
