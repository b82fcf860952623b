/**
 * What the commands of documents share: the document store of the variables, and the argument that names a document.
 */
import { type DocumentId, toDocumentId } from '../../../domain/document/document.ts';
import { S3_VARIABLES, s3AccountOf } from '../../../ground/places/s3-account.ts';
import { type Cli, readPositive } from '../../../program/cli/command.ts';
import { DOCUMENT_STORE } from '../settings.ts';
import { type DocumentStore, openDocumentStore } from '../store/document-store.ts';

/** The document store of the variables. Throws `DocumentStoreError` if its setting is wrong. */
export async function storeOf({ roles, clock }: Pick<Cli, 'roles' | 'clock'>): Promise<DocumentStore> {
  const account = new Map<string, string | undefined>();
  for (const variable of S3_VARIABLES) {
    account.set(variable, await roles.setting({ variable, read: (text) => text }));
  }
  return openDocumentStore(
    await roles.setting(DOCUMENT_STORE),
    s3AccountOf((variable) => account.get(variable)),
    clock,
  );
}

/** Reads the id of a document. */
export function readDocumentId(text: string): DocumentId {
  return toDocumentId(readPositive(text));
}
