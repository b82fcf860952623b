/** Keeps the document store and the rows in step: the jobs of the upkeep. */
import type { DocumentId } from '../../../domain/document/document.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { dueRemovals, endRemovals, noteMissing, noteOrphans, usedFiles } from '../sql/upkeep.ts';
import { type DocumentStore, KEY_PARTS, keyPart } from '../store/document-store.ts';

/** Files that are deleted side by side. */
const AT_ONCE = 8;

/** Deletes the files that no document has any more. Returns how many. Any number of processes may do this at once. */
export async function deleteFiles(database: Database, store: DocumentStore): Promise<number> {
  const due = await dueRemovals(database);
  if (due.length === 0) return 0;
  // A file that was found without its document may have got it meanwhile.
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
  /** Files without a document: they are deleted in an hour. */
  readonly orphans: number;
  /** Documents whose file is gone since the last look. */
  readonly missing: readonly DocumentId[];
}

/** Compares a part of the store (`KEY_PARTS` of them, from 0 on) with the documents. */
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
