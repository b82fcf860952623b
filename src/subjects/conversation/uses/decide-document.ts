/**
 * Lets operators accept and reject documents, and tells the open conversation about it (D43; docs/conversation.md,
 * "Documents"). The documents' own use writes the decision.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Purpose } from '../../../domain/conversation/state.ts';
import type { DocumentState } from '../../../domain/document/document.ts';
import { inTransaction, type Session } from '../../../ground/postgres/database.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { readDocument } from '../../documents/sql/documents.ts';
import { debtsOf } from '../../documents/uses/document-file.ts';
import * as documents from '../../documents/uses/operate.ts';
import { putDebts, takeOffDebts } from '../../signing/uses/debts.ts';
import { fileNumber, isReadable } from '../rules/files.ts';
import { type ConversationId, conversationOf, lockConversation } from '../sql/conversations.ts';
import {
  messagesBeingRead,
  messagesOfPerson,
  type PlacedDocument,
  placedDocuments,
} from '../sql/document-places.ts';
import { type InputRow, openInput, waitingInputs } from '../sql/inputs.ts';
import { type SpeakingContext, tell } from './tell.ts';
import { documentIndexOf } from './work.ts';

export type { Decided, DocumentId, StatedMonths } from '../../documents/uses/operate.ts';

/** The parameters after the context. */
type Tail<Use> = Use extends (context: never, ...rest: infer Rest) => unknown ? Rest : never;

/**
 * Accepts a document in the caller's transaction, and adds the debts that were read in it to the list (D52). Throws
 * `OperatorError` as the use of the documents does, and if the list cannot take these debts.
 */
export async function acceptDocument(
  context: SpeakingContext,
  ...given: Tail<typeof documents.acceptDocument>
): Promise<documents.Decided> {
  const decided = await documents.acceptDocument(context, ...given);
  await tellOf(context, decided);
  if (decided.document.purpose === 'debts' && decided.from !== 'accepted')
    await listDebtsOf(context, decided.document);
  return decided;
}

/**
 * Rejects a document in the caller's transaction, and takes its debts off the list (D52). Throws `OperatorError` as the
 * use of the documents does.
 */
export async function rejectDocument(
  context: SpeakingContext,
  ...given: Tail<typeof documents.rejectDocument>
): Promise<documents.Decided> {
  const decided = await documents.rejectDocument(context, ...given);
  await tellOf(context, decided);
  const { id, applicationId, purpose } = decided.document;
  if (purpose === 'debts') await takeOffDebts(context, applicationId, id);
  return decided;
}

// The conversation was locked before, in `tellOf`: a turn locks it before the debts too.
async function listDebtsOf(
  { database, vault, actor }: OperatorContext,
  { id, applicationId }: documents.Decided['document'],
): Promise<void> {
  const put = await inTransaction(database, (session) => {
    const read = async () => {
      const document = await readDocument(session, id);
      return document && debtsOf(vault, document);
    };
    return putDebts(session, vault, applicationId, { read, by: actor });
  });
  if (put.kind !== 'refused') return;
  const { field, rule } = put.fault;
  throw new OperatorError(
    `the list cannot take the debts of document ${id}: ${field} ${rule}; run document reject ${id}, and debt add for each`,
  );
}

/**
 * What an operator has to know after a rejection: the income has to be checked again, or the contract is signed. Null:
 * nothing.
 */
export async function leftAfterRejection(
  { database }: Pick<OperatorContext, 'database'>,
  id: ApplicationId,
): Promise<'income' | 'signed' | null> {
  const row = await conversationOf(database, id);
  if (row?.place === 'signed') return 'signed';
  return row?.heldBy === 'operator' && row.state?.income === 'operator' ? 'income' : null;
}

/** Tells the open conversation of the application if the document has become usable, or is no longer usable. */
async function tellOf(context: SpeakingContext, { document, from, to }: documents.Decided): Promise<void> {
  const { id, applicationId, purpose, reason } = document;
  // If the file is still being read, the conversation hears of it at the end of that reading.
  if (isUsable(from) === isUsable(to) || reason === null) return;
  const found = await conversationOf(context.database, applicationId);
  if (found === null) return;
  await inTransaction(context.database, async (session) => {
    // Waits for a turn of the service that is under way.
    const row = await lockConversation(session, found.id);
    if (row === null || row.endedAt !== null) return;
    const all = await placedDocuments(session, applicationId);
    const unheard = await unheardMessages(session, context, row.id);
    const isHeard = ({ messages }: PlacedDocument) =>
      messages.length === 0 || messages.some((index) => !unheard.has(index));
    // The turn that takes the reading will see the decision.
    if (all.some((one) => one.id === `${id}` && !isHeard(one))) return;
    const number = fileNumber(`${id}`, all, await filesOf(session, context, applicationId, all));
    const usableOf = (one: Purpose) =>
      all.filter((some) => some.isUsable && some.purpose === one && isHeard(some)).length;
    const usable = { earnings: usableOf('earnings'), debts: usableOf('debts') };
    await tell(context, row, { kind: 'document_decided', purpose, isUsable: isUsable(to), number, usable });
  });
}

/**
 * The indexes of the messages whose files the conversation has not heard of, because they are being read or were read
 * just now.
 */
async function unheardMessages(
  session: Session,
  { vault }: OperatorContext,
  id: ConversationId,
): Promise<ReadonlySet<string>> {
  // The order matters: if the reading ends between the two statements, its result is among the waiting inputs.
  const beingRead = await messagesBeingRead(session, id);
  const waiting = await waitingInputs(session, [id]);
  const indexOf = (row: InputRow): string | undefined => {
    try {
      return openInput(vault, row).documentIndex;
    } catch {
      return undefined;
    }
  };
  const ends = waiting.filter(({ source }) => source === 'work').flatMap((row) => indexOf(row) ?? []);
  return new Set([...beingRead.map((row) => documentIndexOf(vault, row)), ...ends]);
}

/** The indexes of the person's messages with files. A message that does not open counts if a document came by it. */
async function filesOf(
  session: Session,
  { vault }: OperatorContext,
  applicationId: ApplicationId,
  documents: readonly PlacedDocument[],
): Promise<string[]> {
  const known = new Set(documents.flatMap(({ messages }) => messages));
  const isFile = (row: InputRow): boolean => {
    if (known.has(documentIndexOf(vault, row))) return true;
    try {
      const content = openInput(vault, row);
      return content.kind === 'file' && !content.isOfOtherPhone && isReadable(content.media);
    } catch {
      return false;
    }
  };
  const messages = await messagesOfPerson(session, applicationId);
  return messages.filter(isFile).map((row) => documentIndexOf(vault, row));
}

function isUsable(state: DocumentState): boolean {
  return state !== 'rejected';
}
