/**
 * The statements of the upkeep for documents and their files: removals, orphans, missing files, and documents that are
 * too old (docs/documents.md, "The store"). Reads and writes `documents` and `document_removals`; reads `sent_files`.
 */
import type { DocumentId } from '../../../domain/document/document.ts';
import type { Database, Session } from '../../../ground/postgres/database.ts';

/** The most rows of one statement. */
const CHUNK = 500;

const DUE = `
  SELECT r.file_key FROM document_removals r WHERE r.due_ms <= (SELECT ms FROM elapsed) ORDER BY r.due_ms LIMIT ${CHUNK}`;

/** Files that are to be deleted now. */
export async function dueRemovals(session: Session): Promise<string[]> {
  return (await session.query<{ file_key: string }>(DUE)).rows.map(({ file_key }) => file_key);
}

const USED = `
  SELECT d.file_key FROM documents d WHERE d.file_key = ANY ($1::text[])
  UNION ALL SELECT f.file_key FROM sent_files f WHERE f.file_key = ANY ($1::text[])`;

/** Those of the files that belong to a document, or to a reply. */
export async function usedFiles(session: Session, keys: readonly string[]): Promise<Set<string>> {
  const { rows } = await session.query<{ file_key: string }>(USED, [keys]);
  return new Set(rows.map(({ file_key }) => file_key));
}

const REMOVED = 'DELETE FROM document_removals r WHERE r.file_key = ANY ($1::text[])';

/** Forgets removals that are done, or no longer needed. */
export async function endRemovals(session: Session, keys: readonly string[]): Promise<void> {
  await session.query(REMOVED, [keys]);
}

const ORPHANS = `
  INSERT INTO document_removals (file_key, due_ms)
  SELECT u.key, elapsed_ms() + ms_of(interval '1 hour') FROM unnest($1::text[]) AS u(key)
  WHERE NOT EXISTS (SELECT FROM documents d WHERE d.file_key = u.key)
    AND NOT EXISTS (SELECT FROM sent_files f WHERE f.file_key = u.key) ORDER BY u.key
  ON CONFLICT (file_key) DO NOTHING RETURNING file_key`;

/**
 * Notes those of the files that belong to no document and no reply. They are deleted in an hour, unless something that
 * is being stored now has them by then. Returns how many there are.
 */
export async function noteOrphans(session: Session, keys: readonly string[]): Promise<number> {
  return (await session.query(ORPHANS, [keys])).rowCount ?? 0;
}

const OF_PART = "file_key >= $1 AND file_key < $2 AND received_at < now() - interval '1 hour'";
const BACK = `
  UPDATE documents SET missing_at = NULL
  WHERE ${OF_PART} AND missing_at IS NOT NULL AND file_key = ANY ($3::text[])`;
const MISSING = `
  UPDATE documents SET missing_at = now()
  WHERE ${OF_PART} AND missing_at IS NULL AND file_key <> ALL ($3::text[]) RETURNING id::float8`;

/**
 * Notes which documents with keys from `from` to before `before` have no file among these, and which have theirs again.
 * Returns the documents that have lost their file since the last look.
 */
export async function noteMissing(
  session: Session,
  from: string,
  before: string,
  stored: readonly string[],
): Promise<DocumentId[]> {
  const values = [from, before, stored];
  await session.query(BACK, values);
  return (await session.query<{ id: DocumentId }>(MISSING, values)).rows.map(({ id }) => id);
}

const KEYS = `
  SELECT d.file_key FROM documents d WHERE d.file_key >= $1 AND d.file_key < $2 AND d.missing_at IS NULL
  UNION ALL SELECT f.file_key FROM sent_files f WHERE f.file_key >= $1 AND f.file_key < $2`;

/** The files of documents and replies with keys from `from` to before `before`, without documents that are missing. */
export async function fileKeys(session: Session, from: string, before: string): Promise<string[]> {
  const { rows } = await session.query<{ file_key: string }>(KEYS, [from, before]);
  return rows.map(({ file_key }) => file_key);
}

const OLD = `
  SELECT delete_documents(ARRAY(
    SELECT d.id FROM documents d
    WHERE d.received_ms <= elapsed_ms() - ms_of($1 * interval '1 day') AND d.received_at <= now() - $1 * interval '1 day'
    ORDER BY d.received_ms LIMIT ${CHUNK})) AS deleted`;

/** Deletes documents that are older than `days`, by the clock and by the elapsed time (D39). */
export async function deleteOldDocuments(database: Database, days: number): Promise<number> {
  let deleted = 0;
  for (;;) {
    const { rows } = await database.query<{ deleted: string }>(OLD, [days]);
    const done = Number(rows[0]?.deleted ?? 0);
    deleted += done;
    if (done < CHUNK) return deleted;
  }
}
