/** Applies channel events. The webhook and the simulator both call this. */

import type { BlindIndex } from '../domain/application/ids.ts';
import { errorFields } from '../domain/error-fields.ts';
import type { ChannelEvent, PreferenceEvent, TapEvent, TextEvent } from '../domain/message/channel-event.ts';
import { asksToStop } from '../domain/message/opt-out-words.ts';
import { parseInterestPayload } from '../domain/message/outgoing-message.ts';
import { channelIndexOf, phoneIndexOf } from '../storage/blind-indexes.ts';
import { againAfterConflict } from '../storage/conflicts.ts';
import type { Database } from '../storage/database.ts';
import { eachApart } from '../storage/row-fault.ts';
import { applyOptOutChanges, type OptOutChange } from '../storage/suppressions.ts';
import type { Vault } from '../storage/vault.ts';
import type { IndexedStatus } from './rules/settle.ts';
import { keepEarly, takeKnownEarly } from './sql/early-events.ts';
import { type InterestTap, recordInterest } from './sql/interest.ts';
import { applyEarly, applyStatusEvents, type EventEffects, NO_EFFECTS } from './status-events.ts';

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
  /** Messages whose status changed. */
  readonly moved: number;
  /** New pauses of the sender and of templates. */
  readonly paused: number;
  /** Applications whose first interest this is. */
  readonly interested: number;
  /** Phones that are suppressed now and were not before. */
  readonly suppressed: number;
  /** Phones that are not suppressed now and were before. */
  readonly resumed: number;
  /** Why an event could not be applied, one entry for each such event. */
  readonly unapplied: readonly Record<string, unknown>[];
}

const INTEREST_REASON = 'tapped "I am interested"';

type Applied = Omit<ChannelEventCounts, 'unapplied'>;

const NOTHING: Applied = {
  ...{ statuses: 0, taps: 0, texts: 0, preferences: 0 },
  ...{ moved: 0, paused: 0, interested: 0, suppressed: 0, resumed: 0 },
};

/**
 * Applies events in a few statements, however many events there are; resolves when all is committed. The order of
 * events, and how often each one comes, in one call or several, makes no difference to messages and interests.
 * Ignores events about unknown messages. An event that cannot be applied does not keep the others from being applied.
 * After an error some events may be applied: call again with all of them.
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
  return {
    statuses: left.statuses + right.statuses,
    taps: left.taps + right.taps,
    texts: left.texts + right.texts,
    preferences: left.preferences + right.preferences,
    moved: left.moved + right.moved,
    paused: left.paused + right.paused,
    interested: left.interested + right.interested,
    suppressed: left.suppressed + right.suppressed,
    resumed: left.resumed + right.resumed,
  };
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
  const { suppressed, resumed } = await applyOptOutChanges(database, [
    ...optedOut,
    ...optOutChangesOf(vault, taps, texts, preferences),
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

async function applyStatuses(database: Database, events: readonly IndexedStatus[]): Promise<EventEffects> {
  if (events.length === 0) return NO_EFFECTS;
  const effects = await applyStatusEvents(database, events);
  if (effects.early.length === 0) return effects;
  // After the transaction, because in it the lock on the event would come after those on messages.
  await keepEarly(database, effects.early);
  // A record that was committed meanwhile did not find these events.
  const early = effects.early.map(({ channelIndex }) => channelIndex);
  const { moved, paused } = await applyEarly(database, (session) => takeKnownEarly(session, early));
  return { ...effects, moved: effects.moved + moved, paused: effects.paused + paused };
}

/** A tap with the blind index of the message's channel id in place of the id. */
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

/** An applicant opts out by writing the word, or by a button with the word on it. */
function optOutChangesOf(
  vault: Vault,
  taps: readonly IndexedTap[],
  texts: readonly TextEvent[],
  preferences: readonly PreferenceEvent[],
): OptOutChange[] {
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
  return [...words, ...settings].map(({ phone, ...change }) => ({
    phoneIndex: phoneIndexOf(vault, phone),
    ...change,
  }));
}
