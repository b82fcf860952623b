/**
 * What operators do with conversations: list, show, hand over, give back, close, start, and write to the person
 * (docs/conversation.md, "What an operator does"). Each act runs in the transaction that records it.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { DEFAULT_FLOW } from '../../../domain/conversation/default-flow.ts';
import { flowWith } from '../../../domain/conversation/flow.ts';
import { isEnd, type Step } from '../../../domain/conversation/places.ts';
import type { StoredReplyFile } from '../../../domain/message/reply.ts';
import { effectiveBrand } from '../../../domain/partner/brand.ts';
import { readableText } from '../../../ground/base/plain-text.ts';
import { inTransaction, type Session } from '../../../ground/postgres/database.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { markConversations, noteWrongPerson } from '../../applications/sql/application-marks.ts';
import { addSentFile, MOST_SENT } from '../../documents/sql/sent-files.ts';
import {
  queueReplies,
  REPLY_BELL,
  repliesOf,
  type StoredReply,
  sealReply,
} from '../../messages/sql/replies.ts';
import { suppressedOf } from '../../messages/sql/suppressions.ts';
import { stepsBack } from '../rules/operator-acts.ts';
import { beginConversations, readCandidates } from '../sql/begin.ts';
import {
  type ConversationFilter,
  type ConversationRow,
  conversationOf,
  countAnswer,
  lockConversation,
  readConversations,
} from '../sql/conversations.ts';
import { isFlowVersion, readFlows } from '../sql/flows.ts';
import { inputsOf, openInput, type SealedInput } from '../sql/inputs.ts';
import { keyNow } from '../sql/key-now.ts';
import { type Unsayable, whyUnsayable, windowEnd } from './may-say.ts';
import { type SpeakingContext, tell } from './tell.ts';

export type { ConversationFilter, ConversationRow, SpeakingContext };

/** The conversations that fit every part of the filter, newest first. */
export function listConversations(
  { database }: OperatorContext,
  filter: ConversationFilter,
): AsyncGenerator<ConversationRow, void, undefined> {
  return readConversations(database, filter);
}

/** An input of a conversation, as operators see it. */
export interface ShownInput {
  readonly at: Date;
  readonly source: string;
  readonly turn: number | null;
  /** null: it cannot be read. */
  readonly content: SealedInput | null;
}

export interface ShownConversation {
  readonly row: ConversationRow;
  readonly inputs: readonly ShownInput[];
  readonly replies: readonly StoredReply[];
  readonly since: SinceBegin;
}

/** A conversation with what happened in it. Throws `OperatorError` if the application has none. */
export async function showConversation(
  context: OperatorContext,
  id: ApplicationId,
): Promise<ShownConversation> {
  const { database, vault } = context;
  const row = await requireConversation(context, id);
  const inputs: ShownInput[] = [];
  for (const input of await inputsOf(database, row.id)) {
    let content: SealedInput | null = null;
    try {
      content = openInput(vault, input);
    } catch {
      // This input is damaged, or this command lacks its key: the others are shown.
    }
    inputs.push({ at: input.at, source: input.source, turn: input.turn, content });
  }
  return { row, inputs, replies: await repliesOf(database, id), since: await sinceBegin(database, row) };
}

const REFUSED = {
  hand_over: ({ heldBy }: ConversationRow) => (heldBy === 'operator' ? 'an operator holds it already' : null),
  give_back: ({ heldBy }: ConversationRow) => (heldBy === 'service' ? 'the service holds it already' : null),
  close: ({ place }: ConversationRow) => (isEnd(place) ? `it has ended: ${place}` : null),
} as const;
export type OperatorAct = keyof typeof REFUSED;

/**
 * Hands a conversation over, gives it back or closes it. `step`: the step to which it is given back; absent: the one
 * where it stands. Throws `OperatorError` if that changes nothing, or if it cannot go back to the step.
 */
export async function actOn(
  context: SpeakingContext,
  id: ApplicationId,
  act: OperatorAct,
  step?: Step,
): Promise<ConversationRow> {
  const row = await requireConversation(context, id);
  return inTransaction(context.database, async (session) => {
    // Waits for a turn of the service that is under way.
    const locked = await lockConversation(session, row.id);
    const refused = locked === null ? 'it was erased' : REFUSED[act](locked);
    if (refused !== null) throw new OperatorError(`the conversation of application ${id}: ${refused}`);
    if (step !== undefined && !(await stepsToGiveBack(session, locked!)).includes(step))
      throw new OperatorError(`the conversation of application ${id} cannot go back to ${step}`);
    await tell(context, row, { kind: 'operator', act, ...(step !== undefined && { step }) });
    return requireConversation(context, id);
  });
}

/** The steps to which the conversation can be given back, the present one last; none: it has ended. */
export async function stepsToGiveBack(session: Session, row: ConversationRow): Promise<Step[]> {
  const flow = row.flowId === null ? undefined : (await readFlows(session, [row.flowId])).get(row.flowId);
  return stepsBack(flow ?? DEFAULT_FLOW, row.place);
}

/**
 * Gives a conversation back. If somebody without an open conversation said that the number is wrong, messages go out
 * again. `step`: where the service goes on; absent: where it stands. Returns the conversation; null: there is none.
 * Throws `OperatorError` if that changes nothing, or if it cannot go back to the step.
 */
export async function giveBack(
  context: SpeakingContext,
  id: ApplicationId,
  step?: Step,
): Promise<ConversationRow | null> {
  const { database } = context;
  const row = await conversationOf(database, id);
  const isOver = row === null || (isEnd(row.place) && row.heldBy === 'service');
  const [candidate] = isOver ? await readCandidates(database, [id]) : [];
  if (!candidate?.isWrongPerson || step !== undefined) return actOn(context, id, 'give_back', step);
  await noteWrongPerson(database, [id], false);
  return row;
}

/** Begins a conversation for an application that has no open one. Throws `OperatorError`. */
export async function startConversation(
  context: SpeakingContext,
  id: ApplicationId,
): Promise<ConversationRow> {
  const { database } = context;
  // The application is marked first. From then on a payment needs the signature (D46), and until this transaction ends
  // nobody can sign.
  await markConversations(database, [id]);
  const [candidate] = await readCandidates(database, [id]);
  if (candidate === undefined) throw new OperatorError(`application ${id} is not open, or has no phone`);
  if (!candidate.hasConsent) {
    throw new OperatorError(`the applicant of application ${id} has not given consent to be contacted`);
  }
  // A new conversation would hear a withdrawal without withdrawing the signature.
  if (candidate.isSigned) throw new OperatorError(`the contract of application ${id} is signed`);
  if (candidate.brand.conversation === false) {
    throw new OperatorError(`the brand of the key of application ${id} says "conversation": false`);
  }
  if ((await suppressedOf(database, [candidate.phoneIndex])).size > 0) {
    throw new OperatorError(`the phone of application ${id} wants no messages`);
  }
  // An operator who starts a conversation knows that the phone is the applicant's.
  await noteWrongPerson(database, [id], false);
  if ((await beginConversations(database, [candidate], true)).length === 0) {
    throw new OperatorError(`application ${id} has an open conversation already`);
  }
  await tell(context, await requireConversation(context, id), { kind: 'begin' });
  return requireConversation(context, id);
}

const UNSAID: Readonly<Record<Unsayable, (id: ApplicationId) => string>> = {
  opted_out: () => 'the person wants no messages',
  wrong_person: (id) =>
    `the person said that the number is wrong: where it is not, first run conversation give-back ${id}`,
  window_closed: () => 'the person wrote over 24 hours ago: the channel takes no free text until they write',
};

/** The longest text that an operator sends. */
const MAX_TEXT_LENGTH = 1_000;

/** A text as it is sent to a person. Throws `OperatorError` if it breaks the rule of such texts. */
export function textToSay(text: string): string {
  const said = readableText(text, MAX_TEXT_LENGTH, { hasLines: true });
  if (said !== null) return said;
  throw new OperatorError(
    `the text must have 1 to ${MAX_TEXT_LENGTH} characters, without control or hidden ones`,
  );
}

/** The text beside a file, which may be empty. Throws as `textToSay`. */
export function textBesideFile(text: string): string {
  return text.trim() === '' ? '' : textToSay(text);
}

/**
 * Sends an operator's text to the person, or a stored file with a text or none, in a conversation that an operator
 * holds. Throws `OperatorError` if the service holds it, if the phone is suppressed, if the channel's window is closed,
 * or if the application has too many files.
 */
export async function sayTo(
  context: OperatorContext,
  id: ApplicationId,
  text: string,
  file?: StoredReplyFile,
): Promise<ConversationRow> {
  const said = file === undefined ? textToSay(text) : textBesideFile(text);
  const { id: conversationId } = await requireConversation(context, id);
  await inTransaction(context.database, async (session) => {
    const row = await lockConversation(session, conversationId);
    if (row?.heldBy !== 'operator') {
      throw new OperatorError(
        `the service speaks with application ${id}: first run conversation hand-over ${id}`,
      );
    }
    const why = await whyUnsayable(session, row);
    if (why !== null) throw new OperatorError(UNSAID[why](id));
    if (file !== undefined && !(await addSentFile(session, file.key, id)))
      throw new OperatorError(`application ${id} has had ${MOST_SENT} files: no more are sent`);
    const windowUntil = windowEnd(row)!;
    const turn = await countAnswer(session, conversationId);
    const content = sealReply(
      context.vault,
      { applicationId: id, turn },
      { text: said, buttons: [], readMessageId: null, ...(file !== undefined && { file }) },
    );
    const { partnerId, phoneIndex } = row;
    await queueReplies(session, [{ applicationId: id, turn, partnerId, phoneIndex, content, windowUntil }]);
  });
  REPLY_BELL.ring();
  return requireConversation(context, id);
}

async function requireConversation(
  { database }: OperatorContext,
  id: ApplicationId,
): Promise<ConversationRow> {
  const row = await conversationOf(database, id);
  if (row === null) throw new OperatorError(`application ${id} has no conversation`);
  return row;
}

// The second part: what has changed since a conversation began, for operators. The conversation itself goes on as it
// began (D43).

interface SinceBegin {
  /** When the API key of the application was revoked; null: it is not revoked, or the application is gone. */
  readonly keyRevokedAt: Date | null;
  /**
   * A conversation that began now would have another flow or another name of the partner, or none would begin. Null:
   * nothing was said yet, or the application is gone.
   */
  readonly isBrandChanged: boolean | null;
}

/** Compares the present key and brand with what the conversation began with. */
async function sinceBegin(session: Session, row: ConversationRow): Promise<SinceBegin> {
  const key = await keyNow(session, row.applicationId);
  if (key === null) return { keyRevokedAt: null, isBrandChanged: null };
  const { revokedAt, brand, partnerName } = key;
  if (row.flowId === null) return { keyRevokedAt: revokedAt, isBrandChanged: null };
  const isSame =
    brand.conversation !== false &&
    effectiveBrand(brand, partnerName).partner === row.partnerName &&
    (await isFlowVersion(session, row.flowId, flowWith(DEFAULT_FLOW, brand.conversation || {})));
  return { keyRevokedAt: revokedAt, isBrandChanged: !isSame };
}
