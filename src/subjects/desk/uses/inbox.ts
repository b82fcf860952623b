/**
 * The inbox: who waits for a person, and what operators do about it (docs/operators.md, "The inbox"). An act needs the
 * claim of the conversation, or takes it, so that two operators never answer the same person.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { isEnd, type Step } from '../../../domain/conversation/places.ts';
import type { ReplyContent } from '../../../domain/message/reply.ts';
import { withOffset } from '../../../ground/base/clock.ts';
import { againAfterConflict, inTransaction, type Transaction } from '../../../ground/postgres/database.ts';
import { acting } from '../../../program/operations/acting.ts';
import {
  type ConversationRow,
  conversationOf,
  lockConversation,
} from '../../conversation/sql/conversations.ts';
import { type Unsayable, whyUnsayable } from '../../conversation/uses/may-say.ts';
import {
  actOn,
  type SpeakingContext,
  sayTo,
  stepsToGiveBack,
  textBesideFile,
  textToSay,
} from '../../conversation/uses/operate.ts';
import { type NotReminded, type Reminder, remind, reminderSince } from '../../conversation/uses/remind.ts';
import {
  type FilesToSend,
  type GivenFile,
  NotScanned,
  storeFileToSend,
} from '../../documents/uses/file-to-send.ts';
import { readReplyContents } from '../../messages/sql/replies/contents.ts';
import { REPLY_BELL } from '../../messages/sql/replies.ts';
import { suppressedOf } from '../../messages/sql/suppressions.ts';
import type { InboxState } from '../rules/inbox.ts';
import { type Claimer, pageHasLeft, type StoredClaim } from '../sql/claims.ts';
import {
  type KeyedRequest,
  keepClaimed,
  keepTurn,
  keyedRequest,
  takeRequest,
  turnOfRequest,
} from '../sql/desk-requests.ts';
import {
  countWaiting,
  dropConversation,
  type InboxPlace,
  readInbox,
  readInboxRow,
  type StoredInboxRow,
  takeConversation,
  takeNextConversation,
} from '../sql/inbox.ts';
import { actingAs, type Desk, type SpeakingDesk } from './desk-context.ts';
import { conflict, otherRequest, Refusal, spentKey } from './refusal.ts';

export type { InboxPlace };

/** A conversation as the inbox shows it. */
export interface InboxConversation extends StoredInboxRow {
  /** Why no text can go to the person now; null: one can. */
  readonly unsayable: Unsayable | null;
}

/** A page of the inbox. A conversation whose place changes meanwhile may be missing, or come twice. */
export async function showInbox(
  { database }: Pick<Desk, 'database'>,
  state: InboxState,
  after: InboxPlace | null,
  limit: number,
): Promise<{
  readonly conversations: readonly InboxConversation[];
  readonly next: InboxPlace | null;
  readonly waiting: number;
}> {
  const [found, waiting] = await Promise.all([
    readInbox(database, state, after, limit + 1),
    countWaiting(database),
  ]);
  const conversations = await withUnsayable(database, found.slice(0, limit));
  return { conversations, next: found.length > limit ? conversations.at(-1)! : null, waiting };
}

async function withUnsayable(
  database: Desk['database'],
  rows: readonly StoredInboxRow[],
): Promise<InboxConversation[]> {
  const muted = await suppressedOf(
    database,
    rows.map(({ phoneIndex }) => phoneIndex),
  );
  return rows.map((row) => ({ ...row, unsayable: unsayableOf(row, muted.has(row.phoneIndex)) }));
}

function unsayableOf(row: StoredInboxRow, isMuted: boolean): Unsayable | null {
  if (row.isOptedOut || isMuted) return 'opted_out';
  if (row.isWrongPerson) return 'wrong_person';
  return row.isClosed ? 'window_closed' : null;
}

/**
 * The newest conversation of an application, whoever holds it, with the steps to which it can be given back, and the
 * reminder since the person's last message (null: there is none). Throws a `Refusal` (404) if there is no conversation.
 */
export async function showOfInbox(
  { database }: Pick<Desk, 'database'>,
  id: ApplicationId,
): Promise<InboxConversation & { readonly steps: readonly Step[]; readonly reminder: Reminder | null }> {
  const [stored, row] = await Promise.all([readInboxRow(database, id), conversationOf(database, id)]);
  if (stored === null || row === null) throw noConversation();
  const [shown] = await withUnsayable(database, [stored]);
  const [steps, reminder] = await Promise.all([
    stepsToGiveBack(database, row),
    reminderSince(database, stored),
  ]);
  return { ...shown!, steps, reminder };
}

/**
 * Claims the conversation that waits and whose window closes first; null: nobody waits, or the page was closed. `key`:
 * the Idempotency-Key; a repetition renews the claim of the first request, and claims another conversation only if that
 * claim is lost. Throws a `Refusal` if the key was used for another request.
 */
export function claimNextOfInbox(
  { database }: Pick<Desk, 'database'>,
  claimer: Claimer,
  key: string | null,
): Promise<ApplicationId | null> {
  const request = keyedRequest(claimer.operatorId, key, ['claim next of inbox']);
  return againAfterConflict(() =>
    inTransaction(database, async (session) => {
      if (await pageHasLeft(session, claimer)) return null;
      const before = request === null ? 'new' : await takeRequest(session, request);
      if (before === 'other' || before === 'undone') throw spentKey(before);
      const first = before === 'new' ? undefined : before.outcomes[0]?.id;
      if (first !== undefined && (await takeAgain(session, first, claimer))) return first;
      const next = await takeNextConversation(session, claimer);
      if (next !== null && request !== null) await keepClaimed(session, request, next);
      return next;
    }),
  );
}

/** Renews a claim. One that was lost is taken again only if nobody has answered the person meanwhile. */
async function takeAgain(session: Transaction, id: ApplicationId, claimer: Claimer): Promise<boolean> {
  const before = await readInboxRow(session, id);
  if (!(await takeConversation(session, id, claimer)).isHeld) return false;
  if (before?.claim?.by.id === claimer.operatorId) return true;
  if ((await readInboxRow(session, id))?.waitsSince != null) return true;
  await dropConversation(session, id, claimer);
  return false;
}

/**
 * Claims a conversation, or renews the claim. Throws a `Refusal`: 404 there is none; 409 the service speaks in it, or
 * another operator holds the claim.
 */
export function claimConversation(
  { database }: Pick<Desk, 'database'>,
  id: ApplicationId,
  claimer: Claimer,
): Promise<StoredClaim> {
  return againAfterConflict(() =>
    inTransaction(database, async (session) => {
      const { row, claim } = await claimed(session, id, claimer);
      if (row.heldBy !== 'operator') throw notHeld();
      return claim;
    }),
  );
}

/** Gives the claim back if no other page of the operator uses it. */
export function releaseConversation(
  { database }: Pick<Desk, 'database'>,
  id: ApplicationId,
  claimer: Claimer,
): Promise<void> {
  return againAfterConflict(() => dropConversation(database, id, claimer));
}

/** Which conversation an operator acts on, from which page, and with which Idempotency-Key (null: none). */
export interface InboxCall {
  readonly id: ApplicationId;
  readonly claimer: Claimer;
  readonly key: string | null;
}

/**
 * Sends a text to the person, and records it. Throws `OperatorError` for a fault of the text, and a `Refusal`: 404
 * there is no conversation; 409 another operator holds the claim, the service speaks, or no text can go to the person;
 * 400 the key was used for another text.
 */
export async function replyInInbox(desk: SpeakingDesk, call: InboxCall, text: string): Promise<void> {
  const written = textToSay(text);
  // The digest has no text: what was written to a person is stored sealed alone.
  await inClaim(desk, call, ['conversation say', call.id], 'conversation say', {
    act: async (context, session, claimed, request) => {
      await requireSayable(session, claimed);
      const { turn } = await sayTo(context, call.id, written);
      if (request !== null) await keepTurn(session, request, turn);
    },
    again: async (session, request) => {
      const said = await contentOfRequest(desk, call, session, request);
      if (said !== null && said.text !== written) throw otherRequest();
    },
  });
  REPLY_BELL.ring();
}

/**
 * Sends a file to the person, with a text or the empty one, and records it. Throws as `replyInInbox`, an
 * `OperatorError` for a fault of the file, and a `Refusal` (409) if the scanner does not answer.
 */
export async function sendFileInInbox(
  desk: SpeakingDesk & { readonly openFiles: () => Promise<FilesToSend> },
  call: InboxCall,
  { text, ...given }: GivenFile & { readonly text: string },
): Promise<void> {
  const { id } = call;
  const written = textBesideFile(text);
  if ((await conversationOf(desk.database, id)) === null) throw noConversation();
  const file = await storeFileToSend(await desk.openFiles(), given).catch((error: unknown) => {
    throw error instanceof NotScanned ? conflict('not_scanned', error.message) : error;
  });
  await inClaim(desk, call, ['conversation send file', id], 'conversation send-file', {
    act: async (context, session, claimed, request) => {
      await requireSayable(session, claimed);
      const { turn } = await sayTo(context, id, written, file);
      if (request !== null) await keepTurn(session, request, turn);
    },
    again: async (session, request) => {
      const said = await contentOfRequest(desk, call, session, request);
      if (said !== null && (said.text !== written || said.file?.sha256 !== file.sha256)) throw otherRequest();
    },
  });
  REPLY_BELL.ring();
}

/** Throws a `Refusal` if nothing can be said now, or if another operator has answered. */
async function requireSayable(session: Transaction, { row, wasHeld }: Claimed): Promise<void> {
  if (row.heldBy !== 'operator') throw notHeld();
  // The claim may have ended while the operator wrote, and another one may have answered.
  if (!wasHeld && row.waitsSince === null)
    throw conflict('not_claimed', 'an operator has answered the person: claim the conversation first');
  const why = await whyUnsayable(session, row);
  if (why !== null) throw conflict(why, UNSAYABLE_TEXTS[why]);
}

/** What the first request sent; null: it is gone, or does not open. */
async function contentOfRequest(
  { vault }: SpeakingDesk,
  { id }: InboxCall,
  session: Transaction,
  request: KeyedRequest,
): Promise<ReplyContent | null> {
  const turn = await turnOfRequest(session, request);
  return (await readReplyContents(session, vault, id)).find((reply) => reply.turn === turn)?.content ?? null;
}

const UNSAYABLE_TEXTS: Readonly<Record<Unsayable, string>> = {
  opted_out: 'the person wants no messages',
  wrong_person: 'the person said that the number is wrong: where it is not, give the conversation back',
  window_closed: 'the person wrote over 24 hours ago: the channel takes no text until they write',
};

/**
 * Sends the reminder, the one message that may go to a person whose window is closed, and records it. Then the person
 * waits for nobody, until they write. Throws a `Refusal` as `replyInInbox`, and 409 if no reminder can go.
 */
export function remindInInbox(desk: SpeakingDesk, call: InboxCall): Promise<void> {
  return inClaim(desk, call, ['conversation remind', call.id], 'conversation remind', {
    act: async (_context, session, { row }) => {
      if (row.heldBy !== 'operator') throw notHeld();
      const why = await remind(session, row);
      if (why !== null) throw conflict(why, NOT_REMINDED_TEXTS[why]);
    },
  });
}

const NOT_REMINDED_TEXTS: Readonly<Record<NotReminded, string>> = {
  opted_out: UNSAYABLE_TEXTS.opted_out,
  wrong_person: UNSAYABLE_TEXTS.wrong_person,
  window_open: 'the person wrote in the last 24 hours: send a text',
  reminded: 'a reminder went out since the person wrote: they have to write now',
  no_reminder: 'the application is closed, has no phone, or its applicant never agreed to messages',
};

/**
 * Lets an operator speak in a conversation that the service holds, and claims it. Throws a `Refusal` as `replyInInbox`,
 * and 409 if an operator speaks already.
 */
export function handOverToInbox(desk: SpeakingDesk, call: InboxCall): Promise<void> {
  return inClaim(desk, call, ['conversation hand-over', call.id], 'conversation hand-over', {
    act: async (context, _session, { row }) => {
      if (row.heldBy === 'operator') throw conflict('held', 'an operator speaks in it already');
      if (isEnd(row.place)) throw conflict('ended', 'the conversation has ended');
      await actOn(context, call.id, 'hand_over');
    },
  });
}

/**
 * Gives the conversation back to the service, at a step or where it stands (null), records it, and gives the claim
 * back. Throws a `Refusal` as `replyInInbox`, and 409 if it cannot go back to the step.
 */
export function giveBackFromInbox(desk: SpeakingDesk, call: InboxCall, step: Step | null): Promise<void> {
  return inClaim(desk, call, ['conversation give-back', call.id, step], 'conversation give-back', {
    act: async (context, session, { row }) => {
      if (row.heldBy !== 'operator') throw notHeld();
      if (step !== null && !(await stepsToGiveBack(session, row)).includes(step))
        throw conflict('no_step', `the conversation cannot go back to ${step}`);
      await actOn(context, call.id, 'give_back', step ?? undefined);
      await dropConversation(session, call.id, { ...call.claimer, page: null });
    },
  });
}

/**
 * Ends the conversation, records it with the reason, and gives the claim back. Throws a `Refusal` as `replyInInbox`,
 * and 409 if it has ended.
 */
export function closeInInbox(desk: SpeakingDesk, call: InboxCall, reason: string): Promise<void> {
  return inClaim(desk, call, ['conversation close', call.id, reason], 'conversation close', {
    reason,
    act: async (context, session, { row }) => {
      if (isEnd(row.place)) throw conflict('ended', 'the conversation has ended');
      await actOn(context, call.id, 'close');
      await dropConversation(session, call.id, { ...call.claimer, page: null });
    },
  });
}

interface InClaim {
  readonly reason?: string;
  /** `request` null: it has no key. */
  readonly act: (
    context: SpeakingContext,
    session: Transaction,
    claimed: Claimed,
    request: KeyedRequest | null,
  ) => Promise<void>;
  /** Compares a repetition with the first request. */
  readonly again?: (session: Transaction, request: KeyedRequest) => Promise<void>;
}

/** Acts on a conversation under the operator's claim, once by the key, and records the act: everything or nothing. */
async function inClaim(
  desk: SpeakingDesk,
  { id, claimer, key }: InboxCall,
  asked: unknown,
  name: string,
  { reason, act, again }: InClaim,
): Promise<void> {
  const request = keyedRequest(claimer.operatorId, key, asked);
  await acting(
    actingAs(desk, claimer.operatorId),
    (part) =>
      inTransaction(part.database, async (session) => {
        const before = request === null ? 'new' : await takeRequest(session, request);
        if (before === 'other' || before === 'undone') throw spentKey(before);
        if (before !== 'new') {
          await again?.(session, request!);
          return false;
        }
        await act({ ...part, terms: desk.terms }, session, await claimed(session, id, claimer), request);
        return true;
      }),
    (isNew) => (isNew ? { act: name, applicationId: id, ...(reason !== undefined && { reason }) } : null),
  );
}

interface Claimed {
  readonly row: ConversationRow;
  readonly claim: StoredClaim;
  /** The operator had the claim before. */
  readonly wasHeld: boolean;
}

/** Takes the claim, and then locks the conversation, after any turn that is under way. */
async function claimed(session: Transaction, id: ApplicationId, claimer: Claimer): Promise<Claimed> {
  const [found, before] = [await conversationOf(session, id), await readInboxRow(session, id)];
  if (found === null) throw noConversation();
  const { isHeld, claim } = await takeConversation(session, id, claimer);
  if (!isHeld) {
    const { by, until } = claim;
    throw conflict('claimed', `${by.login} answers the person now`, { by, until: withOffset(until) });
  }
  const row = await lockConversation(session, found.id);
  if (row === null) throw noConversation();
  return { row, claim, wasHeld: before?.claim?.by.id === claimer.operatorId };
}

function noConversation(): Refusal {
  return new Refusal(404, 'there is no such conversation');
}

function notHeld(): Refusal {
  return conflict('not_held', 'the service speaks in it: hand it over first');
}
