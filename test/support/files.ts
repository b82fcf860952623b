/** What the file of an application has, put into the store by SQL: documents and checks of the income. */
import type { TestDatabase } from './database.ts';

export function fileOf({ database }: Pick<TestDatabase, 'database'>) {
  const addDocument = (id: number, state: string) =>
    database.query(
      `INSERT INTO documents (application_id, partner_id, purpose, state, reason, sha256)
       VALUES ($1, 1, 'earnings', $2, 'stored', decode(md5(random()::text), 'hex'))`,
      [id, state],
    );
  const addCheck = (id: number, outcome: string, observed: number | null, isAccepted = false) =>
    database.query(
      `INSERT INTO income_checks (application_id, digest, method, outcome, reason, observed, months, confidence, layouts,
         reader, rules, accepted_by, accepted_at)
       VALUES ($1, decode(md5(random()::text), 'hex'), 'documents', $2, 'confirmed', $3, 3, 1, '{}', 'x', '{}',
         CASE WHEN $4 THEN 'eva' END, CASE WHEN $4 THEN now() END)`,
      [id, outcome, observed, isAccepted],
    );
  return { addDocument, addCheck };
}
