/** The file of a document, for an operator who said why. */
import type { ApplicationId } from '../../applications/rules/ids.ts';
import { readDocument, type StoredDocument, toDocumentId } from '../../documents/sql/documents.ts';
import type { DocumentStore } from '../../documents/store/document-store.ts';
import { fileOf, showDocument } from '../../documents/uses/operate.ts';
import { type OperatorContext, OperatorError } from '../../operations/operator-context.ts';
import { REVEAL } from '../../operations/sql/operator-events.ts';
import { MOST_SHOWN_BYTES } from '../rules/bounds.ts';
import { noteReveal } from './note-reveal.ts';
import { Refusal } from './refusal.ts';

/** What the browser gets: the type is what the content was found to be, and not what the channel claimed. */
export interface ShownFile {
  readonly contentType: string;
  readonly bytes: Buffer;
}

/**
 * Records the reading and its reason, and then opens the file. Throws a `Refusal` where the application has no such
 * document, the document has no file that can be shown, or the operator has revealed too many: then nothing was opened.
 */
export async function revealFile(
  context: OperatorContext,
  store: DocumentStore,
  {
    applicationId,
    document: given,
    reason,
  }: { applicationId: ApplicationId; document: number; reason: string },
): Promise<ShownFile> {
  const id = toDocumentId(given);
  const document = await readDocument(context.database, id);
  if (document?.applicationId !== applicationId) throw noDocument();
  const contentType = requireFile(document);
  await noteReveal(context, { act: REVEAL, target: `document ${id}`, applicationId, reason });
  try {
    return { contentType, bytes: await fileOf(await showDocument(context, store, id)) };
  } catch (error) {
    throw error instanceof OperatorError ? new Refusal(409, error.message) : error;
  }
}

/** The application has no document with the number of the request. */
export function noDocument(): Refusal {
  return new Refusal(404, 'the application has no such document');
}

function requireFile({ id, contentType, bytes, missingAt }: StoredDocument): string {
  if (contentType === null || bytes === null)
    throw new Refusal(409, `document ${id} has no file: it was refused before it was stored`);
  if (missingAt !== null) throw new Refusal(409, `the file of document ${id} is missing in the store`);
  if (bytes > MOST_SHOWN_BYTES) {
    throw new Refusal(
      409,
      `the file of document ${id} has over ${MOST_SHOWN_BYTES} bytes: ventanilla document show ${id} --output writes it`,
    );
  }
  return contentType;
}
