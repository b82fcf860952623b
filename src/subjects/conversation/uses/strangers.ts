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
import { interestPayload, localeOfPhone } from '../../../domain/message/outgoing-message.ts';
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

interface StrangersContext {
  readonly database: Database;
  readonly vault: Vault;
}

/** What became of the words of a person without a conversation, for log lines. */
export interface StrangerNotice {
  readonly applicationId: ApplicationId;
  readonly did: 'answered' | 'wrong_person' | 'nothing';
}

/** The numbers of these two answers. Turns of conversations begin with 1. An application gets each answer once. */
const BUTTON_TURN = -1;
const APOLOGY_TURN = 0;

/** Words with these meanings get no button. */
const WANT_NONE: readonly Meaning[] = ['no', 'later', 'withdraw', 'thanks'];
/** From a person who has answered nothing yet, the second meaning counts as the first. */
const OF_ANOTHER: readonly Meaning[] = ['wrong_person', 'mistaken'];

/** The words of one person about one application. */
interface Words {
  readonly candidate: Candidate;
  readonly heard: readonly Heard[];
  readonly meanings: ReadonlySet<Meaning>;
}

/**
 * Answers these messages of persons without a conversation. The button goes to persons with an open application that
 * has consent and was sent an offer. "Wrong number" counts for every open application that was sent a message. May be
 * called again with the same messages.
 */
export async function answerStrangers(
  context: StrangersContext,
  heard: readonly Heard[],
): Promise<StrangerNotice[]> {
  const all = await wordsOf(context, heard);
  const wrong = await wrongOf(context, all);
  const others = all.filter((words) => !isOfAnother(words));
  const mayAnswer = await answerable(context, wrong);
  for (const one of wrong) await noteWrong(context, one, mayAnswer(one));
  return [
    ...wrong.map(({ candidate }) => noticeOf(candidate, 'wrong_person')),
    ...(await answerOffered(context, others)),
  ];
}

async function wordsOf({ database }: StrangersContext, heard: readonly Heard[]): Promise<Words[]> {
  const written = heard.filter(
    ({ event, phoneIndex, optsOut }) => event.kind === 'text' && phoneIndex !== null && !optsOut,
  );
  const ids = await openApplicationsOf(
    database,
    written.flatMap(({ phoneIndex }) => phoneIndex ?? []),
  );
  if (ids.length === 0) return [];
  const candidates = await readCandidates(database, ids);
  return candidates.flatMap((candidate): Words[] => {
    const mine = written.filter(({ phoneIndex }) => phoneIndex === candidate.phoneIndex);
    const meanings = new Set(
      mine.flatMap(({ event }) => (event.kind === 'text' ? [...meaningsOf(event.body)] : [])),
    );
    return mine.length === 0 ? [] : [{ candidate, heard: mine, meanings }];
  });
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
  const content = mayAnswer ? await contentOf(context, words, false) : null;
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
    const content = isDue ? await contentOf(context, words, true) : null;
    if (content !== null) {
      await inTransaction(database, (session) => queue(session, context, words, BUTTON_TURN, content));
      REPLY_BELL.ring();
    }
    notices.push(noticeOf(candidate, content === null ? 'nothing' : 'answered'));
  }
  return notices;
}

/** The sealed answer; null: the channel's window is closed, or this process lacks the data key of the applicant. */
async function contentOf(
  { database, vault }: StrangersContext,
  words: Words,
  hasButton: boolean,
): Promise<{ readonly reply: ReplyContent; readonly windowUntil: Date } | null> {
  const { applicationId, status } = words.candidate;
  const now = await databaseTime(database);
  const newest = Math.max(...words.heard.map(({ event }) => event.at.getTime()));
  const windowUntil = new Date(Math.min(newest, now.getTime()) + WINDOW_MS);
  const { brand, partnerName, phone } =
    (await readSpeakers(database, vault, [applicationId])).get(applicationId) ?? {};
  if (windowUntil <= now || brand === undefined || partnerName === undefined || !phone) return null;
  const { partner, buttons } = effectiveBrand(brand, partnerName);
  const { texts } = flowWith(DEFAULT_FLOW, brand.conversation || {});
  const text = texts[languageOfPhone(phone).language][hasButton ? 'tap_first' : 'wrong_person'];
  const [title = ''] =
    buttons[status === 'in_review' ? 'offer' : 'approved'][localeOfPhone(phone).language] ?? [];
  const reply: ReplyContent = {
    text: fillText(text, { partner }),
    buttons: hasButton ? [{ title, payload: interestPayload(applicationId) }] : [],
    readMessageId: words.heard.at(-1)?.event.messageId ?? null,
  };
  return { reply, windowUntil };
}

function queue(
  session: Transaction,
  { vault }: StrangersContext,
  { candidate: { applicationId, partnerId, phoneIndex } }: Words,
  turn: number,
  { reply, windowUntil }: { readonly reply: ReplyContent; readonly windowUntil: Date },
): Promise<void> {
  const content = sealReply(vault, { applicationId, turn }, reply);
  return queueReplies(session, [{ applicationId, turn, partnerId, phoneIndex, content, windowUntil }]);
}

function noticeOf({ applicationId }: Candidate, did: StrangerNotice['did']): StrangerNotice {
  return { applicationId, did };
}
