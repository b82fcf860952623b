/** The tables of documents: what is kept, sealed and deleted, and when (docs/documents.md, "The store"). */
import type { Table } from '../../../ground/postgres/table.ts';

/** The identity that the secret of a file is sealed under: the name of the file, which no other row has. */
export function secretIdentity(fileKey: string): string {
  return `file ${fileKey}`;
}

/** Only the secrets are sealed by a data key. The files are sealed by these secrets. */
export const DOCUMENTS = {
  name: 'documents',
  person: 'application',
  sealed: {
    column: 'sealed_secret',
    kind: 'documents',
    id: 'id',
    under: ['file_key'],
    identity: secretIdentity,
  },
} satisfies Table;

export const DOCUMENT_COUNTS = {
  name: 'document_counts',
  person: { not: 'numbers by state' },
  fold: { job: 'fold document counts', key: ['state'], sums: ['documents', 'bytes'] },
} satisfies Table;

export const TABLES: readonly Table[] = [
  DOCUMENTS,
  { name: 'document_inputs', person: 'application', indexes: [{ column: 'input_index', isUnique: true }] },
  { name: 'sent_files', person: 'application' },
  { name: 'document_removals', person: { not: 'random names of files that nobody can open any more' } },
  DOCUMENT_COUNTS,
];
