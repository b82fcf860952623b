/** Deletes the documents of applications, for an erasure (docs/subject.md, "Erase"). Calls `delete_documents`. */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';

const ERASE = `
  SELECT delete_documents(ARRAY(SELECT d.id FROM documents d WHERE d.application_id = ANY ($1::bigint[]) ORDER BY d.id))`;

/**
 * Deletes the documents of these applications. After the commit nobody can open their files, which the upkeep deletes
 * within a minute.
 */
export async function eraseDocuments(session: Transaction, ids: readonly ApplicationId[]): Promise<void> {
  await session.query(ERASE, [ids]);
}
