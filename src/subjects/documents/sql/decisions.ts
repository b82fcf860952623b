/**
 * Writes into `documents` what becomes of a document: by what was read in it, and by operators (docs/documents.md,
 * "States and reasons").
 */
import type { DocumentId, DocumentReason, DocumentState } from '../../../domain/document/document.ts';
import type { Session } from '../../../ground/postgres/database.ts';

const READ = `
  UPDATE documents SET state = $2, reason = $3, reading = $4, reading_ms = reading_ms + $5, decided_at = now()
  WHERE id = $1 AND reason IS NULL`;

/**
 * Notes what was read in a document, how long it took, and what becomes of the document. Changes nothing if that is
 * noted already.
 */
export async function noteReading(
  session: Session,
  id: DocumentId,
  state: DocumentState,
  reason: DocumentReason,
  reading: Buffer | null,
  readingMs: number,
): Promise<void> {
  await session.query(READ, [id, state, reason, reading, Math.round(readingMs)]);
}

const DECIDE = `
  UPDATE documents SET state = $2, reason = $3, reading = coalesce($4, reading), decided_at = now()
  WHERE id = $1 AND ((state, reason) IS DISTINCT FROM ($2, $3) OR $4::bytea IS NOT NULL) RETURNING id`;

/** Writes an operator's decision; `reading` null: what was read stays. False if the same was decided before. */
export async function decideDocument(
  session: Session,
  id: DocumentId,
  state: DocumentState,
  reason: DocumentReason,
  reading: Buffer | null,
): Promise<boolean> {
  return (await session.query(DECIDE, [id, state, reason, reading])).rowCount === 1;
}
