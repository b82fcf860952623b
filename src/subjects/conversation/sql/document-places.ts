/**
 * Which messages the documents of an application came by, and what was read in them. Reads `documents`,
 * `document_inputs`, `conversation_inputs` and `conversation_work`; `rules/files.ts` numbers the files.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Purpose } from '../../../domain/conversation/state.ts';
import type { DocumentReason } from '../../../domain/document/document.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import type { ConversationId } from './conversations.ts';
import { INPUT_COLUMNS, type InputRow } from './inputs.ts';

const DOCUMENTS = `
  SELECT d.id, d.purpose, d.state <> 'rejected' AND d.reason IS NOT NULL AS "isUsable",
    ARRAY(SELECT m.input_index::text FROM document_inputs m WHERE m.document_id = d.id) AS messages
  FROM documents d WHERE d.application_id = $1 ORDER BY d.id`;

/** A document, and the indexes of the messages with its file. */
export interface PlacedDocument {
  readonly id: string;
  readonly purpose: Purpose;
  readonly isUsable: boolean;
  readonly messages: readonly string[];
}

/** The documents of an application, the oldest first. */
export async function placedDocuments(session: Session, id: ApplicationId): Promise<PlacedDocument[]> {
  return (await session.query<PlacedDocument>(DOCUMENTS, [id])).rows;
}

const REASONS = `
  SELECT m.input_index::text AS index, d.reason FROM document_inputs m JOIN documents d ON d.id = m.document_id
  WHERE m.input_index = ANY ($1::bigint[]) AND d.reason IS NOT NULL`;

/** The present reasons of the documents of these messages, by the index of the message. */
export async function reasonsOf(
  session: Session,
  indexes: readonly string[],
): Promise<ReadonlyMap<string, DocumentReason>> {
  if (indexes.length === 0) return new Map();
  const { rows } = await session.query<{ index: string; reason: DocumentReason }>(REASONS, [indexes]);
  return new Map(rows.map(({ index, reason }) => [index, reason]));
}

const READ_NOW = `
  SELECT ${INPUT_COLUMNS} FROM conversation_inputs WHERE id = ANY (ARRAY(
    SELECT w.input_id FROM conversation_work w WHERE w.conversation_id = $1 AND (w.work = 'read_document')))`;

/** The messages of a conversation whose files are being read. */
export async function messagesBeingRead(session: Session, id: ConversationId): Promise<InputRow[]> {
  return (await session.query<InputRow>(READ_NOW, [id])).rows;
}

const MESSAGES = `
  SELECT ${INPUT_COLUMNS} FROM conversation_inputs i
  WHERE i.conversation_id IN (SELECT c.id FROM conversations c WHERE c.application_id = $1) AND i.source = 'person'
  ORDER BY i.at, i.id`;

/** The messages of an application's person, in the order of sending. */
export async function messagesOfPerson(session: Session, id: ApplicationId): Promise<InputRow[]> {
  return (await session.query<InputRow>(MESSAGES, [id])).rows;
}
