/**
 * Reveals the file of a document to an operator who gave a reason (docs/operators.md, "One application"). Records the
 * reading first; then opens the file in the document store, and reads the text of a PDF.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { toDocumentId } from '../../../domain/document/document.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { REVEAL } from '../../../program/operations/sql/operator-events.ts';
import { readDocument, type StoredDocument } from '../../documents/sql/documents.ts';
import { type DocumentText, type ShownFiles, textOf } from '../../documents/uses/document-text.ts';
import { fileOf, showDocument, UnopenedFile } from '../../documents/uses/operate.ts';
import { MOST_SHOWN_BYTES } from '../rules/queue.ts';
import type { KeyedRequest } from '../sql/desk-requests.ts';
import { noteReveal } from './note-reveal.ts';
import { conflict, Refusal } from './refusal.ts';

/** What the browser gets. The type is the one that the content has, not the one that the channel claimed. */
export interface ShownFile {
  readonly contentType: string;
  readonly bytes: Buffer;
  /** The text as `textOf` returns it. */
  readonly text: DocumentText | null;
}

/**
 * Records the reading and its reason, and then opens the file. Throws a `Refusal` if the application has no such
 * document, if the document has no file that can be shown, or if the operator has revealed too many: then nothing was
 * opened.
 */
export async function revealFile(
  context: OperatorContext,
  { store, readText }: ShownFiles,
  {
    applicationId,
    document: given,
    reason,
    request,
  }: { applicationId: ApplicationId; document: number; reason: string; request: KeyedRequest | null },
): Promise<ShownFile> {
  const id = toDocumentId(given);
  const document = await readDocument(context.database, id);
  if (document?.applicationId !== applicationId) throw noDocument();
  const contentType = requireFile(document);
  await noteReveal(context, { act: REVEAL, target: `document ${id}`, applicationId, reason }, request);
  try {
    const shown = await showDocument(context, store, id);
    const bytes = await fileOf(shown);
    return { contentType, bytes, text: await textOf(readText, shown, bytes) };
  } catch (error) {
    if (error instanceof UnopenedFile) throw conflict(error.why, error.message);
    // The person was erased meanwhile.
    throw error instanceof OperatorError ? noDocument() : error;
  }
}

/** The refusal if the application has no document with the number of the request. */
export function noDocument(): Refusal {
  return new Refusal(404, 'the application has no such document');
}

function requireFile({ id, contentType, bytes, missingAt }: StoredDocument): string {
  if (contentType === null || bytes === null)
    throw conflict('no_file', `document ${id} has no file: it was refused before it was stored`);
  if (missingAt !== null)
    throw conflict('file_missing', `the file of document ${id} is missing in the store`);
  if (bytes > MOST_SHOWN_BYTES) {
    throw conflict(
      'file_too_large',
      `the file of document ${id} has over ${MOST_SHOWN_BYTES} bytes: ventanilla document show ${id} --output writes it`,
    );
  }
  return contentType;
}
