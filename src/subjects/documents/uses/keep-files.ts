/**
 * Keeps the document store and the rows in step, for the upkeep: deletes files without a row, and notes rows without a
 * file (docs/documents.md, "The store").
 */
import type { DocumentId } from '../../../domain/document/document.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { dueRemovals, endRemovals, noteMissing, noteOrphans, usedFiles } from '../sql/upkeep.ts';
import { type DocumentStore, KEY_PARTS, keyPart } from '../store/document-store.ts';

/** Files that are deleted side by side. */
const AT_ONCE = 8;

/**
 * Deletes the files that belong to no document any more. Returns how many. Any number of processes may do this at once.
 */
export async function deleteFiles(database: Database, store: DocumentStore): Promise<number> {
  const due = await dueRemovals(database);
  if (due.length === 0) return 0;
  // A file that was noted as an orphan may have got its document since.
  const used = await usedFiles(database, due);
  const gone = due.filter((key) => !used.has(key));
  for (let start = 0; start < gone.length; start += AT_ONCE) {
    await Promise.all(gone.slice(start, start + AT_ONCE).map((key) => store.delete(key)));
  }
  await endRemovals(database, due);
  return gone.length;
}

/** What a look at a part of the store found. */
export interface StoreLook {
  /** Files without a document. They are deleted in an hour. */
  readonly orphans: number;
  /** Documents that have lost their file since the last look. */
  readonly missing: readonly DocumentId[];
}

/** Compares part number `part` of the store, from 0 to before `KEY_PARTS`, with the documents. */
export async function lookAtFiles(
  database: Database,
  store: DocumentStore,
  part: number,
): Promise<StoreLook> {
  const prefix = keyPart('document', part % KEY_PARTS);
  const stored = await store.list(prefix);
  const orphans = stored.length === 0 ? 0 : await noteOrphans(database, stored);
  // Keys end with hex digits, which come before a tilde.
  return { orphans, missing: await noteMissing(database, prefix, `${prefix}~`, stored) };
}
