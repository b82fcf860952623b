/** Which files of documents lie in the document store, for the backup (docs/backup.md). */
import type { Session } from '../../ground/postgres/database.ts';
import type { StoredFiles } from '../../program/subject/subject.ts';
import { openStore } from './open.ts';
import { fileKeys } from './sql/upkeep.ts';
import { type FileKind, KEY_PARTS, keyPart, storedLately } from './store/document-store.ts';

/** The files of a kind; `keysOf` finds those of rows whose keys lie between two texts. */
export function filesOf(
  kind: FileKind,
  keysOf: (session: Session, from: string, before: string) => Promise<string[]>,
): StoredFiles {
  return {
    parts: Array.from({ length: KEY_PARTS }, (_, part) => keyPart(kind, part)),
    // Keys end with hex digits, which come before a tilde.
    keysOf: (session, part) => keysOf(session, part, `${part}~`),
    storedLately: () => storedLately(kind),
    open: openStore,
  };
}

export const DOCUMENT_FILES: StoredFiles = filesOf('document', fileKeys);
