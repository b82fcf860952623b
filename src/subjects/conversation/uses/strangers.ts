/**
 * Answers persons without a conversation who write words instead of tapping the offer's button: once, with the button
 * (D43; docs/conversation.md, "Inputs, turns and replies"). Only the tap begins a conversation. Queues replies, and
 * notes wrong persons.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { DEFAULT_FLOW } from '../../../domain/conversation/default-flow.ts';
import { flowWith } from '../../../domain/conversation/flow.ts';
import { languageOfPhone } from '../../../domain/conversation/language.ts';
import { type Meaning, meaningsOf } from '../../../domain/conversation/words.ts';
import type { Heard } from '../../../domain/message/channel-event.ts';
import { mayAskToStop } from '../../../domain/message/opt-out-doubts.ts';
import {
  type Button,
  goOnPayload,
  interestPayload,
  localeOfPhone,
  stopPayload,
} from '../../../domain/message/outgoing-message.ts';
import type { ReplyContent } from '../../../domain/message/reply.ts';
import { WINDOW_MS } from '../../../domain/message/reply.ts';
import { effectiveBrand } from '../../../domain/partner/brand.ts';
import {
  againAfterConflict,
  type Database,
  inTransaction,
  type Transaction,
} from '../../../ground/postgres/database.ts';
import { databaseTime } from '../../../ground/postgres/database-time.ts';
import type { Vault } from '../../../seal/vault.ts';
import { noteWrongPerson } from '../../applications/sql/application-marks.ts';
import { newestOf } from '../../applications/sql/newest.ts';
import { readSpeakers } from '../../applications/sql/speakers.ts';
import {
  cancelMessagesForWrongPerson,
  cancelRepliesForWrongPerson,
} from '../../messages/sql/changes/turn-changes.ts';
import { queueReplies, REPLY_BELL, sealReply } from '../../messages/sql/replies.ts';
import { suppressedOf } from '../../messages/sql/suppressions.ts';
import { fillText } from '../rules/compose.ts';
import { type Candidate, readCandidates } from '../sql/begin.ts';
import { answeredAt, offeredWithoutConversation, openApplicationsOf, sentTo } from '../sql/strangers.ts';

/** What hearing the messages of persons works with. */
export interface StrangersContext {
  readonly database: Database;
  readonly vault: Vault;
  /** Called where the applications of phones cannot be looked up, as during a `vault reindex`. */
  readonly onLookUpFault?: (error: unknown) => void;
}

/** What became of the words of a person without a conversation, for log lines. */
export interface StrangerNotice {
  readonly applicationId: ApplicationId;
  readonly did: 'answered' | 'asked_back' | 'wrong_person' | 'nothing';
}

/** The numbers of these answers. Turns of conversations begin with 1. An application gets each answer once. */
const STOP_TURN = -2;
const BUTTON_TURN = -1;
const APOLOGY_TURN = 0;
/** An answer by its number. */
const ANSWERS = {
  [STOP_TURN]: 'stop_or_go_on',
  [BUTTON_TURN]: 'tap_first',
  [APOLOGY_TURN]: 'wrong_person',
} as const;
type AnswerTurn = keyof typeof ANSWERS;

/** Words with these meanings get no button. */
const WANT_NONE: readonly Meaning[] = ['no', 'later', 'withdraw', 'thanks'];
/** From a person who has answered nothing yet, the second meaning counts as the first. */
const OF_ANOTHER: readonly Meaning[] = ['wrong_person', 'mistaken'];

/** The words of one person about one application. */
interface Words {
  readonly candidate: Candidate;
  readonly heard: readonly Heard[];
  readonly meanings: ReadonlySet<Meaning>;
  /** Some of the words could ask for no more messages, and none means anything else. */
  readonly mayStop: boolean;
}

/**
 * Answers these messages of persons without a conversation. The button goes to persons with an open application that
 * has consent and was sent an offer. "Wrong number" counts for every open application that was sent a message. Whether
 * messages should stop is also asked about the newest closed application. May be called again with the same messages.
 */
export async function answerStrangers(
  context: StrangersContext,
  heard: readonly Heard[],
): Promise<StrangerNotice[]> {
  const all = await wordsOf(context, heard);
  const wrong = await wrongOf(context, all);
  const doubtful = all.filter((words) => words.mayStop);
  const others = all.filter((words) => !isOfAnother(words) && !words.mayStop);
  const mayAnswer = await answerable(context, wrong);
  for (const one of wrong) await noteWrong(context, one, mayAnswer(one));
  return [
    ...wrong.map(({ candidate }) => noticeOf(candidate, 'wrong_person')),
    ...(await askWhetherToStop(context, doubtful)),
    ...(await answerOffered(context, others)),
  ];
}

async function wordsOf(context: StrangersContext, heard: readonly Heard[]): Promise<Words[]> {
  const written = heard.filter(
    ({ event, phoneIndex, optsOut }) => event.kind === 'text' && phoneIndex !== null && !optsOut,
  );
  const ids = await openApplicationsOf(
    context.database,
    written.flatMap(({ phoneIndex }) => phoneIndex ?? []),
  );
  const open = await readCandidates(context.database, ids);
  const known = new Set(open.map(({ phoneIndex }) => phoneIndex));
  const closed = await closedOf(
    context,
    written.filter((one) => !known.has(one.phoneIndex!) && mayStop([one])),
  );
  const words = [...open, ...closed].map((candidate): Words => {
    const mine = written.filter(({ phoneIndex }) => phoneIndex === candidate.phoneIndex);
    const meanings = new Set(
      mine.flatMap(({ event }) => (event.kind === 'text' ? [...meaningsOf(event.body)] : [])),
    );
    return { candidate, heard: mine, meanings, mayStop: mayStop(mine) };
  });
  return words.filter((one) => one.heard.length > 0 && (one.mayStop || !closed.includes(one.candidate)));
}

function mayStop(heard: readonly Heard[]): boolean {
  return (
    heard.some(({ event }) => event.kind === 'text' && mayAskToStop(event.body)) &&
    heard.every(({ event }) => event.kind === 'text' && meaningsOf(event.body).size === 0)
  );
}

/**
 * The newest applications of persons without an open one. The look-up reads many batches, and may fail: then these
 * persons are not asked.
 */
async function closedOf(
  { database, onLookUpFault }: StrangersContext,
  heard: readonly Heard[],
): Promise<Candidate[]> {
  if (heard.length === 0) return [];
  try {
    const phones = heard.flatMap(({ phoneIndex }) => phoneIndex ?? []);
    return await readCandidates(database, [...(await newestOf(database, phones)).values()], true);
  } catch (error) {
    onLookUpFault?.(error);
    return [];
  }
}

/** Asks persons who were sent a message, once, whether they want no more of them. */
async function askWhetherToStop(context: StrangersContext, all: readonly Words[]): Promise<StrangerNotice[]> {
  if (all.length === 0) return [];
  const { database } = context;
  const ids = all.map(({ candidate }) => candidate.applicationId);
  const sent = await sentTo(database, ids);
  const asked = await answeredAt(database, ids, STOP_TURN);
  const mayAnswer = await answerable(context, all);
  const notices: StrangerNotice[] = [];
  for (const words of all) {
    const { applicationId, isWrongPerson } = words.candidate;
    const isDue = sent.has(applicationId) && !asked.has(applicationId) && mayAnswer(words) && !isWrongPerson;
    const isAsked = isDue && (await answerWith(context, words, STOP_TURN));
    if (sent.has(applicationId)) notices.push(noticeOf(words.candidate, isAsked ? 'asked_back' : 'nothing'));
  }
  return notices;
}

function isOfAnother({ meanings }: Words): boolean {
  return OF_ANOTHER.some((meaning) => meanings.has(meaning));
}

/** The words that say that the number is wrong. If no message was sent, the words are about something else. */
async function wrongOf({ database }: StrangersContext, all: readonly Words[]): Promise<Words[]> {
  const said = all.filter(isOfAnother);
  if (said.length === 0) return [];
  const sent = await sentTo(
    database,
    said.map(({ candidate }) => candidate.applicationId),
  );
  return said.filter(({ candidate }) => sent.has(candidate.applicationId));
}

/**
 * The applications that may get an answer at all: with consent, with a brand that has conversations, and not
 * suppressed.
 */
async function answerable({ database }: StrangersContext, all: readonly Words[]) {
  const suppressed = await suppressedOf(
    database,
    all.map(({ candidate }) => candidate.phoneIndex),
  );
  return ({ candidate: { hasConsent, brand, phoneIndex } }: Words) =>
    hasConsent && brand.conversation !== false && !suppressed.has(phoneIndex);
}

/** Notes a wrong person: no message of the application goes to this phone until an operator gives it back. */
async function noteWrong(context: StrangersContext, words: Words, mayAnswer: boolean): Promise<void> {
  const { applicationId } = words.candidate;
  const content = mayAnswer ? await contentOf(context, words, APOLOGY_TURN) : null;
  await againAfterConflict(() =>
    inTransaction(context.database, async (session) => {
      await noteWrongPerson(session, [applicationId], true);
      await cancelRepliesForWrongPerson(session, [applicationId]);
      await cancelMessagesForWrongPerson(session, [applicationId]);
      if (content !== null) await queue(session, context, words, APOLOGY_TURN, content);
    }),
  );
  REPLY_BELL.ring();
}

async function answerOffered(context: StrangersContext, all: readonly Words[]): Promise<StrangerNotice[]> {
  if (all.length === 0) return [];
  const { database } = context;
  const ids = all.map(({ candidate }) => candidate.applicationId);
  const offered = await offeredWithoutConversation(database, ids);
  const answered = await answeredAt(database, ids, BUTTON_TURN);
  const mayAnswer = await answerable(context, all);
  const notices: StrangerNotice[] = [];
  for (const words of all) {
    const { candidate, meanings } = words;
    const { applicationId, hasConsent, brand } = candidate;
    if (!hasConsent || !offered.has(applicationId) || brand.conversation === false) continue;
    const isDue =
      mayAnswer(words) &&
      !candidate.isWrongPerson &&
      !answered.has(applicationId) &&
      !WANT_NONE.some((meaning) => meanings.has(meaning));
    const isAnswered = isDue && (await answerWith(context, words, BUTTON_TURN));
    notices.push(noticeOf(candidate, isAnswered ? 'answered' : 'nothing'));
  }
  return notices;
}

/** Queues an answer. Returns false if it cannot be said now. */
async function answerWith(context: StrangersContext, words: Words, turn: AnswerTurn): Promise<boolean> {
  const content = await contentOf(context, words, turn);
  if (content === null) return false;
  await inTransaction(context.database, (session) => queue(session, context, words, turn, content));
  REPLY_BELL.ring();
  return true;
}

/** The sealed answer; null: the channel's window is closed, or this process lacks the data key of the applicant. */
async function contentOf(
  { database, vault }: StrangersContext,
  words: Words,
  turn: AnswerTurn,
): Promise<{ readonly reply: ReplyContent; readonly windowUntil: Date } | null> {
  const { applicationId, status } = words.candidate;
  const now = await databaseTime(database);
  const newest = Math.max(...words.heard.map(({ event }) => event.at.getTime()));
  const windowUntil = new Date(Math.min(newest, now.getTime()) + WINDOW_MS);
  const { brand, partnerName, phone } =
    (await readSpeakers(database, vault, [applicationId])).get(applicationId) ?? {};
  if (windowUntil <= now || brand === undefined || partnerName === undefined || !phone) return null;
  const { partner, buttons } = effectiveBrand(brand, partnerName);
  const flow = flowWith(DEFAULT_FLOW, brand.conversation || {});
  const { language } = languageOfPhone(phone);
  const [interest = ''] =
    buttons[status === 'in_review' ? 'offer' : 'approved'][localeOfPhone(phone).language] ?? [];
  const { stop, go_on: goOn } = flow.buttons[language];
  const under: Readonly<Record<AnswerTurn, readonly Button[]>> = {
    [STOP_TURN]: [
      { title: stop, payload: stopPayload(applicationId) },
      { title: goOn, payload: goOnPayload(applicationId) },
    ],
    [BUTTON_TURN]: [{ title: interest, payload: interestPayload(applicationId) }],
    [APOLOGY_TURN]: [],
  };
  const reply: ReplyContent = {
    text: fillText(flow.texts[language][ANSWERS[turn]], { partner }),
    buttons: under[turn],
    readMessageId: words.heard.at(-1)?.event.messageId ?? null,
  };
  return { reply, windowUntil };
}

function queue(
  session: Transaction,
  { vault }: StrangersContext,
  { candidate: { applicationId, partnerId, phoneIndex } }: Words,
  turn: AnswerTurn,
  { reply, windowUntil }: { readonly reply: ReplyContent; readonly windowUntil: Date },
): Promise<void> {
  const content = sealReply(vault, { applicationId, turn }, reply);
  return queueReplies(session, [{ applicationId, turn, partnerId, phoneIndex, content, windowUntil }]);
}

function noticeOf({ applicationId }: Candidate, did: StrangerNotice['did']): StrangerNotice {
  return { applicationId, did };
}
