/** Which PDFs of contracts lie in the document store, for the backup (docs/backup.md). */
import type { StoredFiles } from '../../program/subject/subject.ts';
import { filesOf } from '../documents/files.ts';
import { contractKeys } from './sql/contract-files.ts';

export const CONTRACT_FILES: StoredFiles = filesOf('contract', contractKeys);
