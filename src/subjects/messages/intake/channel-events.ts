/**
 * Applies channel events: finds the person's phone, applies statuses, opt-outs and interests, and then lets
 * conversations hear the messages (docs/messages.md, "Consent" and "Interest"; D43). The webhook and the simulator both
 * call this. The files in `sql` write the tables.
 */
import { type BlindIndex, partitionOf } from '../../../domain/application/ids.ts';
import type { ChannelEvent, Heard, StatusEvent } from '../../../domain/message/channel-event.ts';
import { asksToStop } from '../../../domain/message/opt-out-words.ts';
import {
  isStopPayload,
  parseCallback,
  parseInterestPayload,
} from '../../../domain/message/outgoing-message.ts';
import { errorFields } from '../../../ground/base/describe-error.ts';
import { keysOf } from '../../../ground/base/keys-of.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { againAfterConflict } from '../../../ground/postgres/database.ts';
import { eachApart } from '../../../ground/postgres/row-fault.ts';
import { channelIndexOf, channelUserIndexOf, phoneIndexOf } from '../../../seal/blind-indexes.ts';
import { requireIndexKey } from '../../../seal/index-key.ts';
import type { Vault } from '../../../seal/vault.ts';
import { byPartitions } from '../../applications/sql/partition-runs.ts';
import type { IndexedStatus } from '../rules/settle.ts';
import {
  hearUsers,
  type KnownUser,
  learnUsers,
  phonesOfMessages,
  phonesOfOldMessages,
  phonesOfUsers,
} from '../sql/channel-users.ts';
import { keepEarly, takeKnownEarly } from '../sql/early-events.ts';
import { type InterestTap, recordInterest } from '../sql/interest.ts';
import { replyOfChannelMessage } from '../sql/replies.ts';
import { applyOptOutChanges, type OptOutChange } from '../sql/suppressions.ts';
import { applyEarly, applyStatusEvents, type EventEffects, NO_EFFECTS } from './status-events.ts';

// First part: finds a person's phone. The event itself tells the phone, or the message that the person answers does, or
// an earlier event with the channel's id of the person.

type PersonEvent = Exclude<ChannelEvent, StatusEvent>;

/** An event with the blind indexes of the person and of the message that the person answers. */
interface KnownEvent {
  readonly event: PersonEvent;
  /** null: the phone is unknown. */
  readonly phoneIndex: BlindIndex<'phone'> | null;
  readonly userIndex: BlindIndex<'channel_user'> | null;
  readonly contextIndex: BlindIndex<'channel_message_id'> | null;
}

/**
 * These events in their order, each with the phone of its person. Asks the store only if an event names no phone. For
 * an event that must not be lost (`isVital`) and whose phone nothing else tells, it also looks for the answered message
 * among all old messages.
 */
async function findPhones(
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

/** What the applying of events works with. */
export interface ChannelEventContext {
  readonly database: Database;
  readonly vault: Vault;
  /**
   * Hears what persons said, after opt-outs and interests are committed, and requires the index key. Absent: nobody
   * listens.
   */
  readonly hear?: (heard: readonly Heard[]) => Promise<void>;
}

/** For a log line: how many events of each kind came. */
interface KindCounts {
  readonly statuses: number;
  readonly taps: number;
  readonly texts: number;
  readonly files: number;
  readonly others: number;
  readonly preferences: number;
}

/** For a log line: what events changed. */
interface Changes {
  /** Messages whose status changed. */
  readonly moved: number;
  /** New pauses of the sender and of templates. */
  readonly paused: number;
  /** Applications that are interested for the first time. */
  readonly interested: number;
  /** Phones that are newly suppressed. */
  readonly suppressed: number;
  /** Phones that are no longer suppressed. */
  readonly resumed: number;
  /** Persons whose opt-out or resume waits until the channel tells their phone. */
  readonly waiting: number;
  /** Opt-outs and resumes of persons whom no phone and no id names. */
  readonly unknown: number;
}

export interface ChannelEventCounts extends KindCounts, Changes {
  /** Why an event could not be applied, one entry for each such event. */
  readonly unapplied: readonly Record<string, unknown>[];
}

const NOTHING: Changes = {
  moved: 0,
  paused: 0,
  interested: 0,
  suppressed: 0,
  resumed: 0,
  waiting: 0,
  unknown: 0,
};
const CHANGES = keysOf(NOTHING);
/** The changes by no event. */
export const NO_CHANGES = { ...NOTHING, unapplied: [] };

/**
 * Applies events in a few statements, however many events there are; resolves when everything is committed. The order
 * of events, and how often each one comes, in one call or several, makes no difference to messages and interests.
 * Events about unknown messages are ignored. An event that cannot be applied does not stop the others. Last, `hear`
 * gets the messages of persons, all at once and in their order. After an error, also one of `hear`, some events may be
 * applied: call again with all of them.
 */
export async function applyChannelEvents(
  context: ChannelEventContext,
  events: readonly ChannelEvent[],
): Promise<ChannelEventCounts> {
  // Events that are only heard need no check here, because the listener requires the index key too.
  const isAsked = context.hear === undefined || !events.every(isHeardAlone);
  if (isAsked) await requireIndexKey(context.database, context.vault);
  let changes = NOTHING;
  const heard = new Map<ChannelEvent, Heard>();
  const unapplied: Record<string, unknown>[] = [];
  for (const near of byPartitions(events, partitionOfEvent)) {
    await eachApart(
      near,
      async (some) => {
        const applied = await againAfterConflict(() => applyTogether(context, some));
        changes = sumOf(changes, applied.changes);
        for (const one of applied.heard) heard.set(one.event, one);
      },
      ({ kind }, error) => unapplied.push({ event: kind, ...errorFields(error) }),
    );
  }
  if (heard.size > 0) await context.hear?.(events.flatMap((event) => heard.get(event) ?? []));
  return { ...countKinds(events), ...changes, unapplied };
}

/** Whether an event needs nothing from the store here. */
function isHeardAlone(event: ChannelEvent): boolean {
  if (event.kind === 'status' || event.kind === 'preference') return false;
  const { from, userId = null } = event;
  const isInterest = event.kind === 'tap' && parseInterestPayload(event.payload) !== null;
  return from !== null && userId === null && !isInterest && stopOf(event) === null;
}

/** The partition of the message or the application that an event names; -1: the event names none. */
function partitionOfEvent(event: ChannelEvent): number {
  const id =
    event.kind === 'status'
      ? event.callback && parseCallback(event.callback)?.messageId
      : event.kind === 'tap' && parseInterestPayload(event.payload);
  return id ? partitionOf(id) : -1;
}

/** How many of these events each kind has. */
export function countKinds(events: readonly ChannelEvent[]): KindCounts {
  const count = (kind: ChannelEvent['kind']) => events.filter((event) => event.kind === kind).length;
  return {
    statuses: count('status'),
    taps: count('tap'),
    texts: count('text'),
    files: count('file'),
    others: count('other'),
    preferences: count('preference'),
  };
}

function sumOf(left: Changes, right: Changes): Changes {
  const sums = CHANGES.map((change) => [change, left[change] + right[change]]);
  return Object.fromEntries(sums) as Record<keyof Changes, number>;
}

async function applyTogether(
  { database, vault }: ChannelEventContext,
  events: readonly ChannelEvent[],
): Promise<{ readonly changes: Changes; readonly heard: readonly Heard[] }> {
  const statuses = events.filter((event) => event.kind === 'status');
  const acts = events.filter((event): event is PersonEvent => event.kind !== 'status');
  const { moved, paused, optedOut, users } = await applyStatuses(database, vault, statuses);
  const told = await learnUsers(database, users);
  const known = await findPhones(database, vault, acts, (event) => stopOf(event) !== null);
  const learnt = await learnUsers(database, known.flatMap(knownUserOf));
  const interested = await recordInterest(database, known.flatMap(interestOf));
  const optOuts = known.flatMap(optOutChangeOf);
  const { suppressed, resumed } = await applyOptOutChanges(database, [
    ...optedOut,
    ...optOuts.flatMap(({ phoneIndex, ...change }) =>
      phoneIndex === null ? [] : [{ ...change, phoneIndex }],
    ),
  ]);
  const withoutPhone = optOuts.filter(({ phoneIndex }) => phoneIndex === null);
  const waiting = await hearUsers(
    database,
    withoutPhone.flatMap(({ userIndex, ...change }) =>
      userIndex === null ? [] : [{ ...change, userIndex }],
    ),
  );
  const changes = {
    moved,
    paused,
    interested,
    suppressed: told.suppressed + learnt.suppressed + suppressed + waiting.suppressed,
    resumed: told.resumed + learnt.resumed + resumed + waiting.resumed,
    waiting: waiting.waiting,
    unknown: withoutPhone.filter(({ userIndex }) => userIndex === null).length,
  };
  return { changes, heard: known.flatMap((one) => heardOf(vault, one)) };
}

async function applyStatuses(
  database: Database,
  vault: Vault,
  events: readonly StatusEvent[],
): Promise<EventEffects> {
  if (events.length === 0) return NO_EFFECTS;
  const statuses = events.map((event) => indexedStatus(vault, event));
  const effects = await applyStatusEvents(database, statuses);
  if (effects.early.length === 0) return effects;
  // The events are kept after the transaction. Within it, their locks would come after the locks of messages.
  await keepEarly(database, effects.early);
  // A record that was committed meanwhile has not found these events.
  const early = effects.early.map(({ channelIndex }) => channelIndex);
  const { moved, paused } = await applyEarly(database, (session) => takeKnownEarly(session, early));
  return { ...effects, moved: effects.moved + moved, paused: effects.paused + paused };
}

function indexedStatus(
  vault: Vault,
  { channelMessageId, recipientUserId = null, ...event }: StatusEvent,
): IndexedStatus {
  return {
    ...event,
    channelIndex: channelIndexOf(vault, channelMessageId),
    userIndex: recipientUserId === null ? null : channelUserIndexOf(vault, recipientUserId),
  };
}

// Second part: what a person's act at the channel means: an interest, an opt-out, or who the person is.

/** The person of an event, if both the phone and the channel's own id are known. */
function knownUserOf({ userIndex, phoneIndex }: KnownEvent): KnownUser[] {
  return userIndex === null || phoneIndex === null ? [] : [{ userIndex, phoneIndex }];
}

/** The interest that an event tells. */
function interestOf({ event, phoneIndex, contextIndex }: KnownEvent): InterestTap[] {
  const applicationId = event.kind === 'tap' ? parseInterestPayload(event.payload) : null;
  return applicationId === null ? [] : [{ applicationId, phoneIndex, contextIndex, at: event.at }];
}

/** What the listeners get from an event. A change of the channel's own setting is not for them. */
function heardOf(vault: Vault, { event, phoneIndex, userIndex, contextIndex }: KnownEvent): Heard[] {
  if (event.kind === 'preference') return [];
  const { messageId = null } = event;
  return [
    {
      event,
      messageIndex: messageId === null ? null : channelIndexOf(vault, messageId),
      phoneIndex,
      userIndex,
      contextIndex,
      optsOut: stopOf(event) !== null,
    },
  ];
}

/** An opt-out or its end, with what is known about the person. */
interface PersonOptOutChange extends Omit<OptOutChange, 'phoneIndex'> {
  readonly phoneIndex: KnownEvent['phoneIndex'];
  readonly userIndex: KnownEvent['userIndex'];
}

/** The opt-out, or its end, that an event tells. */
function optOutChangeOf({ event, phoneIndex, userIndex }: KnownEvent): PersonOptOutChange[] {
  const change = stopOf(event);
  return change === null ? [] : [{ ...change, phoneIndex, userIndex, at: event.at }];
}

/** The opt-out of an event: by the written word, by a button with the word on it, or by the channel's own setting. */
function stopOf(event: PersonEvent): Pick<OptOutChange, 'stops' | 'source'> | null {
  switch (event.kind) {
    case 'preference':
      return { stops: event.wants === 'stop', source: 'channel' };
    case 'text':
      return asksToStop(event.body) ? { stops: true, source: 'keyword' } : null;
    case 'tap':
      return isStopPayload(event.payload) || asksToStop(event.payload) || asksToStop(event.title ?? '')
        ? { stops: true, source: 'keyword' }
        : null;
    case 'file':
      return asksToStop(event.caption ?? '') ? { stops: true, source: 'keyword' } : null;
    case 'other':
      return null;
  }
}
