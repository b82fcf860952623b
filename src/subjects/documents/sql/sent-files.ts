/**
 * The files of the document store that operators send to applicants, as rows of `sent_files`. What opens a file lies in
 * its reply alone (docs/documents.md, "Files to applicants").
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Database, Transaction } from '../../../ground/postgres/database.ts';

/** The most files to the applicant of one application. */
export const MOST_SENT = 60;

const ADD = `
  INSERT INTO sent_files (file_key, application_id) SELECT $1, $2::bigint
  WHERE (SELECT count(*) FROM sent_files f WHERE f.application_id = $2::bigint) < ${MOST_SENT} RETURNING file_key`;

/** Stores that a file belongs to an application. False: the application has too many. */
export async function addSentFile(session: Transaction, key: string, id: ApplicationId): Promise<boolean> {
  return (await session.query(ADD, [key, id])).rows.length === 1;
}

const forget = (which: string) => `
  WITH gone AS (DELETE FROM sent_files f WHERE ${which} RETURNING f.file_key)
  INSERT INTO document_removals (file_key, due_ms)
  SELECT g.file_key, elapsed_ms() FROM gone g ORDER BY g.file_key ON CONFLICT (file_key) DO NOTHING`;

const OF_APPLICATIONS = forget('f.application_id = ANY ($1::bigint[])');

/** Lets go of the files of these applications: the upkeep deletes them. */
export async function eraseSentFiles(session: Transaction, ids: readonly ApplicationId[]): Promise<void> {
  await session.query(OF_APPLICATIONS, [ids]);
}

const CHUNK = 500;
const OLD = forget(`f.file_key IN (
    SELECT o.file_key FROM sent_files o
    WHERE o.sent_ms <= elapsed_ms() - ms_of($1 * interval '1 day') AND o.sent_at <= now() - $1 * interval '1 day'
    ORDER BY o.sent_ms LIMIT ${CHUNK})`);

/** Lets go of files that are older than `days`, by the clock and by the elapsed time (D39). */
export async function forgetOldSentFiles(database: Database, days: number): Promise<void> {
  for (;;) if (((await database.query(OLD, [days])).rowCount ?? 0) < CHUNK) return;
}
