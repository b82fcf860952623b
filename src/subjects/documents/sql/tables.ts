/** The tables of documents. */
import type { Table } from '../../../ground/postgres/table.ts';

/** What the secret of a file is sealed under: the name of the file, which no other row has. */
export function secretIdentity(fileKey: string): string {
  return `file ${fileKey}`;
}

/** The files themselves depend on the sealed secrets alone. */
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
  { name: 'document_removals', person: { not: 'random names of files that nobody can open any more' } },
  DOCUMENT_COUNTS,
];
