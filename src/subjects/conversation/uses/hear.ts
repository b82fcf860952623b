/**
 * Stores each message of a person once, before the channel gets its answer, and begins conversations by the tap on "I
 * am interested" (D43). First reads the tables of other machines, then writes in statements about the coordinator's
 * tables only.
 */
import { type ApplicationId, toApplicationId } from '../../../domain/application/ids.ts';
import { type Meaning, meaningsOf } from '../../../domain/conversation/words.ts';
import type { Heard, TapEvent } from '../../../domain/message/channel-event.ts';
import { asksToStop } from '../../../domain/message/opt-out-words.ts';
import { isStopPayload, parseInterestPayload } from '../../../domain/message/outgoing-message.ts';
import { againAfterConflict, type Database, inTransaction } from '../../../ground/postgres/database.ts';
import { markConversations } from '../../applications/sql/application-marks.ts';
import { type KnownUser, learnUsers } from '../../messages/sql/channel-users.ts';
import { type InterestTap, recordInterest } from '../../messages/sql/interest.ts';
import { suppressedOf } from '../../messages/sql/suppressions.ts';
import { parsePayload } from '../rules/payload.ts';
import { beginConversations, type Candidate, channelIndexesOf, readCandidates } from '../sql/begin.ts';
import { addInputs, INPUT_BELL, type NewInput, type SealedInput } from '../sql/inputs.ts';
import {
  applicationsOfContexts,
  conversationsNamed,
  conversationsOfApplications,
  type Found,
  MOST_AN_HOUR,
} from '../sql/match.ts';
import { answerStrangers, type StrangerNotice, type StrangersContext } from './strangers.ts';
import { foundFor, interestOf, isOfOtherPhone, withdrawalIn } from './whose.ts';

// The first part: what is kept of a person's message.

/** The channel's own limits of a text and of a file's name. */
const MAX_TEXT_LENGTH = 4_096;
const MAX_NAME_LENGTH = 240;
/** The longest media type by RFC 6838. */
const MAX_TYPE_LENGTH = 255;

/** If a caption has one of these meanings, its file does not count: the person ends something. */
const ENDING: readonly Meaning[] = ['withdraw', 'wrong_person'];

/** What is kept of the button that stops messages, whose title is the brand's. */
const STOP_WORD = 'STOP';

/** Turns a file into the text of its caption if the caption opts out, withdraws or says that the number is wrong. */
function asWords(heard: Heard): Heard {
  const { event, optsOut } = heard;
  if (event.kind !== 'file') return heard;
  const { from, userId = null, messageId, contextMessageId, at, caption } = event;
  const body = caption ?? '';
  if (!optsOut && !ENDING.some((meaning) => meaningsOf(body).has(meaning))) return heard;
  return { ...heard, event: { kind: 'text', body, from, userId, messageId, contextMessageId, at } };
}

/** What is kept of a message, sealed. The payload of another application's button is not kept. */
function contentOf({ event, optsOut }: Heard, applicationId: ApplicationId): SealedInput {
  const channelId = event.messageId ?? null;
  switch (event.kind) {
    case 'tap': {
      // The button opts out by its words, so the words are kept as a text, which may mean more.
      if (optsOut) return { kind: 'text', body: stopWordOf(event), channelId };
      const interest = parseInterestPayload(event.payload);
      if (interest !== null && interest === toApplicationId(applicationId))
        return { kind: 'interest', channelId };
      const isOurs = parsePayload(event.payload)?.applicationId === applicationId;
      return { kind: 'tap', payload: isOurs ? event.payload : '', channelId };
    }
    case 'text':
      return { kind: 'text', body: beginningOf(event.body, MAX_TEXT_LENGTH), channelId };
    case 'file': {
      const { media, mediaId, claimedType, claimedSha256, filename } = event;
      const [type, name] = [
        beginningOf(claimedType, MAX_TYPE_LENGTH),
        beginningOf(filename, MAX_NAME_LENGTH),
      ];
      return { kind: 'file', media, mediaId, claimedType: type, claimedSha256, filename: name, channelId };
    }
    case 'other':
      return { kind: 'other', what: event.what, channelId };
  }
}

function beginningOf<T extends string | null>(text: T, most: number): T {
  return (text?.slice(0, most).toWellFormed() ?? null) as T;
}

function stopWordOf({ payload, title }: TapEvent): string {
  if (title !== null && asksToStop(title)) return title;
  return isStopPayload(payload) ? STOP_WORD : payload;
}

// The second part: begins conversations by the tap on "I am interested" (D43).

/**
 * Begins the conversations that these messages ask for. Returns how many. May be called again with the same messages.
 */
async function beginByTaps(database: Database, heard: readonly Heard[]): Promise<number> {
  return begin(database, await candidatesOf(database, heard));
}

/**
 * The applications for which taps may begin a conversation. The application is open, the phone is not suppressed, and
 * the brand does not say no. The tap came from the application's phone, or, if the channel tells no phone, stands on
 * one of its messages. If a conversation ended in review, only two taps begin another one: the tap on the message that
 * told the approval afterwards, and a later tap for which the channel does not tell the message.
 */
async function candidatesOf(database: Database, heard: readonly Heard[]): Promise<Beginning[]> {
  const taps = heard.flatMap((one) => {
    const applicationId = interestOf(one);
    return applicationId === null ? [] : [{ ...one, applicationId }];
  });
  if (taps.length === 0) return [];
  const ids = [...new Set(taps.map(({ applicationId }) => applicationId))];
  const known = await conversationsOfApplications(database, ids);
  const found = await readCandidates(
    database,
    ids.filter((id) => known.get(id)?.mayBeginAgain ?? true),
  );
  if (found.length === 0) return [];
  const messages = await channelIndexesOf(
    database,
    found.map(({ applicationId }) => applicationId),
  );
  const received = await applicationsOfContexts(
    database,
    known.size === 0 ? [] : taps.flatMap(({ contextIndex }) => contextIndex ?? []),
  );
  const suppressed = await suppressedOf(
    database,
    found.map(({ phoneIndex }) => phoneIndex),
  );
  return found.flatMap((candidate): Beginning[] => {
    const { applicationId, phoneIndex, brand, hasConsent, isWrongPerson } = candidate;
    const before = known.get(applicationId);
    const { all, approval } = messages.get(applicationId) ?? NO_MESSAGES;
    if (!hasConsent || isWrongPerson || brand.conversation === false || suppressed.has(phoneIndex)) return [];
    if (before !== undefined && approval === null) return [];
    // Any other message that the person got came before the end.
    const isLater = ({ contextIndex, event }: Heard, endedAt: Date | null) =>
      (contextIndex === null || !received.has(contextIndex)) && endedAt !== null && event.at > endedAt;
    const begins = taps.some(
      (tap) =>
        tap.applicationId === applicationId &&
        (before === undefined || tap.contextIndex === approval || isLater(tap, before.endedAt)) &&
        (tap.phoneIndex === phoneIndex ||
          (tap.event.from === null && tap.contextIndex !== null && all.has(tap.contextIndex))),
    );
    return begins ? [{ candidate, isAgain: before !== undefined }] : [];
  });
}

const NO_MESSAGES = { all: new Set<string>(), approval: null };

/** A conversation to begin; `isAgain`: the application has had one. */
interface Beginning {
  readonly candidate: Candidate;
  readonly isAgain: boolean;
}

/**
 * Begins conversations. The applications are marked first, because from then on a payment needs the signature (D46).
 */
async function begin(database: Database, beginnings: readonly Beginning[]): Promise<number> {
  if (beginnings.length === 0) return 0;
  const ids = beginnings.map(({ candidate }) => candidate.applicationId);
  const marked = new Set(
    await againAfterConflict(() => inTransaction(database, (session) => markConversations(session, ids))),
  );
  let begun = 0;
  for (const again of [false, true]) {
    const open = beginnings.filter(
      ({ candidate, isAgain }) => isAgain === again && marked.has(candidate.applicationId),
    );
    const candidates = open.map(({ candidate }) => candidate);
    begun += (await againAfterConflict(() => beginConversations(database, candidates, again))).length;
  }
  return begun;
}

type HearingContext = StrangersContext;

/** What was heard, in numbers for log lines. */
export interface HeardCounts {
  readonly begun: number;
  readonly stored: number;
  /** Messages that were not stored because their person has sent too many, by application. */
  readonly beyond: ReadonlyMap<ApplicationId, number>;
  /** Messages of persons who have no conversation. */
  readonly strangers: number;
  /** Those whose phone has an open application with an offer. */
  readonly notices: readonly StrangerNotice[];
}

/**
 * Begins conversations, stores the messages of persons who have one, and answers persons without one who have an offer.
 * May be called again with the same messages.
 */
export async function hearMessages(context: HearingContext, all: readonly Heard[]): Promise<HeardCounts> {
  const heard = all.map(asWords);
  const begun = await beginByTaps(context.database, heard);
  const named = await conversationsNamed(context.database, context.vault, {
    contexts: heard.flatMap(({ contextIndex }) => contextIndex ?? []),
    applications: heard.flatMap((one) => interestOf(one) ?? []),
    phones: heard.flatMap(({ phoneIndex }) => phoneIndex ?? []),
    withdrawing: heard.flatMap((one) => (withdrawalIn(one) === null ? [] : (one.phoneIndex ?? []))),
  });
  const known = heard.flatMap((one) => {
    const found = foundFor(one, named);
    return found === null ? [] : [{ one, found }];
  });
  await noteLateKnown(context, known);
  const inputs = known.map(
    ({ one, found }): NewInput => ({
      conversationId: found.id,
      applicationId: found.applicationId,
      messageIndex: one.messageIndex,
      workId: null,
      at: one.event.at,
      content: {
        ...contentOf(one, found.applicationId),
        sentMs: one.event.at.getTime(),
        ...(isOfOtherPhone(one, found) && { isOfOtherPhone: true }),
      },
    }),
  );
  const { kept, beyond } = withinBound(
    inputs,
    known.map(({ found }) => found),
  );
  const stored = await againAfterConflict(() => addInputs(context.database, context.vault, 'person', kept));
  if (stored > 0) INPUT_BELL.ring();
  const isKnown = new Set(known.map(({ one }) => one));
  const strangers = heard.filter((one) => !isKnown.has(one));
  const notices = await answerStrangers(context, strangers);
  return { begun, stored, beyond, strangers: strangers.length, notices };
}

/**
 * Learns the person and the interest of messages whose phone became known late. The channel's id of the answered
 * message may be recorded after the intake has looked for it, and before this file does. Without this note the person's
 * next message would belong to no conversation.
 */
async function noteLateKnown(
  { database }: HearingContext,
  known: readonly { readonly one: Heard; readonly found: Found }[],
): Promise<void> {
  const late = known.filter(({ one }) => one.phoneIndex === null);
  const users = late.flatMap(({ one: { userIndex }, found: { phoneIndex } }): KnownUser[] =>
    userIndex === null ? [] : [{ userIndex, phoneIndex }],
  );
  await learnUsers(database, users);
  const taps = late.flatMap(({ one, found: { phoneIndex } }): InterestTap[] => {
    const applicationId = interestOf(one);
    return applicationId === null
      ? []
      : [{ applicationId, phoneIndex, contextIndex: one.contextIndex, at: one.event.at }];
  });
  await recordInterest(database, taps);
}

/** The inputs within the hourly limit of their conversations, in their order, and how many are beyond it. */
function withinBound(inputs: readonly NewInput[], conversations: readonly Found[]) {
  const used = new Map(conversations.map(({ id, inputsOfHour }) => [id, inputsOfHour]));
  const beyond = new Map<ApplicationId, number>();
  const kept = inputs.filter(({ conversationId, applicationId }) => {
    const before = used.get(conversationId) ?? 0;
    used.set(conversationId, before + 1);
    if (before < MOST_AN_HOUR) return true;
    beyond.set(applicationId, (beyond.get(applicationId) ?? 0) + 1);
    return false;
  });
  return { kept, beyond };
}
