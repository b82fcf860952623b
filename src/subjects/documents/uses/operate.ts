/**
 * What operators do with documents: list, show, accept, reject (docs/documents.md). Reads and writes `documents`, and
 * reads the document store.
 */
import type { DocumentId, DocumentState } from '../../../domain/document/document.ts';
import {
  checkReason,
  type OperatorContext,
  OperatorError,
} from '../../../program/operations/operator-context.ts';
import type { Finding } from '../rules/layout.ts';
import { decideDocument } from '../sql/decisions.ts';
import {
  type DocumentFilter,
  listDocuments,
  readDocument,
  type SealedDocument,
  type StoredDocument,
} from '../sql/documents.ts';
import type { DocumentStore } from '../store/document-store.ts';
import { type OpenedDocument, openDocument, type Reading } from './document-file.ts';

export type { DocumentFilter, DocumentId, StoredDocument };
export { listDocuments };

/** Months and amounts that an operator read in a document. */
export type StatedMonths = Pick<Finding, 'currency' | 'months'>;

/** A document with its opened parts; null if it has no file. */
export interface ShownDocument {
  readonly document: StoredDocument;
  readonly opened: OpenedDocument | null;
}

/** A file is not there, or does not open. The message says why. */
export class UnopenedFile extends OperatorError {
  readonly why: 'no_file' | 'file_missing' | 'file_damaged';

  constructor(why: UnopenedFile['why'], message: string) {
    super(message);
    this.why = why;
  }
}

/** A document. Throws `OperatorError` if there is none, and `UnopenedFile` if its sealed parts do not open. */
export async function showDocument(
  { database, vault }: OperatorContext,
  store: DocumentStore,
  id: DocumentId,
): Promise<ShownDocument> {
  const document = await find({ database }, id);
  try {
    return { document, opened: openDocument({ vault, store }, document) };
  } catch {
    throw new UnopenedFile(
      'file_damaged',
      `what is sealed of document ${id} does not open: it is damaged, or DATA_KEYS of this command lack its key`,
    );
  }
}

/** The bytes of a document's file. Throws `UnopenedFile` if there is none, or if it does not open. */
export async function fileOf({ document, opened }: ShownDocument): Promise<Buffer> {
  const { id } = document;
  if (opened === null)
    throw new UnopenedFile('no_file', `document ${id} has no file: it was refused before it was stored`);
  let bytes: Buffer | undefined;
  try {
    bytes = await opened.file();
  } catch {
    throw new UnopenedFile(
      'file_damaged',
      `the file of document ${id} does not open: it is cut off or changed`,
    );
  }
  if (bytes === undefined)
    throw new UnopenedFile('file_missing', `the file of document ${id} is missing in the store`);
  return bytes;
}

/** The state of a document before and after a decision. */
export interface Decided {
  readonly document: StoredDocument;
  readonly from: DocumentState;
  readonly to: DocumentState;
}

/**
 * Accepts a document, whatever was read in it. Its months then count as an operator's. `stated` takes the place of the
 * months that were read. Throws `OperatorError` if there is no such document, or if it has no file.
 */
export async function acceptDocument(
  context: OperatorContext,
  store: DocumentStore,
  id: DocumentId,
  { reason, stated }: { readonly reason: string; readonly stated: StatedMonths | null },
): Promise<Decided> {
  checkReason(reason);
  const { document, opened } = await showDocument(context, store, id);
  if (opened === null) {
    throw new OperatorError(`document ${id} has no file: ask the applicant to send it again`);
  }
  const reading = stated === null ? null : opened.sealReading(withStated(opened.reading, stated));
  const changed = await decideDocument(context.database, id, 'accepted', 'accepted_by_operator', reading);
  if (!changed && reading === null) throw new OperatorError(`document ${id} is accepted already`);
  return { document, from: document.state, to: 'accepted' };
}

const NOT_READ: Reading = {
  method: null,
  pages: 0,
  finding: null,
  holder: 'unknown',
  reader: 'operator',
};

function withStated(reading: Reading | null, stated: StatedMonths): Reading {
  return { ...(reading ?? NOT_READ), stated };
}

/**
 * Rejects a document, so that it counts for nothing. Throws `OperatorError` if there is none, or if it is rejected
 * already.
 */
export async function rejectDocument(
  context: OperatorContext,
  id: DocumentId,
  reason: string,
): Promise<Decided> {
  checkReason(reason);
  const document = await find(context, id);
  const changed = await decideDocument(context.database, id, 'rejected', 'rejected_by_operator', null);
  if (!changed) throw new OperatorError(`document ${id} is rejected already`);
  return { document, from: document.state, to: 'rejected' };
}

async function find(
  { database }: Pick<OperatorContext, 'database'>,
  id: DocumentId,
): Promise<SealedDocument> {
  const document = await readDocument(database, id);
  if (document === null) throw new OperatorError(`there is no document ${id}`);
  return document;
}
